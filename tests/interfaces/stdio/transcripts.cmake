# SPDX-License-Identifier: MIT
#
# asf_theme(interface theme source [libraries...])
#
# A theme is a program with cases.  Each case runs on libc and, in each variant below, on asf.  compare.sh
# compares the transcripts and the files of both runs.
#
#   preload        the plain program, with libasf_stdio.so preloaded
#   fortified      compiled with _FORTIFY_SOURCE, which calls the __*_chk functions; preloaded
#   linked         the program's objects, linked with libasf_stdio.so; a release test
#   archive        the objects, linked with libasf_stdio.a and the shared libc; a release test
#   static         the objects, linked with libasf_stdio.a and libc.a; not with sanitizers
#   bulk           the plain program, with the library of tests/bulk preloaded; without the cases in
#                  bulk_differences.txt
#
# On musl the variants are preload, linked and static, without the cases in musl_differences.txt: musl's headers do
# not fortify, and libasf_stdio.a has objects of musl that need the rest of libc.a.
#
# The tests are named <interface>.<theme>.<variant>.
find_package(Threads REQUIRED)
set(transcripts ${CMAKE_CURRENT_LIST_DIR})
asf_plain_programs()
# These themes call each __*_chk function; the others are compiled so only with ASF_TESTS=ALL.
set(chk_themes blocks calls emulated extensions helpers jumping lines names numbers printing scanning signals wide
               wide_printing wide_random)
set(without_chk_names characters gnulib large-reads temporary) # these themes of stdio call no __*_chk function
set(preload LD_PRELOAD=${ASF_PRELOADED} ${ASF_PRELOAD_SETTINGS})
list(JOIN ASF_SKIPPED_CASES " " skipped)
if(NOT ASF_GLIBC)
    file(STRINGS ${transcripts}/musl_differences.txt musl_differences REGEX "^[a-z]")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${transcripts}/musl_differences.txt)
endif()
file(STRINGS ${transcripts}/bulk_differences.txt bulk_differences REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${transcripts}/bulk_differences.txt)
if(ASF_BULK_AFTER)
    list(APPEND musl_differences ${bulk_differences})
endif()

# asf_skip_differences(theme [differences...]): adds the theme's cases in the lists of differences to `skipped`
function(asf_skip_differences theme)
    foreach(difference IN LISTS musl_differences ARGN)
        if(difference MATCHES "^${theme}: ([a-z_0-9]+): ")
            string(APPEND skipped " ${CMAKE_MATCH_1}")
        endif()
    endforeach()
    set(skipped ${skipped} PARENT_SCOPE)
endfunction()

# The compiler must not replace calls.  The cases do things that compilers warn of, such
# as ignoring results.
function(asf_compile_transcript target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE -O2 -Wno-unused-result -Wno-format -Wno-format-security
                                             -Wno-deprecated-declarations)
    if(ASF_COVERAGE)
        target_compile_definitions(${target} PRIVATE UNDER_GCOV)
    endif()
    if(target MATCHES "fortified$")
        target_compile_options(${target} PRIVATE -include ${transcripts}/fortified.h)
    else()
        target_compile_options(${target} PRIVATE -fno-builtin ${asf_unfortified})
    endif()
endfunction()

# Compiles with -fPIE, as for a program: the linker then places a copy of the variable
# stdout in the program.
function(asf_transcript_objects name source)
    if(NOT TARGET ${name})
        add_library(${name} OBJECT ${source})
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(${name} PRIVATE -fPIE)
        asf_compile_transcript(${name})
    endif()
endfunction()
asf_transcript_objects(transcript ${transcripts}/transcript.c)
if(ASF_GLIBC)
    asf_transcript_objects(transcript-fortified ${transcripts}/transcript.c)
endif()

# Programs of these variants are not built by default, because no test of this build runs them, but for two.
set(not_run "archive|linked")
if(ASF_TESTS MATCHES "^(SYSTEM|MACHINE)$") # only the fast tests run
    set(not_run "archive|linked|sanitized|in-line")
elseif(ASF_TESTS STREQUAL "ALL")
    set(not_run "none")
endif()

