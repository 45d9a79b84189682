# SPDX-License-Identifier: MIT
#
# Settings for tests whose library is built with sanitizers or gcov, and whose programs are not.
#
# A sanitizer's runtime defines many stdio functions, to check their arguments.  If the
# runtime follows our library in the search order, stdio's names are ours, and those of
# malloc and pthread are the runtime's.  So the runtime is preloaded second, or linked
# after our library, and never linked by a program's -fsanitize.

# ASF_PRELOADED: the value of LD_PRELOAD.
# ASF_PRELOAD_SETTINGS: other environment variables to set with it, NAME=VALUE...
# ASF_PRELOAD_ARGUMENTS: both as arguments for scripts such as compare_filters.py.
# ASF_RUNTIMES: the libraries that a program links after ours.
# ASF_PRELOADED_BEHIND: the libraries that are preloaded after libasf_stdio.
set(ASF_PRELOAD_SETTINGS)
set(ASF_RUNTIMES)
set(ASF_PRELOADED_BEHIND)

string(REPLACE "," ";" sanitizers "${ASF_SANITIZE}")
list(TRANSFORM sanitizers REPLACE "^address$" "asan")
list(TRANSFORM sanitizers REPLACE "^undefined$" "ubsan")
list(TRANSFORM sanitizers REPLACE "^thread$" "tsan")
if(sanitizers MATCHES "asan|tsan")
    add_library(aligned_alloc SHARED aligned_alloc.c)
    set_target_properties(aligned_alloc PROPERTIES COMPILE_OPTIONS -fno-builtin LINK_OPTIONS "")
    list(APPEND ASF_PRELOADED_BEHIND $<TARGET_FILE:aligned_alloc>)
endif()
foreach(sanitizer IN LISTS sanitizers)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${sanitizer}.so
                    OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    file(REAL_PATH ${runtime} runtime)
    list(APPEND ASF_RUNTIMES ${runtime})
endforeach()
list(APPEND ASF_PRELOADED_BEHIND ${ASF_RUNTIMES})
list(JOIN ASF_PRELOADED_BEHIND ":" ASF_PRELOADED_BEHIND)
string(JOIN ":" ASF_PRELOADED $<TARGET_FILE:asf_stdio> ${ASF_PRELOADED_BEHIND})

# Leaks of the programs are not reported, and signals end the programs as without a
# sanitizer.  symbolize=0: to find the source lines of a race, the runtime would open
# files by our open(); use addr2line instead.
set(theirs handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0)
if("asan" IN_LIST sanitizers)
    list(APPEND ASF_PRELOAD_SETTINGS
         ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0:detect_stack_use_after_return=1:check_printf=0:allocator_may_return_null=1:${theirs})
endif()
if("tsan" IN_LIST sanitizers)
    list(APPEND ASF_PRELOAD_SETTINGS TSAN_OPTIONS=halt_on_error=1:report_thread_leaks=0:symbolize=0:atexit_sleep_ms=10:${theirs})
endif()

# Cases of the transcripts that fail with a runtime.  They limit the memory or the stack, or
# request too much memory; bind a library's calls directly to libc's functions; use features
# that the runtime's stdio lacks (%mc, %'d, register_printf_specifier, %n refused); read
# malloc's output; leave stack frames of a vfork's child in a handler, which the runtime does
# not notice; overflow a buffer; or free memory by libc that the runtime allocated.
set(ASF_SKIPPED_CASES)
if(ASF_COVERAGE) # gcov reports files that it cannot open, a size limit damages its files, and a filter kills it
    set(ASF_SKIPPED_CASES no_permission no_more_descriptors the_last_descriptor no_process_for_popen
                          a_limit_on_file_sizes a_limit_in_the_middle_of_lines a_limit_on_files errors_are_told_late_but_told
                          a_limit_on_files_that_passes a_limit_on_files_that_stays errors_since_the_first_one
                          strict_mode_from_the_start strict_mode_in_bulk strict_mode_on_a_pipe strict_mode_with_pending_output)
