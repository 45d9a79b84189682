/* SPDX-License-Identifier: MIT
 *
 * command_pipe.c - "asf pipe": runs a pipeline whose commands are served, with a ring in shared memory for
 * each pipe.
 *
 * A shell starts each command, and exec replaces the shell by it.  A text that is not just plain commands
 * and bars goes to one shell as a whole, and its pipes have no rings.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"
#include "lib/shm/ring.h"
#include "lib/text/shell_text.h"

enum { MAX_COMMANDS = 256 };

struct stage {
    const char *text;    /* the command as given */
    const char *command; /* the text for the shell, with "exec" inserted if possible */
    pid_t process;
    int status; /* wait status */
};

/* --- parsing --------------------------------------------------------------------------- */

static bool is_blank(const char *text) {
    return text[strspn(text, " \t")] == '\0';
}

static bool is_negated(const char *text) {
    const char *word = text + strspn(text, " \t");
    return word[0] == '!' && (word[1] == ' ' || word[1] == '\t');
}

/* Returns the number of commands; 0: the text is not just plain commands and bars. */
static int split_pipeline(const char *text, struct stage *stages) {
    int count = 0;
    if (is_negated(text))
        return 0;
    for (;;) {
        const char *end = asf__shell_bar(text);
        if (!end || count == MAX_COMMANDS)
            return 0;
        char *command = asf__text("%.*s", (int)(end - text), text);
        if (is_blank(command))
            return 0;
        char *becoming =
            asf__shell_becoming(command); /* the ring expects the program's process, not a shell's */
        stages[count++] = (struct stage){.text = command, .command = becoming ? becoming : command};
        if (!*end)
            return count;
        text = end + 1;
    }
}

/* --- starting the commands ------------------------------------------------------------- */

struct connection {
    int read, write, ring; /* -1: no ring */
    char option[ASF_RING_OPTION];
};

void asf__make_pipe(const char *command, int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) == 0) {
        ends[1] = asf__above_stderr(ends[1]);
        ends[0] = asf__above_stderr(ends[0]);
    } else {
        ends[0] = -1;
    }
    if (ends[0] < 0 || ends[1] < 0)
        asf__fail("%s: pipe2: %s; raise 'ulimit -n'", command, strerror(errno));
}

static struct connection make_connection(bool rings) {
    int ends[2];
    asf__make_pipe("pipe", ends);
    struct connection b = {.read = ends[0], .write = ends[1], .ring = -1};
    if (rings)
        b.ring = asf__ring_offer(b.read, b.option, sizeof b.option);
    return b;
}

/* The caller's action for SIGCHLD, which the commands get back.  While SIGCHLD is ignored, wait() returns no
 * status. */
static void (*sigchld_action)(int);

static void exec_shell(const char *command, const struct connection *in, const struct connection *out,
                       const char *options) {
    if (in && in->ring >= 0)
        options = asf__join_list(options, ',', in->option);
    if (out && out->ring >= 0)
        options = asf__join_list(options, ',', out->option);
    if ((in && dup2(in->read, STDIN_FILENO) < 0) || (out && dup2(out->write, STDOUT_FILENO) < 0))
        asf__fail("pipe: dup2: %s; raise 'ulimit -n'", strerror(errno));
    asf__serve(UNIX_LIBRARY, options);
    signal(SIGCHLD, sigchld_action);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    asf__fail("pipe: /bin/sh: exec: %s; install a shell", strerror(errno));
}

static void expect_process(const struct connection *b, enum asf_ring_end end, pid_t process) {
    if (b && b->ring >= 0)
        asf__ring_expect(b->ring, end, process);
}

static pid_t fork_command(const char *command, const struct connection *in, const struct connection *out,
                          const char *options) {
    pid_t process = fork();
    if (process < 0)
        asf__fail("pipe: fork: %s; end some processes", strerror(errno));
    if (process == 0)
        exec_shell(command, in, out, options);
    expect_process(in, ASF_RING_READER, process);
    expect_process(out, ASF_RING_WRITER, process);
    return process;
}

static int status_of(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Report fatal signals, except SIGPIPE and SIGINT, which often end pipelines. */
static void warn_of_signal(const struct stage *m) {
    int sig = WIFSIGNALED(m->status) ? WTERMSIG(m->status) : 0;
    const char *text = m->text + strspn(m->text, " \t");
    size_t n = strlen(text);
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    if (sig != 0 && sig != SIGPIPE && sig != SIGINT)
        asf__warn("pipe: %.*s: %s", (int)n, text, strsignal(sig));
}

static void wait_for_all(struct stage *stages, int count) {
    int status;
    pid_t process;
    while ((process = wait(&status)) > 0 || errno == EINTR)
        for (int i = 0; i < count && process > 0; i++)
            if (process == stages[i].process) {
                stages[i].status = status;
                warn_of_signal(&stages[i]);
            }
}

/* The status of the last command; with --pipefail, of the last command that failed. */
static int pipeline_status(const struct stage *stages, int count, bool pipefail) {
    int i = count - 1;
    while (pipefail && i > 0 && stages[i].status == 0)
        i--;
    return status_of(stages[i].status);
}

/* Returns whether the limit allows a descriptor for each ring, and 32 more. */
static bool can_have_rings(int count) {
    enum { SPARE_DESCRIPTORS = 32 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)count + SPARE_DESCRIPTORS <= limit.rlim_cur;
}

/* The rings stay open in this process until all commands have ended. */
static void run_pipeline(struct stage *stages, int count, const char *options, bool rings) {
    struct connection connections[2], *in = NULL;
    asf__preload(UNIX_LIBRARY); /* fails before any command starts */
    sigchld_action = signal(SIGCHLD, SIG_DFL);
    rings = rings && can_have_rings(count);
    for (int i = 0; i < count; i++) {
        struct connection *out = i + 1 < count ? &connections[i % 2] : NULL;
        if (out)
            *out = make_connection(rings);
        stages[i].process = fork_command(stages[i].command, in, out, options);
        if (in)
            close(in->read);
        if (out)
            close(out->write);
        in = out;
    }
    wait_for_all(stages, count);
}

int asf__pipeline(int argc, char **argv) {
    const char *options = "rings=on";
    bool rings = true, pipefail = false;
    struct stage stages[MAX_COMMANDS];
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of("pipe"), NULL)) != -1;) {
        if (option == 'p')
            rings = false;
        else if (option == 'f')
            pipefail = true;
        else if (option == 'o')
            asf__check_keys("pipe", optarg), options = asf__join_list(options, ',', optarg);
        else if (option == 'h')
            return asf__help_of("pipe");
        else
            asf__bad_option("pipe", option, argv);
    }
    if (optind + 1 != argc)
        asf__fail("pipe: give the pipeline as one argument, in quotes; see 'asf pipe --help'");
    if (!rings)
        options = asf__join_list(options, ',', "rings=off");
    int count = split_pipeline(argv[optind], stages);
    if (count == 0 && pipefail)
        asf__fail(
            "pipe: --pipefail: the text is not a plain pipeline, so one shell runs it; use 'set -o pipefail' "
            "in a shell that has it");
    if (count <= 1)
        stages[0] = (struct stage){.text = argv[optind], .command = argv[optind]}, count = 1;
    run_pipeline(stages, count, options, rings);
    return pipeline_status(stages, count, pipefail);
}
