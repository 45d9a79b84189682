/* SPDX-License-Identifier: MIT
 *
 * command_table.c - the table of the subcommands and their options.
 */
#include "interfaces/command/command_table.h"

#include <stddef.h>

/* clang-format off */
#define SERVING                                                                                              \
    {'u', "unix", NULL, "serve Unix I/O too, by libasf_unix in place of libasf_stdio"},                      \
    {'b', "buffer", "SIZE", "buffer size of streams that libc would fully buffer, as by setvbuf: bytes, or " \
                            "a number with K or M (64K)"},                                                   \
    {'e', "exact", NULL, "use libc's buffer sizes, and make the same system calls on data as libc"},         \
    {'d', "decompress", NULL, "decode input in the formats zstd, gzip, lz4 and xz"},                         \
    {'k', "options", "STRING", "options for the library: KEY=VALUE[,KEY=VALUE]...; they override "           \
                               "ASF_OPTIONS"}

static const struct command_option run[] = {
    {'s', "stats", "=FILE", "print a report when the program has ended, as 'asf stat' does; with FILE, append "
                            "a line of tab-separated fields to it for each stream"},
    SERVING, {0}};

static const struct command_option stat[] = {
    {'j', "json", NULL, "print the report as JSON"},
    {'o', "output", "FILE", "write the report to FILE, not to stderr (also -o FILE)"},
    SERVING, {0}};

static const struct command_option compare[] = {
    {'n', "runs", "N", "number of pairs of runs (default: 9, fewer if they take long, more on a busy machine)"},
    {'o', "output", "FILE", "write standard output of each run to FILE, such as /dev/null, and do not compare "
                            "it (also -o FILE)"},
    {'j', "json", NULL, "print the report as JSON"},
    SERVING, {0}};

static const struct command_option pipe[] = {
    {'p', "plain", NULL, "use no rings"},
    {'f', "pipefail", NULL, "return the exit status of the last command that fails, as 'set -o pipefail' of "
                            "the shell does"},
    {'o', "options", "STRING", "options for the library, as for 'asf run'"}, {0}};

static const struct command_option parallel[] = {
    {'j', "jobs", "N", "number of runs at a time (also -j N; default: the number of usable processors)"},
    {'b', "block", "SIZE", "approximate size of a piece: bytes, or a number with K or M (default: 1M to 16M)"},
    {'r', "records", "BYTES", "divide the input between records of this many bytes, not between lines"},
    {'n', "header", "N", "give the first N lines of the input to every run; print the first N lines of output "
                         "of the first run only"},
    {'l', "headless", NULL, "with --header: print all lines of output, because COMMAND prints no header"},
    {'u', "unordered", NULL, "print the output of each piece as soon as possible, in any order"},
    {'m', "merge", "COMMAND", "pass the outputs, as files, to this shell command, such as 'sort -m'"},
    {'f', "found", NULL, "exit status 1 of a run means that it found nothing, and is no failure; the default "
                         "for grep and rg"},
    {'c', "check", NULL, "run COMMAND also on the whole input, and compare the outputs"},
    {0}};

static const struct command_option tune[] = {
    {'d', "dir", "DIRECTORY", "measure the file system of this directory; may be repeated (default: "
                              "temporary directories, HOME, the current directory and /dev/shm)"},
    {'s', "system", NULL, "use the table for all users, /etc/asf/tune"},
    {'o', "output", "FILE", "write the table to FILE, which the library does not read"},
    {'n', "dry-run", NULL, "write no table"},
    {'w', "show", NULL, "measure nothing; print the table that the library uses"},
    {'c', "check", NULL, "measure nothing; return 0 if that table is up to date, and 1 if the kernel, the "
                         "processor or the library has changed or there is no table"},
    {'j', "json", NULL, "print the table as JSON"}, {0}};

static const struct command_option shm_ls[] = {
    {'a', "all", NULL, "list the segments of all users"},
    {'j', "json", NULL, "print the list as JSON"},
    {'l', "leaked", NULL, "list only segments whose creator has ended and that no process has attached"}, {0}};

