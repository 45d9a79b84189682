# SPDX-License-Identifier: MIT
#
# Compiler settings of everything in the tree, tests and examples included.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_compile_options(-Wall -Wextra -Wshadow -Wconversion $<$<BOOL:${ASF_WERROR}>:-Werror>)
# With clang it would have more to say of C++ than gcc's.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)
# gcc 12 sees overlaps in std::string's operator+ at -O3 (gcc's bug 105651).
add_compile_options($<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# Distributions build without a configuration of CMake's; the invariants are asserted in ours alone.
add_compile_definitions($<$<NOT:$<CONFIG:Debug>>:NDEBUG>)

# For what must not, or only in its own way, be compiled with _FORTIFY_SOURCE; what
# follows -Wp comes last, and so distributions ask for it.
set(asf_unfortified -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE)

if(ASF_SANITIZE)
    add_compile_options(-fsanitize=${ASF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${ASF_SANITIZE})
endif()
if(ASF_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ASF_COVERAGE) # each function once: what is inlined has branches of its own
    add_compile_options(-O0 --coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
