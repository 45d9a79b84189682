/* SPDX-License-Identifier: MIT
 *
 * process_steps.c - steps of random sequences: processes and programs.
 */
#include "tests/interfaces/unix/sequences.h"

#include <spawn.h>
#include <sys/wait.h>
#include <wordexp.h>

static void await(pid_t child) {
    int status = -1;
    if (child < 0)
        return;
    RESULT("\nparent: waitpid", waitpid(child, &status, 0) == child ? status : -1);
}

static void do_fork(const struct step *s) {
    say(" %u", s->children);
    pid_t child = fork();
    if (child == 0)
        run_child(s, false);
    await(child);
}

static void do_safe_fork(const struct step *s) {
    say(" %u", s->children);
    pid_t child = _Fork();
    if (child == 0)
        run_child(s, true);
    await(child);
}

static void do_vfork(const struct step *s) {
    unsigned at = range.at, end = range.end;
    uint32_t ending = range.ending;
    say(" %u", s->children);
    pid_t child = vfork();
    if (child == 0)
        run_child(s, true);
    range.at = at;
    range.end = end;
    range.ending = ending;
    await(child);
}

/* Starts a program that runs the child's steps. */
static void do_spawn(const struct step *s) {
    posix_spawn_file_actions_t actions;
    int from = number_of(s->word[0]), to = number_of(s->word[1]);
    pid_t child = -1;
    char **argv = arguments_from(range.at + 1, range.at + 1 + s->children, s->word[WORDS - 1]);
    posix_spawn_file_actions_init(&actions);
    switch (s->word[2] % 4) {
    case 0:
        say(" close %d", to);
        posix_spawn_file_actions_addclose(&actions, to);
        break;
    case 1:
        say(" open %d", to);
        posix_spawn_file_actions_addopen(&actions, to, path_of(s->word[3]), O_RDONLY, 0);
        break;
    default:
        say(" dup2 %d %d", from, to);
        posix_spawn_file_actions_adddup2(&actions, from, to);
    }
    int r = s->word[4] % 2
                ? posix_spawn(&child, program, s->word[5] % 3 ? &actions : NULL, NULL, argv, environ)
                : posix_spawnp(&child, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (r == 0)
        await(child);
    else
        say(" posix_spawn=%d", r);
}

/* Executes a program that inherits the descriptors and runs the steps that follow. */
static void do_exec(const struct step *s) {
    char **argv = arguments_from(range.at + 1, range.end, range.ending);
    int fd;
    publish();
    switch (s->word[0] % 5) {
    case 0:
        execl(program, argv[0], argv[1], argv[2], argv[3], argv[4], argv[5], argv[6], (char *)NULL);
        break;
    case 1:
        execve(program, argv, environ);
        break;
    case 2:
        execvp(program, argv);
        break;
    case 3:
        if ((fd = open(program, O_RDONLY | O_CLOEXEC)) >= 0)
            fexecve(fd, argv, environ);
        break;
    default:
        execv(program, argv);
    }
    RESULT("exec", -1);
}

static const char *const commands[] = {
    "head -c 10 >>o2",
    "read x; echo \"$x\" >>o2",
    "head -n 2 >>o2",
    "head -c 7 <&3 >>o2",
    "read x <&4; echo \"$x\" >>o2",
    "echo written",
    "echo written >&2",
    "echo written >>a",
    ": >c",
    "exit 3",
};

static void do_system(const struct step *s) {
    const char *command = PICK(commands, s->word[0]);
    say(" %s", command);
    RESULT("system", system(command));
}

static void do_popen(const struct step *s) {
    char text[300];
    bool reads = s->word[0] % 3;
    const char *command = reads ? (s->word[1] % 2 ? "head -c 10" : "read x; echo \"$x\"") : "cat >>o2";
    say(" %s", command);
    errno = 0;
    FILE *p = popen(command, reads ? (s->word[2] % 2 ? "r" : "re") : "w");
    say_result("popen", p ? fileno(p) : -1);
    if (!p)
        return;
    if (reads)
        say_bytes(text, fread(text, 1, sizeof text, p));
    else
        RESULT("fprintf", fprintf(p, "popen %u\n", s->word[3]));
    RESULT("pclose", pclose(p));
}

static void do_wordexp(const struct step *s) {
    wordexp_t w;
    (void)s;
    int r = wordexp("$(head -c 10)", &w, 0);
    say(" wordexp=%d", r);
    if (r != 0)
        return;
    for (size_t i = 0; i < w.we_wordc; i++)
        say_bytes(w.we_wordv[i], strlen(w.we_wordv[i]));
    wordfree(&w);
}

static void do_daemon(const struct step *s) {
    RESULT("daemon", daemon(1, (int)(s->word[0] % 2)));
    set_alarm(); /* after daemon() this is another process, without the alarm */
}

const struct kind process_kinds[] = {
    {"fork", do_fork, 22, PARENT},
    {"_Fork", do_safe_fork, 10, PARENT | SAFE},
    {"vfork", do_vfork, 10, PARENT | SAFE},
    {"spawn", do_spawn, 14, PARENT | SLOW},
    {"exec", do_exec, 10, SLOW},
    {"system", do_system, 14, SLOW},
    {"popen", do_popen, 14, SLOW},
    {"wordexp", do_wordexp, 5, SLOW},
    {"daemon", do_daemon, 3, SLOW | TOP},
    {NULL, NULL, 0, 0},
};
