# SPDX-License-Identifier: MIT
#
# asf_theme(interface theme source [libraries...])
#
# A theme is a program whose cases are run under libc and, in each variant
# below, under asf; compare.sh compares what both leave behind.
#
# The tests linked and archive are for a release (asf_add_test).
#
#   preload        the program as it is, libasf_stdio.so preloaded
#   fortified      compiled again with _FORTIFY_SOURCE: the __*_chk names; preloaded
#   linked         its objects linked with libasf_stdio.so
#   archive        the same with libasf_stdio.a and the shared libc
#   static         the same with libasf_stdio.a and libc.a; not with sanitizers
#   bulk           the program as it is, with the library of tests/bulk preloaded; without the cases in
#                  bulk_differences.txt
#
# On musl, whose headers do not fortify, and whose own objects in libasf_stdio.a want the rest of libc.a, preload,
# linked and static.  The cases in musl_differences.txt are left out there.
#
# The tests are named <interface>.<theme>.<variant>.
find_package(Threads REQUIRED)
set(transcripts ${CMAKE_CURRENT_LIST_DIR})
asf_plain_programs()
set(without_chk_names characters gnulib large-reads temporary) # of stdio
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

# asf_skip_differences(theme [differences...]): adds to the caller's list of skipped cases
function(asf_skip_differences theme)
    foreach(difference IN LISTS musl_differences ARGN)
        if(difference MATCHES "^${theme}: ([a-z_0-9]+): ")
            string(APPEND skipped " ${CMAKE_MATCH_1}")
        endif()
    endforeach()
    set(skipped ${skipped} PARENT_SCOPE)
endfunction()

# Each call is to be made as it is written, and the cases do things that
# compilers warn of, such as ignoring results.
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

# Compiled as for programs, which copy libc's or the library's stdout into themselves.
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

# The programs of variants that are not run are not built.
set(not_run "archive|linked-unix")
if(ASF_TESTS MATCHES "^(SYSTEM|MACHINE)$") # the fast tests alone
    set(not_run "archive|linked|sanitized|in-line")
elseif(ASF_TESTS STREQUAL "ALL")
    set(not_run "none")
endif()

# asf_transcript_program(name cases [libraries...]): the cases' objects, or their source
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

# asf_compare(test reference tested settings...): fast when the variant is the plain preload
#
# libasf_stdio linked, or its archive, is found by the tests of static programs, too, but for what libc.so does else.
function(asf_compare test reference tested)
    set(label slow)
    if(test MATCHES "\\.preload$" AND NOT test MATCHES "bulk") # bulk streams take seconds
        set(label fast)
    elseif(test MATCHES "\\.(linked|archive)$")
        set(label release)
    endif()
    asf_add_test(${test} ${label}
             COMMAND ${transcripts}/compare.sh $<TARGET_FILE:${reference}> $<TARGET_FILE:${tested}> ${ARGN})
    set_tests_properties(${test} PROPERTIES TIMEOUT 240 ENVIRONMENT "SKIPPED=${skipped}")
endfunction()

# asf_compare_bulk(test theme part [skip]): with libasf_stdio or libasf_unix of tests/bulk, if there is one; `skip`
# leaves out libasf_stdio's cases in bulk_differences.txt, otherwise libasf_unix's are left out
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

# A theme that looks at files meanwhile runs without bulk streams.
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

    if(ASF_GLIBC AND NOT theme IN_LIST without_chk_names)
        asf_transcript_program(${theme}-fortified ${source} ${ARGN})
        asf_compare(${test}.fortified ${theme}-fortified ${theme}-fortified ${preload} ${exact})
    endif()

    asf_transcript_program(${theme}-linked ${theme}-cases ${ARGN} asf_stdio ${ASF_RUNTIMES})
    asf_compare(${test}.linked ${plain} ${theme}-linked ${ASF_PRELOAD_SETTINGS} ${exact})
    # libc's formatter cannot be reached there
    set(beyond "pieces_that_the_calls_show descriptors_in_portions lines_of_long_output")
    string(APPEND beyond " pushed_back_on_a_file_of_libc lines_with_more_behind_than_fits counts_behind_what_failed")
    string(APPEND beyond " conversions_that_say_less_than_they_make")
    if(ASF_RUNTIMES) # whose scanf, which knows less, is before libc's here
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
