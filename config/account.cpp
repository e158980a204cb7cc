#include "config/account.hpp"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <cstring>

#include "config/quote.hpp"

namespace culvert::config {
namespace {

// `what` is a user or a group. errno says whether the name is unknown or could not be looked up.
reason not_found(const char* what, const std::string& name) {
    const std::string shown = std::string(what) + " " + quote(name);
    const int why = errno;
    if (why == 0 || why == ENOENT || why == ESRCH) return {"this system has no " + shown};
    return {"the " + shown + " can't be looked up: " + std::strerror(why)};
}

}  // namespace

result<account> find_user(const std::string& name) {
    errno = 0;
    const passwd* const found = ::getpwnam(name.c_str());
    if (found == nullptr) return not_found("user", name);
    if (found->pw_uid == 0) return reason{quote(name) + " is root: name a user with fewer rights"};
    return account{name, found->pw_uid, found->pw_gid};
}

result<std::uint32_t> find_group(const std::string& name) {
    errno = 0;
    const group* const found = ::getgrnam(name.c_str());
    if (found == nullptr) return not_found("group", name);
    return found->gr_gid;
}

}  // namespace culvert::config
