#include "config/account.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
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

result<const passwd*> look_up(const std::string& name) {
    errno = 0;
    const passwd* const found = ::getpwnam(name.c_str());
    if (found == nullptr) return not_found("user", name);
    return found;
}

}  // namespace

result<account> find_user(const std::string& name) {
    const result<const passwd*> known = look_up(name);
    if (!known) return known.error();
    const passwd* const found = *known;
    if (found->pw_uid == 0) return reason{quote(name) + " is root: name a user with fewer rights"};
    return account{name, found->pw_uid, found->pw_gid};
}

result<std::uint32_t> find_group(const std::string& name) {
    errno = 0;
    const group* const found = ::getgrnam(name.c_str());
    if (found == nullptr) return not_found("group", name);
    return found->gr_gid;
}

result<socket_access> find_owner(const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    socket_access owner;
    if (colon > 0) {
        const result<const passwd*> user = look_up(text.substr(0, colon));
        if (!user) return user.error();
        owner.user = (*user)->pw_uid;
    }
    if (colon < text.size()) {
        const result<std::uint32_t> group = find_group(text.substr(colon + 1));
        if (!group) return group.error();
        owner.group = *group;
    }
    return owner;
}

}  // namespace culvert::config
