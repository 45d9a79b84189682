/* SPDX-License-Identifier: MIT
 *
 * command_table.c - the table of the subcommands and their options.
 */
#include "interfaces/command/command_table.h"

#include <stddef.h>

/* clang-format off */
#define SERVING                                                                                              \
    {'u', "unix", NULL, "serve its Unix I/O, too: libasf_unix in the place of libasf_stdio"},                \
    {'b', "buffer", "SIZE", "streams that libc would fully buffer get buffers of this many bytes, of K or "   \
                            "of M (64K), as if by setvbuf"},                                                 \
    {'e', "exact", NULL, "no larger buffers for streams that move much: the transfers of libc, to the "      \
                         "system call"},                                                                     \
    {'d', "decompress", NULL, "decode input that zstd, gzip, lz4 or xz has compressed"},                     \
    {'k', "options", "STRING", "options for the library: KEY=VALUE[,KEY=VALUE]...; they follow, and so "      \
                               "overrule, those in ASF_OPTIONS"}

static const struct command_option run[] = {
    {'s', "stats", "=FILE", "report when it has ended, as 'asf stat' does; with FILE, append a line a "
                            "stream to it, in tab-separated fields"},
    SERVING, {0}};

static const struct command_option stat[] = {
    {'j', "json", NULL, "report for programs"},
    {'o', "output", "FILE", "write the report to FILE, not to stderr (also -o FILE)"},
    SERVING, {0}};

static const struct command_option compare[] = {
    {'n', "runs", "N", "how often each of the two runs (default: 9, less if they take long, more on a busy "
                       "machine)"},
    {'o', "output", "FILE", "where its standard output goes in each run, and is not compared (/dev/null "
                            "say; also -o FILE); by default it is kept and compared byte for byte"},
    {'j', "json", NULL, "report for programs"},
    SERVING, {0}};

static const struct command_option pipe[] = {
    {'p', "plain", NULL, "no rings"},
    {'f', "pipefail", NULL, "the exit status is that of the last command that failed, if one did, as with "
                            "the shell's 'set -o pipefail'"},
    {'o', "options", "STRING", "options for the library, as for 'asf run'"}, {0}};

static const struct command_option parallel[] = {
    {'j', "jobs", "N", "how many runs at a time (also -j N; default: as many as there are processors for it)"},
    {'b', "block", "SIZE", "about the bytes of a piece: bytes, of K or of M (default: 1M to 16M)"},
    {'r', "records", "BYTES", "cut between records of this many bytes, not between lines"},
    {'n', "header", "N", "give the first N lines of the input to every run; of the first N lines of its output "
                         "print those of the first run alone"},
    {'l', "headless", NULL, "with --header: the command prints no header, so print all lines"},
    {'u', "unordered", NULL, "print the output of each piece when it is there, in any order"},
    {'m', "merge", "COMMAND", "give the outputs, as files, to this command of the shell's, such as 'sort -m'"},
    {'f', "found", NULL, "status 1 means that nothing was found, as grep's does, and is no failure unless no run "
                         "finds anything; so is it for grep and rg without this option"},
    {'c', "check", NULL, "run the command on the whole input, too, and tell whether the output is the same"},
    {0}};

static const struct command_option tune[] = {
    {'d', "dir", "DIRECTORY", "measure the file system of this directory; may be repeated (default: the "
                              "usual ones for temporary files, and HOME)"},
    {'s', "system", NULL, "keep the result for all users, in /etc/asf/tune"},
    {'o', "output", "FILE", "keep it in FILE, to look at"},
    {'n', "dry-run", NULL, "keep nothing"},
    {'w', "show", NULL, "measure nothing, show the table that the library uses"},
    {'c', "check", NULL, "measure nothing, tell whether that table is still of this machine: exit status 0, "
                         "or 1 when the kernel, the processor or the library has changed, or when there is "
                         "no table"},
    {'j', "json", NULL, "show the result for programs"}, {0}};

static const struct command_option shm_ls[] = {
    {'a', "all", NULL, "everybody's segments, not this user's alone"},
    {'j', "json", NULL, "list them for programs"},
    {'l', "leaked", NULL, "only those that nobody has, and whose creator has ended"}, {0}};

