# SPDX-License-Identifier: MIT
#
# Libraries that need a package besides libc.  If the package is not installed, the
# library is left out.

# asf_optional_library(NAME sources... ON library FOUND truth PACKAGE package
#                      HEADERS headers... DESCRIPTION text [LEFT_OUT what] [NEEDS libraries...] [ARCHIVE])
#
# Adds libasf_NAME.  Its version script is NAME.map, in the caller's folder.
#   ON       the library of asf that it uses; if that is not built, libasf_NAME is left out
#   FOUND    whether the needed package is installed
#   PACKAGE  the Debian name of the needed package
#   NEEDS    libraries to link with
#   LEFT_OUT other things that are left out together with the library, for the message
#   ARCHIVE  make libasf_NAME.a, too
# The cache variable ASF_NAME is ON, OFF or AUTO.  lib/package.cmake installs the library.
function(asf_optional_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "ARCHIVE" "ON;FOUND;PACKAGE;DESCRIPTION;LEFT_OUT" "HEADERS;NEEDS")
    set(library asf_${name})
    string(TOUPPER ${library} option)
    set(${option} AUTO CACHE STRING "Build lib${library}: ON, OFF, or AUTO (when ${arg_PACKAGE} is installed)")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)
    if(NOT ${option} OR NOT TARGET ${arg_ON} OR NOT arg_FOUND)
        asf_left_out(${option} ${library} "${arg_LEFT_OUT}" ${arg_ON} ${arg_PACKAGE})
        return()
    endif()

    set(map ${CMAKE_CURRENT_SOURCE_DIR}/${name}.map)
    set(sources ${arg_UNPARSED_ARGUMENTS})
    if(arg_ARCHIVE)
        asf_object_library(${library}_objects ${sources})
        target_link_libraries(${library}_objects PUBLIC ${arg_NEEDS})
        asf_object_files(sources ${library}_objects)
    endif()
    add_library(${library} SHARED ${sources})
    add_library(asf::${library} ALIAS ${library})
    asf_compile_settings(${library})
    list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/asf/)
    set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                          LINK_DEPENDS ${map} PUBLIC_HEADER "${arg_HEADERS}" ASF_DESCRIPTION "${arg_DESCRIPTION}"
                          ASF_ON ${arg_ON})
    # nodelete: a generator of code or a store of formats may be in use until the program ends.
    target_link_options(${library} PRIVATE -Wl,--version-script=${map} -Wl,-z,nodelete -Wl,-z,defs -Wl,--as-needed)
    target_link_libraries(${library} PUBLIC ${arg_ON} PRIVATE ${arg_NEEDS})
    if(arg_ARCHIVE)
        asf_static_library(${library} ${library}_objects)
        add_library(asf::${library}_static ALIAS ${library}_static)
    endif()
    set_property(GLOBAL APPEND PROPERTY asf_optional_libraries ${name})
endfunction()

# asf_left_out(OPTION LIBRARY WITH ON PACKAGE): reports that a library is left out.  If
# OPTION is AUTO, prints a line, unless ON is left out, too.  If OPTION is ON, fails.
function(asf_left_out option library with on package)
    if(NOT PKG_CONFIG_EXECUTABLE)
        set(package pkg-config)
    endif()
    if(${option} STREQUAL "AUTO")
        if(TARGET ${on})
            string(JOIN ", " what lib${library} ${with})
            message(STATUS "Left out: ${what}: ${package} is not installed")
        endif()
    elseif(${option} AND TARGET ${on})
        message(FATAL_ERROR "${option} is ON and ${package} is missing: apt-get install ${package}")
    elseif(${option})
        message(FATAL_ERROR "${option} is ON and lib${on}, which lib${library} stands on, is left out")
    endif()
endfunction()

# asf_package_library(OUT NAME): stores PkgConfig::NAME in OUT.  For a wheel it stores NAME's archive, if there is
# one: the wheel then works without NAME installed.
function(asf_package_library out name)
    set(library PkgConfig::${name})
    if(SKBUILD)
        find_library(asf_${name}_archive lib${${name}_LIBRARIES}.a HINTS ${${name}_LIBDIR})
        mark_as_advanced(asf_${name}_archive)
        if(asf_${name}_archive)
            set(library ${asf_${name}_archive})
        endif()
    endif()
    set(${out} ${library} PARENT_SCOPE)
endfunction()

# asf_pkg_config_package(NAME): sets NAME_FOUND, and makes the global target PkgConfig::NAME
macro(asf_pkg_config_package name)
    find_package(PkgConfig QUIET)
    if(PKG_CONFIG_FOUND)
        pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${name})
    endif()
endmacro()
