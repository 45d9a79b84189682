# SPDX-License-Identifier: MIT
#
# Composes the libraries.
#
#   libasf        lib + backplane + streams + interfaces/asi: replaces nothing of libc
#   libasf_stdio  libasf + interfaces/stdio: defines the names of libc's stdio
#   libasf_unix   libasf_stdio + interfaces/unix + interfaces/pipes: defines the names of Unix I/O, too
#
# They need only libc.  Libraries that need a further package use libasf's public
# functions; interfaces/optional.cmake builds them.
#
# Each source is compiled once, as machine code for shared libraries and archives alike.  Only the sources of
# libasf_stdio and libasf_unix are compiled again for the archives, with ASF_STATIC defined: libc's objects may be
# in the same program.  A folder's CMakeLists.txt names its files with asf_core_sources (for all libraries),
# asf_stdio_sources (libasf_stdio and libasf_unix) or asf_unix_sources (libasf_unix).
set(asf_names asf)
if(ASF_STDIO)
    list(APPEND asf_names asf_stdio asf_unix)
    set(asf_stdio_parts asf_stdio_objects asf_stdio_static_objects)
    set(asf_unix_parts asf_unix_objects asf_unix_static_objects)
endif()
# The object libraries of each library.
set(asf_of_asf asf_objects)
set(asf_of_asf_stdio asf_objects asf_stdio_objects)
set(asf_of_asf_unix asf_objects asf_stdio_objects asf_unix_objects)

function(asf_core_sources)
    target_sources(asf_objects PRIVATE ${ARGN})
endfunction()

function(asf_stdio_sources)
    foreach(part IN LISTS asf_stdio_parts)
        target_sources(${part} PRIVATE ${ARGN})
    endforeach()
endfunction()

function(asf_unix_sources)
    foreach(part IN LISTS asf_unix_parts)
        target_sources(${part} PRIVATE ${ARGN})
    endforeach()
endfunction()

# Compiler settings for every object of the project's libraries.
function(asf_compile_settings part)
    set_target_properties(${part} PROPERTIES C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden)
    target_compile_definitions(${part} PRIVATE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)
    target_include_directories(${part} PRIVATE ${PROJECT_SOURCE_DIR})
    asf_public_headers(${part} PUBLIC)
endfunction()

# Further compiler settings for libasf, libasf_stdio and libasf_unix.  _FORTIFY_SOURCE
# must be off: it would redirect the names that the libraries define.  The TLS model
# initial-exec finds a thread's data without a call, because the libraries are loaded
# at the start of the program.  musl cannot load such a library later.
function(asf_core_settings part)
    target_compile_options(${part} PRIVATE $<$<BOOL:${ASF_GLIBC}>:-ftls-model=initial-exec> ${asf_unfortified})
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND ASF_MACHINE STREQUAL "x86_64") # faster than "rep stos" for clearing a stream
        target_compile_options(${part} PRIVATE
                               $<$<COMPILE_LANGUAGE:C>:-mmemset-strategy=unrolled_loop:128:noalign,libcall:-1:noalign>)
    endif()
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU") # see OF_LIBC in lib/sys/export.h
        target_compile_options(${part} PRIVATE -fno-plt)
    endif()
    target_compile_definitions(${part} PRIVATE ASF_VERSION="${PROJECT_VERSION}")
endfunction()

# Adds an object library for shared libraries and archives.  It is machine code even if the rest is built with
# link-time optimization: objcopy can make names local only in machine code, and every compiler and linker can use it.
function(asf_object_library name)
    add_library(${name} OBJECT ${ARGN})
    asf_compile_settings(${name})
    target_compile_options(${name} PRIVATE -fno-lto)
endfunction()

# Stores in `variable` the object files of these object libraries.
function(asf_object_files variable)
    list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    set(${variable} ${ARGN} PARENT_SCOPE)
endfunction()

function(asf_public_headers target scope)
    target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# The SONAME has the major number: a program runs with all later versions of that number.
