# SPDX-License-Identifier: MIT
#
# Installation, its removal, find_package(asf) and pkg-config.  Each optional library is a component.  The files
# of lib/packages make packages for distributions.
include(CMakePackageConfigHelpers)
include(interfaces/manuals.cmake)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME asf)
get_property(asf_optional_libraries GLOBAL PROPERTY asf_optional_libraries)
set(asf_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/asf)
set(asf_generated ${PROJECT_BINARY_DIR}/package)

foreach(name IN LISTS asf_names)
    install(TARGETS ${name} ${name}_static EXPORT asf)
endforeach()
# "cmake --install BUILD --component other_libc" installs the libraries where an asf command of another libc finds
# them.
if(ASF_STDIO)
    install(TARGETS asf_stdio asf_unix LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/asf/${ASF_LIBC} COMPONENT other_libc
                                      NAMELINK_SKIP EXCLUDE_FROM_ALL)
endif()
install(TARGETS asf_command)
install(DIRECTORY include/asf TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp" PATTERN "record*" EXCLUDE)
asf_manuals(asf asi cxx dir shm command)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT asf NAMESPACE asf:: FILE asfTargets.cmake DESTINATION ${asf_cmake_dir})
configure_package_config_file(lib/asfConfig.cmake.in ${asf_generated}/asfConfig.cmake
                              INSTALL_DESTINATION ${asf_cmake_dir})
# Before 1.0 a new minor version may require changes in the source of programs.
write_basic_package_version_file(${asf_generated}/asfConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${asf_generated}/asfConfig.cmake ${asf_generated}/asfConfigVersion.cmake
        DESTINATION ${asf_cmake_dir})

# asf_pkg_config(COMPONENT LIBRARY DESCRIPTION [REQUIRES LIBS_PRIVATE])
#
# The .pc file finds the prefix relative to its own directory, so that an installed tree
# can be moved.
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
    asf_manuals(asf stdio)
    asf_pkg_config(asf asf_stdio "The Alloc Stream Facility in the place of libc's stdio")
endif()
if(TARGET asf_unix)
    asf_manuals(asf unix)
    asf_pkg_config(asf asf_unix "The Alloc Stream Facility in the place of libc's stdio and Unix I/O")
endif()

# Installs an optional library, with its files for find_package and pkg-config.
function(asf_install_optional name)
    set(library asf_${name})
    get_target_property(description ${library} ASF_DESCRIPTION)
    get_target_property(on ${library} ASF_ON)
    get_property(libs_private TARGET ${library} PROPERTY ASF_LIBS_PRIVATE)
    get_target_property(folder ${library} SOURCE_DIR)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/interfaces ${folder})
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
endfunction()
foreach(name IN LISTS asf_optional_libraries)
    asf_install_optional(${name})
endforeach()
if(TARGET asf_python)
    install(TARGETS asf_python LIBRARY DESTINATION ${ASF_PYTHON_DIR} COMPONENT python)
    install(FILES interfaces/python/dask.py DESTINATION ${ASF_PYTHON_DIR}/asf COMPONENT python)
    install(FILES interfaces/python/asf.pyi DESTINATION ${ASF_PYTHON_DIR}/asf-stubs RENAME __init__.pyi COMPONENT python)
    install(FILES interfaces/python/dask.pyi DESTINATION ${ASF_PYTHON_DIR}/asf-stubs COMPONENT python)
endif()
if(TARGET asf_record_command)
    install(TARGETS asf_record_command RUNTIME COMPONENT record)
endif()

if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/lib/uninstall.cmake
                      WORKING_DIRECTORY ${PROJECT_BINARY_DIR} COMMENT "Removing what was installed last" VERBATIM)
endif()
