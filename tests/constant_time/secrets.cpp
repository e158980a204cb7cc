#include "tests/constant_time/secrets.hpp"

#include <valgrind/memcheck.h>

namespace culvert::tests {

void conceal(bytes_view memory) {
    static_cast<void>(VALGRIND_MAKE_MEM_UNDEFINED(memory.data(), memory.size()));
}

void reveal(bytes_view memory) {
    static_cast<void>(VALGRIND_MAKE_MEM_DEFINED(memory.data(), memory.size()));
}

buffer concealed(buffer bytes) {
    conceal(bytes);
    return bytes;
}

buffer revealed(buffer bytes) {
    reveal(bytes);
    return bytes;
}

bool is_secret(bytes_view memory) {
    if (RUNNING_ON_VALGRIND == 0) return false;
    buffer undefined(memory.size());  // a bit for each bit
    if (memory.empty()) return true;
    if (VALGRIND_GET_VBITS(memory.data(), undefined.data(), memory.size()) != 1) return false;
    return std::find(undefined.begin(), undefined.end(), 0) == undefined.end();
}

}  // namespace culvert::tests
