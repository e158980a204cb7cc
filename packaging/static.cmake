# CULVERT_STATIC: programs that run wherever there is a glibc as new as the one they were built with,
# without the packages of Boost, OpenSSL, fmt, spdlog and libstdc++.
#
# glibc itself stays shared. What resolves names in it (getaddrinfo, and getpwnam for users) loads
# its modules while it runs, from the system's /etc/nsswitch.conf: a program that carried a glibc of
# its own would load modules of another version than itself, or resolve names only as far as
# /etc/hosts and DNS go.
if(CULVERT_STATIC)
    set(Boost_USE_STATIC_LIBS ON)
    set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
    add_link_options(-static-libstdc++ -static-libgcc)
endif()

# Debian has no archives of fmt and spdlog, but both are there as headers alone.
function(link_fmt_and_spdlog)
    add_library(culvert_fmt INTERFACE)
    add_library(culvert_spdlog INTERFACE)
    if(NOT CULVERT_STATIC)
        target_link_libraries(culvert_fmt INTERFACE fmt::fmt)
        target_link_libraries(culvert_spdlog INTERFACE spdlog::spdlog)
        return()
    endif()
    target_link_libraries(culvert_fmt INTERFACE fmt::fmt-header-only)
    # Not spdlog::spdlog_header_only: Debian's links the shared fmt.
    target_compile_definitions(culvert_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
    target_link_libraries(culvert_spdlog INTERFACE culvert_fmt Threads::Threads)
endfunction()