endif()
if(ASF_RUNTIMES AND NOT sanitizers STREQUAL "ubsan")
    set(ASF_SKIPPED_CASES reading_with_little_memory fmemopen_wrong_arguments loaded_with_its_own_binding allocated
                          registered_conversions held_while_libc_locks counts_in_a_format_on_a_stream
                          counts_in_a_format_that_was_written written_behind_our_back statistics_of_the_heap little_memory
                          no_memory_for_a_buffer a_handler_that_vforks perror_on_the_least_of_stacks
                          numbers_on_a_small_stack scanned_on_a_small_stack no_memory_for_a_turn
                          no_memory_for_memory_and_callbacks no_memory_for_a_stream no_memory_but_libcs no_memory_for_wide_characters
                          no_memory_of_its_own setvbuf_after_pushing_back sprintf_that_overflows_before_an_error
                          memory_of_a_thousand_streams memory_limited_for_a_thousand_streams)
endif()
if("asan" IN_LIST sanitizers) # AddressSanitizer warns of each swapcontext
    list(APPEND ASF_SKIPPED_CASES blocked_in_a_context)
endif()
if("tsan" IN_LIST sanitizers)
    # ThreadSanitizer's runtime does not support a main thread that ends before others.  It delays
    # signals.  It sees neither the locks of libc's own code nor our forks.  Its _exit flushes all
    # streams.  It reports printf in a signal handler, even in one for a fault.
    list(APPEND ASF_SKIPPED_CASES main_thread_ends_first functions_inside_libc_meanwhile flushing_everything_meanwhile
                                  forks_while_threads_write read_without_a_lock_while_others_fork
                                  one_that_forks one_that_vforks a_handler_that_waits a_handler_that_writes
                                  a_handler_that_looks a_handler_that_forks a_handler_that_vforks
                                  handlers_in_threads_beside_one_that_waits handlers_in_threads_beside_one_that_forks
                                  child_leaves_by__exit vfork_and__exit vfork_and_failing_exec
                                  a_fault_with_the_handler_set_late a_fault_in_a_map_of_the_program
                                  signals_with_values blocked_in_a_handler blocked_in_sigsuspend blocked_in_ppoll
                                  blocked_in_pselect blocked_in_epoll_pwait)
endif()

if(CMAKE_CROSSCOMPILING) # qemu-user does not limit memory: these cases never end, even without asf
    list(APPEND ASF_SKIPPED_CASES popen_by_two no_memory_for_a_buffer no_memory_for_a_line)
endif()

list(TRANSFORM ASF_PRELOAD_SETTINGS PREPEND "--environment=" OUTPUT_VARIABLE settings)
set(ASF_PRELOAD_ARGUMENTS --preload ${ASF_PRELOADED} ${settings})

set(skipped)
if(ASF_COVERAGE) # for the same reasons as the cases above
    list(APPEND skipped file-size-limit file-size-limit-ignored file-size-limit-caught file-size-limit-by-call
                        wide-file-size-limit unreadable-files unwritable-files few-descriptors)
endif()
# Command lines that limit the memory, or enlarge a block byte by byte: the runtime's
# realloc copies the block each time.
if(sanitizers MATCHES "asan|tsan")
    list(APPEND skipped address-space huge-line-getline column-table tty-column-width tools-from-an-odd-offset tools-then-cat)
endif()
# ThreadSanitizer's runtime writes a file when it starts, which a size limit truncates.
# Constructors of libraries that are preloaded after it call it before it has started.
# It ends programs in its own way, and uses descriptors.
if("tsan" IN_LIST sanitizers)
    list(APPEND skipped file-size-limit stdbuf stderr-buffered tty-buffering ways-to-end all-closed close-and-reuse fork-duplicates
                        vfork-output-order at-exit-output)
endif()
if(skipped)
    list(JOIN skipped "|" skipped)
    list(APPEND ASF_PRELOAD_ARGUMENTS --skip ${skipped})
endif()

# asf_plain_programs()
#
# From this call on the folder's programs are compiled without sanitizers and gcov's
# counters, which would make some too slow for their alarms.  They are still linked
# with gcov, because the archive needs it.
function(asf_plain_programs)
    foreach(property IN ITEMS COMPILE_OPTIONS LINK_OPTIONS)
        get_directory_property(options ${property})
        list(FILTER options EXCLUDE REGEX "sanitize")
        if(property STREQUAL "COMPILE_OPTIONS")
            list(FILTER options EXCLUDE REGEX "coverage|profile")
        endif()
        set_directory_properties(PROPERTIES ${property} "${options}")
    endforeach()
endfunction()
