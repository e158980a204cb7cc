# The ciphers for other programs:
#
#   find_package(culvert)                              in their CMakeLists.txt
#   target_link_libraries(… culvert::crypto)
#   #include <culvert/crypto/xchacha20poly1305.hpp>    in their sources
#
# In this tree the headers include each other as "crypto/…". A program may well have a folder of that
# name itself, so the installed ones say "culvert/crypto/…".
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/culvert)

install(TARGETS culvert_crypto EXPORT culvert ARCHIVE COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT culvert NAMESPACE culvert:: FILE culvertTargets.cmake DESTINATION ${config_folder}
        COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/culvertConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/culvertConfig.cmake
                              INSTALL_DESTINATION ${config_folder})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/culvertConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/culvertConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/culvertConfigVersion.cmake
        DESTINATION ${config_folder} COMPONENT development)

# Every header of crypto/, and those of its kernels that they include.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/crypto/*.hpp)
foreach(kernel aead chacha20 keccak poly1305 report selection)
    list(APPEND headers crypto/kernels/${kernel}.hpp)
endforeach()
foreach(header IN LISTS headers)
    set(installed ${CMAKE_CURRENT_BINARY_DIR}/include/culvert/${header})
    get_filename_component(folder ${header} DIRECTORY)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/include/culvert/${folder})
    add_custom_command(OUTPUT ${installed}
                       COMMAND ${CULVERT_SED} "s,#include \"crypto/,#include \"culvert/crypto/,"
                               ${CMAKE_SOURCE_DIR}/${header} > ${installed}
                       DEPENDS ${CMAKE_SOURCE_DIR}/${header} VERBATIM)
    list(APPEND installed_files ${installed})
    install(FILES ${installed} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culvert/${folder}
            COMPONENT development)
endforeach()