static const struct command_option shm_rm[] = {
    {'n', "dry-run", NULL, "print the segments, and remove none (also -n)"},
    {'m', "mine", NULL, "segments of this user"},
    {'l', "leaked", NULL, "segments whose creator has ended and that no process has attached"},
    {'o', "older", "AGE", "segments of at least this age that no process has attached (90s, 10m, 12h, 7d)"},
    {0}};

static const struct command_option shm_pack[] = {
    {'m', "min", "COUNT", "do not replace arrays of fewer numbers (default: 1000)"},
    {'n', "name", "PREFIX", "begin the names of the segments with PREFIX"},
    {'b', "backend", "posix|sysv", "kind of the segments"},
    {'o', "mode", "MODE", "permissions of the segments, reduced by the umask (default: 0600)"}, {0}};

#define RECORD_SOURCE                                                                                        \
    {'s', "store", "DIRECTORY", "directory of formats, for records that contain only a format's hash"},      \
    {'m', "memory", "SIZE", "limit of the memory for formats: bytes, or a number with K or M (64M)"}

static const struct command_option record_formats[] = {
    {'j', "json", NULL, "print a line of JSON for each format"}, RECORD_SOURCE, {0}};

static const struct command_option record_dump[] = {
    {'j', "json", NULL, "print a line of JSON for each record"},
    {'n', "number", "N", "begin with record N, counted from 0"},
    {'c', "count", "N", "print at most N records"}, RECORD_SOURCE, {0}};

static const struct command_option record_convert[] = {
    {'i', "index", NULL, "write an index after the records"},
    {'o', "output", "FILE", "write to FILE, not to standard output"}, RECORD_SOURCE, {0}};

static const struct command_option none[] = {{0}};

#define EXIT_OF_RUN                                                                                          \
    "Exit status: that of PROGRAM, or 128 + N if signal N ended it; 125 if asf itself\n"                     \
    "fails, 126 if PROGRAM cannot be executed, 127 if it or its interpreter is not found.\n"

