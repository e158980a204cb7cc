// Ends a connection in the making before its time: nobody wants it any more.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <functional>

namespace culvert::relay {

// Held by the session for which something is waited for; given to the deadlines of those who wait.
// All on one thread.
class cancellation {
  public:
    // How often `gone` is asked.
    static constexpr std::chrono::milliseconds interval{200};

    cancellation() = default;
    // `gone` tells, without waiting, that whoever the connection is for has left. Whoever may want
    // to request() finds it at `place` for as long as it is there.
    cancellation(std::function<bool()> gone, cancellation*& place)
        : gone_(std::move(gone)), place_(&place) {
        place = this;
    }
    cancellation(const cancellation&) = delete;
    cancellation& operator=(const cancellation&) = delete;
    ~cancellation() {
        if (place_ != nullptr) *place_ = nullptr;
    }

    // Ends what waits under it, now and later.
    void request() {
        requested_ = true;
        for (waiter& one : waiting_) one.cancelled();
    }
    [[nodiscard]] bool requested() const noexcept { return requested_; }

    // Asks whether somebody is there still; true when it is over.
    bool look() {
        if (!requested_ && gone_ && gone_()) request();
        return requested_;
    }
    [[nodiscard]] bool looks() const noexcept { return static_cast<bool>(gone_); }

    // Leaves the list by itself when it ends.
    class waiter : public boost::intrusive::list_base_hook<
                       boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
      public:
        virtual void cancelled() = 0;

      protected:
        ~waiter() = default;
    };
    void add(waiter& one) { waiting_.push_back(one); }

  private:
    std::function<bool()> gone_;
    cancellation** place_ = nullptr;
    boost::intrusive::list<waiter, boost::intrusive::constant_time_size<false>> waiting_;
    bool requested_ = false;
};

}  // namespace culvert::relay
