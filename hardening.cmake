# What makes a fault of memory harder to use, for every target. None of it changes the speed of the
# ciphers, which has been measured; the sanitizers have stronger means of their own.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

# Addresses are bound at start and the tables made read-only: a lazy binding also leaves registers,
# and so keys, on the stack. Code shares no page with data.
target_compile_options(culvert_flags INTERFACE -fPIE)
target_link_options(culvert_flags INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code)

function(harden_with flag)
    string(MAKE_C_IDENTIFIER "has${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
        target_compile_options(culvert_flags INTERFACE ${flag})
    endif()
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    harden_with(-fcf-protection=full)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    harden_with(-mbranch-protection=standard)
endif()

if(NOT CULVERT_SANITIZE)
    harden_with(-fstack-protector-strong)
    harden_with(-fstack-clash-protection)
    # Checks of spans, vectors and optionals.
    target_compile_definitions(culvert_flags INTERFACE _GLIBCXX_ASSERTIONS)
    # Level 3 is for glibc 2.35 and g++ 12 or clang 9; both levels need a compiler that optimises.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_cxx_source_compiles("#include <cstring>\nint main() {}" has_fortify_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(fortify_level 2)
    if(has_fortify_3)
        set(fortify_level 3)
    endif()
    target_compile_options(culvert_flags INTERFACE
                           "$<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify_level}>")
endif()