const struct command asf__commands[] = {
    {"run", "[OPTION]... [--] PROGRAM [ARGUMENT]...", "run a program with its stdio served by asf",
     "Run PROGRAM with its stdio served by asf.\n", EXIT_OF_RUN, run, A_COMMAND},
    {"stat", "[OPTION]... [--] PROGRAM [ARGUMENT]...",
     "run a program, and report its I/O and which options would help",
     "Run PROGRAM with its stdio served by asf.  When it has ended, print for each process\n"
     "and stream the bytes, the calls, the calls without a system call, and the system\n"
     "calls of asf and of libc; and print advice.  Counting makes PROGRAM slower than\n"
     "'asf run'.\n",
     EXIT_OF_RUN, stat, A_COMMAND},
    {"compare", "[OPTION]... [--] PROGRAM [ARGUMENT]...",
     "run a program with and without asf, and compare output and time",
     "Run PROGRAM several times with and without asf, in random order.  Compare output\n"
     "byte for byte, and the time.  Each run reads the same standard input, unless that is a\n"
     "terminal or another device.\n",
     "Exit status: 1 if the runs differ, 2 if PROGRAM cannot be executed, 125 if asf\n"
     "itself fails; otherwise that of PROGRAM, or 128 + N if signal N ended it.\n", compare, A_COMMAND},
    {"pipe", "[OPTION]... 'COMMAND | COMMAND...'",
     "run a pipeline that passes data through shared memory",
     "Run a shell pipeline with the I/O of its commands served by asf.  Each pipe has a\n"
     "ring, a buffer in shared memory.  If asf serves the commands at both ends of a pipe,\n"
     "they pass data through its ring; otherwise they use the pipe.\n",
     "Commands may contain quotes, variables and redirections.  If the text contains other\n"
     "shell syntax (lists, groups, loops, command substitution, here-documents), one shell\n"
     "runs it, with served commands and without rings.\n"
     "\n"
     "A command that a signal other than SIGPIPE and SIGINT ends is printed on stderr.\n"
     "\n"
     "Exit status: that of the last command, or 128 + N if signal N ended it; 125 if asf\n"
     "itself fails.\n", pipe, NO_OPERANDS},
    {"parallel", "[OPTION]... [--] COMMAND [ARGUMENT]... <FILE", "run a filter on all processors, each run on a piece of the input",
     "Divide standard input into pieces of whole lines, and run COMMAND once for each piece,\n"
     "several runs at a time.  Print the outputs in the order of the pieces.  COMMAND must\n"
     "process each line independently, as grep, sed s///, cut and tr do; nl, wc, uniq and\n"
     "head do not.  --check tests this for a given input.  asf serves the runs.\n",
     "Exit status: 0, or that of the first piece whose run fails; asf then stops the runs of\n"
     "later pieces.  125 if asf itself fails, 126 if COMMAND cannot be executed, 127 if it\n"
     "is not found.  The manual page asf-parallel(1) has the details.\n", parallel, A_COMMAND},
    {"shm", "COMMAND [OPTION]... [ARGUMENT]...", "list, remove, expand and pack segments of shared memory",
     "Manage segments of shared memory, which hold arrays.\n",
     "Exit status: 0, 1 if a segment could not be removed, or 125 after any other failure.\n"
     "The manual page asf-shm(1) has the details.\n", none, COMMAND_NAMES},
    {"shm ls", "[OPTION]...", "list the segments: owner, mode, size, times, processes, state, label",
     "List the segments of this user: owner, mode, size, times of creation and last access,\n"
     "number of attached processes, state, label.\n", NULL, shm_ls, NO_OPERANDS},
    {"shm rm", "[OPTION]... [LABEL]...", "remove segments by label or by conditions",
     "Remove the segments with the given labels, as 'asf shm ls' prints them, or all segments\n"
     "that meet every condition.  Root removes the segments of all users, others their own.\n", NULL, shm_rm, LABELS},
    {"shm expand", "[FILE]", "copy text, and replace each 'shmids LABEL' by the numbers",
     "Copy text, and replace each 'shmids LABEL' by the numbers in the segment.\n", NULL, none, FILES},
    {"shm pack", "[OPTION]... [FILE]", "copy text, and replace each long array by a new segment's label",
     "Copy text, store each array of COUNT or more numbers in a new segment, and replace the\n"
     "array by 'shmids LABEL'.\n", NULL, shm_pack, FILES},
    {"tune", "[OPTION]...", "measure the file systems of this machine",
     "Measure the cost of reading, mapping, writing and copying on the file systems of this\n"
     "machine, in less than 20 seconds.  Write the result to ~/.config/asf/tune, where the\n"
     "library reads it.  Without this table the library uses built-in figures.\n",
     "Remove the file to return to the built-in figures.  The manual page asf-tune(1) has\n"
     "the details.\n", tune, NO_OPERANDS},
    {"record", "COMMAND [OPTION]... [FILE]", "show, print and convert records (libasf_record)",
     "Read files and streams of records.  Without FILE, or if FILE is -, read standard input.\n",
     "Exit status: 0, 1 if the input is invalid or ends within a record, or 125 after any\n"
     "other failure.  The manual page asf-record(1) has the details.\n", none, COMMAND_NAMES},
    {"record formats", "[OPTION]... [FILE]", "print the formats: offset, name, kind and size of each field",
     "Print the formats: offset, name, kind and size of each field.\n", NULL, record_formats, FILES},
    {"record dump", "[OPTION]... [FILE]", "print the records",
     "Print the records, one field per line.\n", NULL, record_dump, FILES},
    {"record convert", "[OPTION]... [FILE]", "write the records in the layout of this machine",
     "Write the records in the layout of this machine.\n", NULL, record_convert, FILES},
    {"completion", "bash|zsh|fish", "print the completions of asf for a shell",
     "Print the completions of asf for a shell: source <(asf completion bash).\n", NULL, none, SHELLS},
    {"help", "[COMMAND]", "list the commands, or print the help of one (also --help)",
     "List the commands, or print the help of one.\n", NULL, none, COMMAND_NAMES},
    {"version", "", "print the version (also --version, -V)", "Print the version.\n", NULL, none, NO_OPERANDS},
    {0}};

#define OPTION(KEY, VALUES, TEXT, SET) {#KEY, VALUES, TEXT},
const struct command_key asf__keys[] = {
#include "lib/sys/options.def"
    {0}};
