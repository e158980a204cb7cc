// Keeps a thread's stock of ephemeral keys full, between other work.
#pragma once

#include "proxy/carrier/net.hpp"
#include "proxy/protocol/key_stock.hpp"

namespace culvert::relay {

// Used on the thread of its executor only. Made keys wait in memory that is wiped with the maker.
class key_maker {
  public:
    explicit key_maker(const carrier::executor& ex) : pause_(ex) {}
    key_maker(const key_maker&) = delete;
    key_maker& operator=(const key_maker&) = delete;

    // For a handshake that begins now; what it takes is made good a little later.
    [[nodiscard]] protocol::key_stock* stock();

  private:
    void make_later();

    protocol::key_stock stock_;
    carrier::timer pause_;
    bool making_ = false;
};

}  // namespace culvert::relay