static const struct command_option shm_rm[] = {
    {'n', "dry-run", NULL, "remove nothing, name what would be removed (also -n)"},
    {'m', "mine", NULL, "those that are this user's"},
    {'l', "leaked", NULL, "those that nobody has, and whose creator has ended"},
    {'o', "older", "AGE", "those that are at least so old and that nobody has (90s, 10m, 12h, 7d)"}, {0}};

static const struct command_option shm_pack[] = {
    {'m', "min", "COUNT", "leave shorter arrays as they are (default: 1000)"},
    {'n', "name", "PREFIX", "begin the labels with it"},
    {'b', "backend", "posix|sysv", "where the segments are made"},
    {'o', "mode", "MODE", "their permissions, less the umask (default: 0600)"}, {0}};

#define RECORD_SOURCE                                                                                        \
    {'s', "store", "DIRECTORY", "where formats are that the records only name"},                             \
    {'m', "memory", "SIZE", "what the formats of a stream may take: bytes, of K or of M (64M)"}

static const struct command_option record_formats[] = {
    {'j', "json", NULL, "print them for programs"}, RECORD_SOURCE, {0}};

static const struct command_option record_dump[] = {
    {'j', "json", NULL, "a line a record, for programs"},
    {'n', "number", "N", "begin with the N-th record (from 0)"},
    {'c', "count", "N", "print no more than so many"}, RECORD_SOURCE, {0}};

static const struct command_option record_convert[] = {
    {'i', "index", NULL, "write an index, too"},
    {'o', "output", "FILE", "write to FILE, not to standard output"}, RECORD_SOURCE, {0}};

static const struct command_option none[] = {{0}};

#define EXIT_OF_RUN                                                                                          \
    "Exit status: 125 when asf itself fails, 126 when PROGRAM cannot be run, 127 when\n"                     \
    "it, or its interpreter, is not found; otherwise that of PROGRAM"

