# The Debian packages: culvert, and libculvert-crypto-dev. `make package` makes them.
set(CULVERT_MAINTAINER "culvert maintainers <maintainers@culvert.example>" CACHE STRING
    "Whom the Debian packages name: NAME <ADDRESS>")

set(debian_folder ${CMAKE_CURRENT_SOURCE_DIR}/debian)
set(made_folder ${CMAKE_CURRENT_BINARY_DIR}/debian)

# What the packages have beside what `cmake --install` puts anywhere.
configure_file(${debian_folder}/changelog.in ${made_folder}/changelog @ONLY)
compress(${made_folder}/changelog ${made_folder}/changelog.Debian.gz)
foreach(package "runtime culvert" "development libculvert-crypto-dev")
    separate_arguments(package)
    list(GET package 0 component)
    list(GET package 1 name)
    configure_file(${debian_folder}/lintian-overrides.in ${made_folder}/${name} @ONLY)
    install(FILES ${made_folder}/${name} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
            COMPONENT ${component})
    install(FILES ${made_folder}/changelog.Debian.gz ${debian_folder}/copyright
            DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
install(FILES ${debian_folder}/culvert.conf DESTINATION ${CMAKE_INSTALL_SYSCONFDIR}/culvert
        COMPONENT runtime)

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_SET_DESTDIR ON)  # for /etc
set(CPACK_PRE_BUILD_SCRIPTS ${debian_folder}/permissions.cmake)

set(CPACK_PACKAGE_CONTACT ${CULVERT_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_MAINTAINER ${CULVERT_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME culvert)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${debian_folder}/conffiles ${debian_folder}/postinst
    ${debian_folder}/prerm ${debian_folder}/postrm)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "encrypted tunnel for TCP connections between two hosts
An application talks plaintext to the culvert on its own host; culvert
talks XChaCha20-Poly1305 records, over TCP or WebSocket, to the culvert on
the other host; that one talks plaintext to the service.

No byte is released before its tag has verified. A stream that ended is an
end of file; a tunnel that was cut, tampered with or killed is a reset,
never a clean end of file. Half-close works in both directions.

The load client culvert-load measures a tunnel and checks every byte of it.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libculvert-crypto-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_PRIORITY optional)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "ciphers of the culvert tunnel as a C++20 library
(X)ChaCha20-Poly1305, SHA-3, SHAKE, cSHAKE, KMAC, TupleHash and the
permutations that they stand on, for messages in one call or in pieces of
any size, with kernels that are chosen when the program runs.

A static library with its headers, and what find_package(culvert) of CMake
wants.")

include(CPack)
