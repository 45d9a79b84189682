# SPDX-License-Identifier: MIT
#
# The toolchain of the preset aarch64: Debian's cross compiler, and the libraries in the root
# directory that tests/systems/aarch64 makes.  Without that directory only the libraries that
# need nothing but libc are built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(root ${CMAKE_CURRENT_LIST_DIR}/../../build/systems/aarch64)
if(DEFINED ENV{ASF_SYSTEMS})
    set(root $ENV{ASF_SYSTEMS}/aarch64)
endif()
if(EXISTS ${root})
    get_filename_component(CMAKE_SYSROOT ${root} REALPATH)
else()
    set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind IN ITEMS LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${root}/usr/lib/aarch64-linux-gnu/pkgconfig)
set(Python3_EXECUTABLE /usr/bin/python3) # the path is the same in the root directory
