# What makes a fault of memory harder to use, for every target. The sanitizers have stronger means of
# their own. A target with the property CULVERT_FAST is spared what costs it a few percent: the
# ciphers, whose buffers are of fixed size and tested at every length.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)

# Addresses are bound at start and the tables made read-only: a lazy binding also leaves registers,
# and so keys, on the stack. Code shares no page with data.
target_compile_options(culvert_flags INTERFACE -fPIE)
target_link_options(culvert_flags INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code)

set(not_fast "$<NOT:$<BOOL:$<TARGET_PROPERTY:CULVERT_FAST>>>")

# harden_with(FLAG CONDITION): where the compiler knows it.
function(harden_with flag condition)
    string(MAKE_C_IDENTIFIER "has${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
        target_compile_options(culvert_flags INTERFACE $<${condition}:${flag}>)
    endif()
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    harden_with(-fcf-protection=full 1)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    harden_with(-mbranch-protection=standard 1)
endif()

if(NOT CULVERT_SANITIZE)
    harden_with(-fstack-clash-protection ${not_fast})
    harden_with(-fstack-protector-strong ${not_fast})
    # Checks of spans, vectors and optionals.
    target_compile_definitions(culvert_flags INTERFACE $<${not_fast}:_GLIBCXX_ASSERTIONS>)
    # Level 3 is for glibc 2.35 and g++ 12 or clang 9; both levels need a compiler that optimises.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_cxx_source_compiles("#include <cstring>\nint main() {}" has_fortify_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(fortify_level 2)
    if(has_fortify_3)
        set(fortify_level 3)
    endif()
    set(fortify "$<AND:${not_fast},$<NOT:$<CONFIG:Debug>>>")
    target_compile_options(culvert_flags INTERFACE
                           "$<${fortify}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=${fortify_level}>")
endif()
