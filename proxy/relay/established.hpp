// A connection to the other end on which records may flow.
#pragma once

#include <memory>
#include <string>

#include "proxy/protocol/opener.hpp"
#include "proxy/relay/record_writer.hpp"

namespace culvert::relay {

struct established {
    std::unique_ptr<record_writer> writer;
    protocol::opener opener;
    std::string leftover;  // bytes of the record stream that have come already
};

}  // namespace culvert::relay
