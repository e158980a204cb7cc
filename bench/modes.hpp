// What the connections of a run do. Each function starts one thread's share of it.
#pragma once

#include "bench/worker.hpp"

namespace culvert::load {

// Streams as fast as they go.
void start_bulk(worker& on);
// Requests and answers; their time is what counts.
void start_latency(worker& on);
// Connect, one request, one answer, close, again; counts the time from connect to first byte.
void start_churn(worker& on);
// Opens connections, asks one thing of each, holds them, and asks again.
void start_idle(worker& on);

// The one that the plan names.
void start_mode(worker& on);

}  // namespace culvert::load