# asf_transcript_program(name cases [libraries...]): links a program from `cases`, an object library or a source file
function(asf_transcript_program name cases)
    string(REGEX MATCH "-fortified$" kind ${name})
    if(TARGET ${cases})
        add_executable(${name} $<TARGET_OBJECTS:${cases}>)
    else()
        add_executable(${name} ${cases})
        asf_compile_transcript(${name})
    endif()
    target_link_libraries(${name} PRIVATE transcript${kind} Threads::Threads ${ARGN})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/transcripts)
    if(name MATCHES "-(${not_run})(-|$)")
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endfunction()

# asf_compare(test reference tested settings...): adds a test that compares two programs
#
# The variant preload is fast.  linked and archive are release tests: the variant static finds the same errors, except
# those that depend on libc.so.
function(asf_compare test reference tested)
    set(label slow)
    if(test MATCHES "\\.preload$" AND NOT test MATCHES "bulk") # the themes of bulk streams take seconds
        set(label fast)
    elseif(test MATCHES "\\.(linked|archive)$")
        set(label release)
    endif()
    asf_add_test(${test} ${label}
             COMMAND ${transcripts}/compare.sh $<TARGET_FILE:${reference}> $<TARGET_FILE:${tested}> ${ARGN})
    set_tests_properties(${test} PROPERTIES TIMEOUT 240 ENVIRONMENT "SKIPPED=${skipped}")
endfunction()

# asf_compare_bulk(test theme part [skip]): as asf_compare, with libasf_stdio or libasf_unix of tests/bulk, if it is
# built.  With `skip` the theme's cases in bulk_differences.txt are left out, otherwise its cases for libasf_unix
function(asf_compare_bulk test theme part)
    if(NOT TARGET ${part}_bulk)
        return()
    endif()
    if(ARGN)
        asf_skip_differences(${theme} ${bulk_differences})
    else()
        asf_skip_differences(unix.${theme} ${bulk_differences})
    endif()
    asf_compare(${test} ${theme}-plain ${theme}-plain LD_PRELOAD=$<TARGET_FILE:${part}_bulk>)
endfunction()

# The theme visibility reads files while they are written, so it runs without bulk streams.
function(asf_theme interface theme source)
    set(test ${interface}.${theme})
    set(exact)
    if(theme STREQUAL "visibility")
        set(exact ASF_OPTIONS=buffer=libc)
    endif()
    asf_skip_differences(${theme})
    set(plain ${theme}-plain)
    asf_transcript_objects(${theme}-cases ${source})
    asf_transcript_program(${plain} ${theme}-cases ${ARGN})
    asf_compare(${test}.preload ${plain} ${plain} ${preload} ${exact})
    if(NOT exact)
        asf_compare_bulk(${test}.bulk ${theme} asf_stdio skip)
    endif()

    if(ASF_GLIBC AND (theme IN_LIST chk_themes OR (ASF_TESTS STREQUAL "ALL" AND NOT theme IN_LIST without_chk_names)))
        asf_transcript_program(${theme}-fortified ${source} ${ARGN})
        asf_compare(${test}.fortified ${theme}-fortified ${theme}-fortified ${preload} ${exact})
    endif()

    asf_transcript_program(${theme}-linked ${theme}-cases ${ARGN} asf_stdio ${ASF_RUNTIMES})
    asf_compare(${test}.linked ${plain} ${theme}-linked ${ASF_PRELOAD_SETTINGS} ${exact})
    # In the variants archive and static asf cannot call libc's formatter.
    set(beyond "pieces_that_the_calls_show descriptors_in_portions lines_of_long_output")
    string(APPEND beyond " pushed_back_on_a_file_of_libc lines_with_more_behind_than_fits counts_behind_what_failed")
    string(APPEND beyond " conversions_that_say_less_than_they_make")
    if(ASF_RUNTIMES) # a runtime's scanf precedes libc's here, and lacks some features
        string(APPEND beyond " odd_formats allocations_that_end_unused")
    endif()
    string(APPEND skipped " ${beyond}")
    if(ASF_GLIBC)
        asf_transcript_program(${theme}-archive ${theme}-cases ${ARGN} asf_stdio_static ${ASF_RUNTIMES})
        asf_compare(${test}.archive ${plain} ${theme}-archive ${ASF_PRELOAD_SETTINGS} ${exact})
    endif()
    if(NOT ARGN AND NOT ASF_RUNTIMES) # a shared library cannot be linked into a static program
        asf_transcript_program(${theme}-static ${theme}-cases asf_stdio_static -static)
        asf_compare(${test}.static ${plain} ${theme}-static ${exact})
    endif()
endfunction()
