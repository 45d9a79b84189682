# SPDX-License-Identifier: MIT
#
# Compiler settings for the whole tree, including tests and examples.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# A program is not linked again when a shared library changes.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${ASF_WERROR}>:-Werror>)
# For C++, clang's -Wconversion includes -Wsign-conversion; gcc's does not.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)
# gcc 12 warns falsely of overlaps in std::string's operator+ at -O3 (gcc's bug 105651).
add_compile_options($<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# Assertions are enabled in Debug builds only; distributions build without a build type.
add_compile_definitions($<$<NOT:$<CONFIG:Debug>>:NDEBUG>)

# Turns _FORTIFY_SOURCE off for some targets.  Distributions define it by a -Wp option.
# -Wp options take effect last, so only another -Wp option can undefine it.
set(asf_unfortified -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE)

if(ASF_SANITIZE)
    add_compile_options(-fsanitize=${ASF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${ASF_SANITIZE})
endif()
if(ASF_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ASF_COVERAGE) # -O0: an inlined copy of a function would have branches of its own
    add_compile_options(-O0 --coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