# The version script names only the asf_* symbols, and has no "local: *".  libc's names
# must have no version: with a version of ours they would not replace libc's.  nodelete:
# libc holds pointers into the library until the program ends.
# Every short command pays for loading the library.  Two segments instead of four, and no
# start files of the compiler, save 6 of 75 microseconds.  The start files have four weak
# symbols, which are looked up in every library; a shared library in C needs none of them.
function(asf_shared_library name)
    add_library(${name} SHARED ${ARGN})
    asf_compile_settings(${name})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                          LINK_DEPENDS ${PROJECT_SOURCE_DIR}/lib/asf.map)
    target_link_options(${name} PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/lib/asf.map -Wl,-z,nodelete
                        -Wl,-z,defs -Wl,--hash-style=gnu -Wl,-O1 -Wl,--as-needed -Wl,-z,noseparate-code)
    if(NOT ASF_SANITIZE AND NOT ASF_COVERAGE)
        target_link_options(${name} PRIVATE -nostartfiles)
    endif()
    # The page cache keeps a file in blocks of the size in which it was written.  Page faults
    # cost less with fewer, larger blocks.  The linker writes small ones, so the file is copied.
    add_custom_command(
        TARGET ${name}
        POST_BUILD
        COMMAND cp $<TARGET_FILE:${name}> $<TARGET_FILE:${name}>.whole
        COMMAND mv $<TARGET_FILE:${name}>.whole $<TARGET_FILE:${name}>
        VERBATIM)
endfunction()

# libasf_stdio leaves some conversions to musl's own printf, scanf and similar functions.  The
# archive has copies of their objects in libc.a, under names that begin with asf__own_.
if(ASF_STDIO AND NOT ASF_GLIBC)
    set(asf_own ${PROJECT_SOURCE_DIR}/interfaces/stdio/musl/take_own)
    set(asf_own_object ${PROJECT_BINARY_DIR}/lib/own.o)
    add_custom_command(
        OUTPUT ${asf_own_object}
        COMMAND ${asf_own} ${asf_own_object} ${CMAKE_C_COMPILER}
        DEPENDS ${asf_own}
        COMMENT "Taking musl's own printf and scanf from libc.a" VERBATIM)
endif()

# asf_static_library(NAME object-library...): the archive has one object, so that a reference to any name links the whole
# library.  The object exports only the public names.
function(asf_static_library name)
    set(merged ${PROJECT_BINARY_DIR}/lib/${name}_static.o)
    asf_object_files(files ${ARGN})
    if(NOT ASF_GLIBC AND NOT name STREQUAL "asf")
        set(own ${asf_own_object})
    endif()
    add_custom_command(
        OUTPUT ${merged}
        COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${merged} ${files} ${own}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden --wildcard --localize-symbol=asf__own_* ${merged}
        DEPENDS ${ARGN} ${files} ${own}
        COMMENT "Merging lib${name}.a into one object"
        COMMAND_EXPAND_LISTS VERBATIM)
    add_library(${name}_static STATIC ${merged})
    asf_public_headers(${name}_static INTERFACE)
    set_target_properties(${name}_static PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE C)
endfunction()

foreach(part IN LISTS asf_stdio_parts asf_unix_parts ITEMS asf_objects asf_archive_objects)
    asf_object_library(${part})
    asf_core_settings(${part})
endforeach()
foreach(name IN LISTS asf_names)
    asf_object_files(files ${asf_of_${name}})
    asf_shared_library(${name} ${files})
    string(REGEX REPLACE "(stdio|unix)_objects" "\\1_static_objects" static "${asf_of_${name}}")
    asf_static_library(${name} ${static} asf_archive_objects)
    add_library(asf::${name} ALIAS ${name})
    add_library(asf::${name}_static ALIAS ${name}_static)
endforeach()
foreach(part IN LISTS asf_stdio_parts asf_unix_parts)
    if(part MATCHES "_static_objects$")
        target_compile_definitions(${part} PRIVATE ASF_STATIC=1)
    endif()
endforeach()
