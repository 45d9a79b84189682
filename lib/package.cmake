# SPDX-License-Identifier: MIT
#
# Installing, find_package(asf), pkg-config and the Debian packages: asf, which
# needs libc alone, and one for each optional library, which is a component.
include(CMakePackageConfigHelpers)
include(interfaces/manuals.cmake)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME asf)
get_property(asf_optional_libraries GLOBAL PROPERTY asf_optional_libraries)
set(asf_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/asf)
set(asf_generated ${PROJECT_BINARY_DIR}/package)

foreach(name IN LISTS asf_names)
    install(TARGETS ${name} ${name}_static EXPORT asf)
endforeach()
install(TARGETS asf_command)
install(DIRECTORY include/asf TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "record*" EXCLUDE)
asf_manuals(asf asi cxx dir shm command)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT asf NAMESPACE asf:: FILE asfTargets.cmake DESTINATION ${asf_cmake_dir})
configure_package_config_file(lib/asfConfig.cmake.in ${asf_generated}/asfConfig.cmake
                              INSTALL_DESTINATION ${asf_cmake_dir})
write_basic_package_version_file(${asf_generated}/asfConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${asf_generated}/asfConfig.cmake ${asf_generated}/asfConfigVersion.cmake
        DESTINATION ${asf_cmake_dir})

# asf_pkg_config(COMPONENT LIBRARY DESCRIPTION [REQUIRES LIBS_PRIVATE])
#
# The prefix is found from the file's own place, so that an installed tree can
# be moved.
function(asf_pkg_config component library description)
    set(requires ${ARGV3})
    set(libs_private ${ARGV4})
    file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
    string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
    configure_file(lib/asf.pc.in ${asf_generated}/${library}.pc @ONLY)
    install(FILES ${asf_generated}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
            COMPONENT ${component})
endfunction()
asf_pkg_config(asf asf "Alloc Stream Interface: stream I/O without copying")
if(ASF_STDIO)
    asf_manuals(asf stdio unix)
    asf_pkg_config(asf asf_stdio "The Alloc Stream Facility in the place of libc's stdio")
    asf_pkg_config(asf asf_unix "The Alloc Stream Facility in the place of libc's stdio and Unix I/O")
endif()

# What find_package, pkg-config and Debian know of an optional library.
function(asf_install_optional name)
    set(library asf_${name})
    get_target_property(description ${library} ASF_DESCRIPTION)
    get_target_property(on ${library} ASF_ON)
    get_property(libs_private TARGET ${library} PROPERTY ASF_LIBS_PRIVATE)
    get_target_property(folder ${library} SOURCE_DIR)
    get_filename_component(folder ${folder} NAME)
    set(targets ${library})
    if(TARGET ${library}_static)
        list(APPEND targets ${library}_static)
    endif()
    install(TARGETS ${targets} EXPORT ${library}
            LIBRARY COMPONENT ${name} ARCHIVE COMPONENT ${name}
            PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/asf COMPONENT ${name})
    install(EXPORT ${library} NAMESPACE asf:: FILE ${library}Targets.cmake DESTINATION ${asf_cmake_dir}
            COMPONENT ${name})
    asf_manuals(${name} ${folder})
    asf_pkg_config(${name} ${library} ${description} ${on} "${libs_private}")
    string(TOUPPER CPACK_DEBIAN_${name}_PACKAGE package)
    string(REPLACE _ - on ${on})
    set(${package}_DEPENDS "${on} (= ${PROJECT_VERSION})" PARENT_SCOPE)
    set(${package}_SHLIBDEPS ON PARENT_SCOPE)
    string(TOUPPER CPACK_COMPONENT_${name}_DESCRIPTION component_description)
    set(${component_description} ${description} PARENT_SCOPE)
endfunction()
foreach(name IN LISTS asf_optional_libraries)
    asf_install_optional(${name})
endforeach()
if(TARGET asf_record_command)
    install(TARGETS asf_record_command RUNTIME COMPONENT record)
endif()

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
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL asf ${asf_optional_libraries})
set(CPACK_DEBIAN_ASF_PACKAGE_NAME asf)
set(CPACK_DEBIAN_ASF_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
include(CPack)
