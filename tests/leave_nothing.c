/* SPDX-License-Identifier: MIT
 *
 * leave_nothing COMMAND [ARGUMENT]...: runs a test, and fails it if it leaves files in /tmp or $TMPDIR,
 * segments of shared memory, System V objects, or processes.
 *
 * Each test has its own directories, so tests can run at the same time, and other programs do not affect
 * them. If the kernel permits it, a namespace mounts such directories over /tmp and /dev/shm, and the test
 * has its own System V objects. Otherwise only $TMPDIR and processes are checked. This process is a child
 * subreaper: it becomes the parent of every orphaned process of the test.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char files[PATH_MAX], segments[] = "/dev/shm/asf-test.XXXXXX";
static int left;

static void __attribute__((noreturn)) give_up(const char *what) {
    fprintf(stderr, "leave_nothing: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void tell(const char *kind, const char *what) {
    printf("left behind, %s: %s\n", kind, what);
    left++;
}

/* --- the test's own directories ------------------------------------------------------------ */

static void make_directories(void) {
    const char *parent = getenv("TMPDIR");
    snprintf(files, sizeof files, "%s/asf-test.XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(files) || chmod(files, 01777) != 0)
        give_up(files);
    if (!mkdtemp(segments))
        segments[0] = '\0';
    else
        chmod(segments, 01777);
}

static bool is_below_tmp(const char *text) {
    return strstr(text, "/tmp/");
}

/* Returns whether a path that the test is given, such as the build tree or a compiler's cache, is in /tmp. */
static bool needs_tmp(char **command) {
    char here[PATH_MAX];
    bool needs = !getcwd(here, sizeof here - 1) || is_below_tmp(strcat(here, "/"));
    for (char **word = command; *word; word++)
        needs = needs || is_below_tmp(*word);
    for (char **variable = environ; *variable; variable++)
        needs = needs || (strncmp(*variable, "TMPDIR=", 7) != 0 && is_below_tmp(*variable));
    return needs;
}

static void enter_directories(char **command) {
    const char *name = files;
    bool apart = unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    if (apart && segments[0])
        mount(segments, "/dev/shm", NULL, MS_BIND, NULL);
    if (apart && !needs_tmp(command) && mount(files, "/tmp", NULL, MS_BIND, NULL) == 0)
        name = "/tmp";
    setenv("TMPDIR", name, 1);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
    (void)status, (void)type, (void)at;
    remove(path);
    return 0;
}

/* Reports the directory's entries, before it is removed. */
static void look_into(const char *kind, const char *path) {
    DIR *directory = path[0] ? opendir(path) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            tell(kind, entry->d_name);
    if (directory)
        closedir(directory);
    if (path[0])
        nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* --- System V's objects ------------------------------------------------------------------------ */

/* Reports each System V object that is left: the lines after the headings. */
static void look_at_objects(void) {
    static const char *const lists[] = {"/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg"};
    char line[400];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        FILE *list = fopen(lists[i], "r");
        for (int n = 0; list && fgets(line, sizeof line, list); n++)
            if (n > 0)
                tell(lists[i], strtok(line, "\n"));
        if (list)
            fclose(list);
    }
}

/* --- processes ------------------------------------------------------------------------------------ */

static void end_process(int pid) {
    char text[200], path[40];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    FILE *file = fopen(path, "r");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = '\0';
    tell("a process", text);
    kill(pid, SIGKILL);
}

static void end_children(void) {
    char path[60];
    int pid;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%d", &pid) == 1)
        end_process(pid);
    if (children)
        fclose(children);
}

/* Waits a moment for processes that have been told to end, and reports the others. */
static void look_at_processes(void) {
    enum { MOMENTS = 200, MOST = 400 };
    for (int tries = 0; tries < MOST; tries++) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            continue;
        if (pid < 0)
            return;
        if (tries >= MOMENTS)
            end_children();
        usleep(10000);
    }
    tell("a process", "one that does not end");
}

/* --- the test ---------------------------------------------------------------------------------------- */

static pid_t start(char **command) {
    pid_t test = fork();
    if (test < 0)
        give_up("fork");
    if (test > 0)
        return test;
    enter_directories(command);
    execvp(command[0], command);
    give_up(command[0]);
}

static int wait_for(pid_t test) {
    int status;
    for (pid_t pid = 0; pid != test;) {
        pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            give_up("waitpid");
    }
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    make_directories();
    bool own_objects = unshare(CLONE_NEWIPC) == 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t test = start(argv + 1);
    signal(SIGINT, SIG_IGN); /* the signal ends the test */
    signal(SIGQUIT, SIG_IGN);
    int status = wait_for(test);
    look_at_processes();
    look_into("a file", files);
    look_into("a segment", segments);
    if (own_objects)
        look_at_objects();
    fflush(stdout);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status) == 0 && left ? 1 : WEXITSTATUS(status);
}
