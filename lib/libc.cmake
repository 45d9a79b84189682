# SPDX-License-Identifier: MIT
#
# Finds out which libc this is, and what can be built for it.  For musl, the headers of
# lib/sys/glibc_on_musl declare the glibc features that musl lacks.
include(CheckCSourceCompiles)
include(CheckCXXSourceCompiles)
set(is_glibc "
#include <stdio.h>
#ifndef __GLIBC__
#error another libc
#endif
int main(void) { return 0; }")
check_c_source_compiles("${is_glibc}" ASF_GLIBC)
check_cxx_source_compiles("${is_glibc}" ASF_CXX_GLIBC)

set(ASF_STDIO ON CACHE BOOL "Build libasf_stdio and libasf_unix")
set(ASF_LIBC glibc)
if(NOT ASF_GLIBC)
    set(ASF_LIBC musl)
    include_directories(${CMAKE_CURRENT_LIST_DIR}/sys/glibc_on_musl)
    add_compile_options(-include ${CMAKE_CURRENT_LIST_DIR}/sys/glibc_on_musl/glibc.h)
    set(asf_unfortified -U_FORTIFY_SOURCE $<$<COMPILE_LANGUAGE:C>:-Wp,-U_FORTIFY_SOURCE>) # zig's C++ has no -Wp
    if(ASF_CXX_GLIBC)
        message(STATUS "Left out: libasf_xbyak, Python, tests: the C++ compiler is for glibc, and the C compiler is not")
        set(ASF_XBYAK OFF)
        set(ASF_PYTHON OFF)
        set(ASF_TESTS OFF)
    endif()
endif()
if(NOT ASF_STDIO)
    set(ASF_BENCH OFF) # most benchmarks measure libasf_stdio
endif()
