// Which system calls are left to this process: those that a running relay makes.
#pragma once

namespace culvert::daemon {

struct allowed_calls {
    bool unlink = false;  // files may be removed: unix sockets that we listen on
    bool listen = false;  // a reload may have new places to listen on
};

// From now on, in every thread there is and will be, a call that the relay has no use for ends the
// process at once: executing programs, making processes, tracing, opening files for writing, memory
// that is writable and executable, and all that is not thought of. A few that libraries
// only try fail instead. no_new_privs must be set. Returns false, with nothing changed, where the
// kernel has no seccomp filters; throws std::runtime_error when there is another reason.
bool allow_only_relay_calls(const allowed_calls& more);

}  // namespace culvert::daemon
