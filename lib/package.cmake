# SPDX-License-Identifier: MIT
#
# Installing, find_package(asf), pkg-config and the Debian package.
include(CMakePackageConfigHelpers)

set(asf_libraries asf asf_static asf_stdio asf_stdio_static)
set(asf_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/asf)
set(asf_generated ${PROJECT_BINARY_DIR}/package)

install(TARGETS ${asf_libraries} EXPORT asf)
install(TARGETS asf_command)
install(DIRECTORY include/asf TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

foreach(section IN ITEMS 1 3 5 7)
    file(GLOB pages CONFIGURE_DEPENDS interfaces/*/man/*.${section})
    if(pages)
        install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endif()
endforeach()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT asf NAMESPACE asf:: FILE asfTargets.cmake DESTINATION ${asf_cmake_dir})
configure_package_config_file(lib/asfConfig.cmake.in ${asf_generated}/asfConfig.cmake
                              INSTALL_DESTINATION ${asf_cmake_dir})
write_basic_package_version_file(${asf_generated}/asfConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${asf_generated}/asfConfig.cmake ${asf_generated}/asfConfigVersion.cmake
        DESTINATION ${asf_cmake_dir})

# pkg-config: the prefix is found from the file's own place, so that an
# installed tree can be moved.
function(asf_pkg_config library description)
    file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
    configure_file(lib/asf.pc.in ${asf_generated}/${library}.pc @ONLY)
    install(FILES ${asf_generated}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
asf_pkg_config(asf "Alloc Stream Interface: stream I/O without copying")
asf_pkg_config(asf_stdio "The Alloc Stream Facility in the place of libc's stdio")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME asf)
set(CPACK_PACKAGE_CONTACT "The asf authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION_FILE ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