const struct command asf__commands[] = {
    {"run", "[OPTION]... [--] PROGRAM [ARGUMENT]...", "run a program with its stdio served by asf",
     "Run PROGRAM with its stdio served by asf.\n", EXIT_OF_RUN ".\n", run, A_COMMAND},
    {"stat", "[OPTION]... [--] PROGRAM [ARGUMENT]...",
     "run a program, and tell what its I/O was, what asf served of it, and what to do",
     "Run PROGRAM with its stdio served by asf.  When it has ended, tell of each of its\n"
     "processes and streams how many bytes and calls there were, how many calls needed no\n"
     "system call, and how many system calls asf and libc make for the same; and advise.\n"
     "Counting takes time: the program is slower than by 'asf run'.\n",
     EXIT_OF_RUN ",\nor 128 + N when signal N ended it.\n", stat, A_COMMAND},
    {"compare", "[OPTION]... [--] PROGRAM [ARGUMENT]...",
     "run a program with and without asf; compare its output and the time it takes",
     "Run PROGRAM several times, with asf and without, in random order, and compare its\n"
     "output byte for byte and the time it takes.  Standard input that is no terminal\n"
     "is kept in a temporary file, and given to each run.\n",
     "Exit status: 1 when they differ, 2 when PROGRAM cannot be run, 125 when asf itself\n"
     "fails; otherwise that of PROGRAM, 128 + N when signal N ended it.\n", compare, A_COMMAND},
    {"pipe", "[OPTION]... 'COMMAND | COMMAND...'",
     "run a pipeline, with rings in shared memory beside its pipes",
     "Run a pipeline of the shell's with the I/O of its commands served by asf, and\n"
     "a ring in shared memory beside each pipe: two neighbours that asf serves pass\n"
     "their data through it, all others use the pipe.\n",
     "Commands may have quotes, variables and redirections.  A text with more in it\n"
     "(lists, groups, loops, substituted commands, here-documents) runs as it is, with\n"
     "its commands served, and without rings.\n"
     "\n"
     "Each command that a signal ends is named on stderr, unless it is SIGPIPE or SIGINT.\n"
     "\n"
     "Exit status: that of the last command, 128 + N when signal N ended it; 125 when\n"
     "asf itself fails.\n", pipe, NO_OPERANDS},
    {"parallel", "[OPTION]... [--] COMMAND [ARGUMENT]... <FILE", "run a filter on all processors, each run on a piece of the input",
     "Cut standard input into pieces of whole lines, filter each by a run of COMMAND, several\n"
     "at a time, and print the outputs in the order of the pieces.  The runs are served by\n"
     "asf.  COMMAND must treat each line by itself, as grep, sed s///, cut and tr do; nl,\n"
     "wc, uniq and head do not.  --check tells for a given input.\n",
     "Exit status: 0, or that of the first run, in order, that fails; the runs behind it are\n"
     "stopped.  125 when asf itself fails, 126 when COMMAND cannot be run, 127 when it is not\n"
     "found.  The manual page asf-parallel(1) has the details.\n", parallel, A_COMMAND},
    {"shm", "COMMAND [OPTION]... [ARGUMENT]...", "list, remove, expand and pack segments of shared memory",
     "Segments of shared memory that hold whole arrays.\n",
     "Exit status: 0, or 1 when a segment could not be removed, or 125 after any other\n"
     "failure.  The manual page asf-shm(1) has the details.\n", none, COMMAND_NAMES},
    {"shm ls", "[OPTION]...", "list the segments: owner, mode, size, times, processes, label",
     "List this user's segments: owner, mode, size, times, processes, label.\n", NULL, shm_ls, NO_OPERANDS},
    {"shm rm", "[OPTION]... [LABEL]...", "remove segments by their label, or by what they have in common",
     "Remove segments by their whole label, as ls prints it, or those of which all that\n"
     "the options say holds.  Root removes everybody's, others their own.\n", NULL, shm_rm, LABELS},
    {"shm expand", "[FILE]", "copy text, with each 'shmids LABEL' replaced by the numbers",
     "Copy text, with each 'shmids LABEL' replaced by the numbers.\n", NULL, none, FILES},
    {"shm pack", "[OPTION]... [FILE]", "copy text, with each long array of numbers put into a new segment",
     "Copy text, with each array of COUNT numbers or more put into a new segment, and\n"
     "replaced by 'shmids LABEL'.\n", NULL, shm_pack, FILES},
    {"tune", "[OPTION]...", "measure this machine's file systems, for the choice of stream modules",
     "Measure what reading, mapping, writing and copying cost on this machine's file\n"
     "systems, in less than 20 seconds, and keep the result where the library looks for\n"
     "it: in ~/.config/asf/tune.  Without it the library goes by figures of its own.\n",
     "Remove the file to forget what was measured.  The manual page asf-tune(1) has the\n"
     "details.\n", tune, NO_OPERANDS},
    {"record", "COMMAND [OPTION]... [FILE]", "show, print and convert records (libasf_record)",
     "Files and streams of records.  Without FILE, or for -, it is standard input.\n",
     "Exit status: 0, or 1 when the records end where they should not, or 125 after any\n"
     "other failure.  The manual page asf-record(1) has the details.\n", none, COMMAND_NAMES},
    {"record formats", "[OPTION]... [FILE]", "print the formats: each field with its place, kind and size",
     "Print the formats: each field with its place, its kind and its size.\n", NULL, record_formats, FILES},
    {"record dump", "[OPTION]... [FILE]", "print the records",
     "Print the records: a line a field.\n", NULL, record_dump, FILES},
    {"record convert", "[OPTION]... [FILE]", "write the same records in the layout of this machine",
     "Write the same records in the layout of this machine.\n", NULL, record_convert, FILES},
    {"completion", "bash|zsh|fish", "print the completions of asf for a shell",
     "Print the completions of asf for a shell: source <(asf completion bash).\n", NULL, none, SHELLS},
    {"help", "[COMMAND]", "print this, or the help of a command (also --help)",
     "Print the list of commands, or the help of one.\n", NULL, none, COMMAND_NAMES},
    {"version", "", "print the version (also --version, -V)", "Print the version.\n", NULL, none, NO_OPERANDS},
    {0}};

#define OPTION(KEY, VALUES, TEXT, SET) {#KEY, VALUES, TEXT},
const struct command_key asf__keys[] = {
#include "lib/sys/options.def"
    {0}};
