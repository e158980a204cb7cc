#include "bench/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "bench/units.hpp"

namespace culvert::load {
namespace {

// Where the system does not tell, the kind of machine.
std::string processor_name(const utsname& system) {
    std::ifstream told("/proc/cpuinfo");
    for (std::string line; std::getline(told, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
    }
    return system.machine;
}

std::uint64_t memory_bytes() noexcept {
    const long pages = ::sysconf(_SC_PHYS_PAGES);
    const long size = ::sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0
               ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
               : 0;
}

}  // namespace

std::string machine::text() const {
    return fmt::format("{}, {} CPU{}, {} of memory, {}", processor, processors,
                       processors == 1 ? "" : "s", size_text(memory), kernel);
}

machine this_machine() {
    utsname system{};
    ::uname(&system);
    machine found{processor_name(system), std::thread::hardware_concurrency(), memory_bytes(),
                  fmt::format("{} {}", system.sysname, system.release), 0};
    ::getloadavg(&found.load, 1);
    return found;
}

}  // namespace culvert::load
