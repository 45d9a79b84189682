/* SPDX-License-Identifier: MIT
 *
 * messages_cases.c - libc functions that write on our streams (error, warn, perror, psignal, getopt,
 * assert), and their order relative to other output.
 */
#include "transcript.h"

#ifdef __GLIBC__
#include <argp.h>
#endif
#include <err.h>
#include <error.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <syslog.h>

#undef NDEBUG
#include <assert.h>

CASE(perror_and_psignal) {
    errno = ENOENT;
    perror("perror");
    errno = EACCES;
    perror(NULL);
    errno = 0;
    perror("");
    psignal(SIGTERM, "psignal");
    psignal(12345, NULL);
    siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};
    psiginfo(&info, "psiginfo");
}

CASE(error_flushes_standard_output) {
    printf("output before. ");
    error(0, ENOENT, "an error with %d", 5);
    printf("output between. ");
    error(0, 0, "no errno");
#ifdef __GLIBC__ /* musl lacks this interface */
    error_at_line(0, EIO, "file.c", 12, "at a line");
    say("count %d", error_message_count);
#endif
    printf("output after. ");
    error(3, EPERM, "this one exits");
}

CASE(warnings) {
    printf("output before. ");
    errno = ENOSPC;
    warn("warn %s", "text");
    warnx("warnx %d", 7);
    errno = EBADF;
    warn(NULL);
    printf("output after. ");
    errx(4, "the end");
}

CASE(warnings_in_a_merged_file) {
    int fd = open("log", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    run_case("warnings", -1, fd, fd);
    note_file("log");
    lseek(fd, 0, SEEK_SET);
    ftruncate(fd, 0);
    run_case("error_flushes_standard_output", -1, fd, fd);
    note_file("log");
}

CASE(getopt_complains) {
    static char *arguments[] = {(char *)"cases",    (char *)"-x", (char *)"-a", (char *)"--no-such",
                                (char *)"--long=5", (char *)"-b", NULL};
    static const struct option longs[] = {{"long", no_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
    printf("output before ");
    int c;
    while ((c = getopt_long(6, arguments, "ab:", longs, NULL)) != -1)
        say("option %d", c);
    printf("output after");
}

CASE(a_failed_assertion) {
    printf("unflushed output");
    assert(errno == 12345);
}

CASE(an_abort) {
    printf("unflushed output");
    fputs("on standard error", stderr);
    abort();
}

CASE(messages_when_stderr_is_buffered) {
    static char buffer[4096];
    setvbuf(stderr, buffer, _IOFBF, sizeof buffer);
    fputs("first ", stderr);
    errno = ENOENT;
    perror("second");
    warnx("third");
    kernel_write(2, "[raw]");
    error(0, 0, "fourth");
    kernel_write(2, "[raw]");
    fputs("fifth\n", stderr);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(messages_to_another_stream) {
    FILE *f = fopen("errors", "w"), *real = stderr;
    stderr = f;
    errno = ENOENT;
    perror("into the file");
    warnx("also into the file");
    error(0, 0, "and this");
    fprintf(stderr, "%s\n", "by fprintf");
    stderr = real;
    CALL(fclose(f));
    note_file("errors");
    fputs("real\n", stderr);
}
#endif

CASE(messages_on_a_closed_stderr) {
    CALL(fclose(stderr));
    errno = ENOENT;
    perror("lost");
    printf("output");
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(malloc_writes_xml) {
    FILE *f = fopen("info", "w");
    CALL(malloc_info(0, f));
    CALL(fclose(f));
    struct stat st;
    stat("info", &st);
    say("something %d", st.st_size > 100);
    unlink("info");
}

CASE(help_of_argp) {
    static const struct argp_option options[] = {
        {"verbose", 'v', 0, 0, "Say more", 0}, {"output", 'o', "FILE", 0, "Write to FILE", 0}, {0}};
    static const struct argp argp = {options, NULL, "ARGUMENT", "A program.", NULL, NULL, NULL};
    argp_help(&argp, stdout, ARGP_HELP_LONG | ARGP_HELP_USAGE, (char *)"cases");
}
#endif

CASE(syslog_to_stderr) {
    openlog("cases", LOG_PERROR | LOG_NDELAY, LOG_USER);
    fputs("before\n", stderr);
    syslog(LOG_INFO, "a message %d", 5);
    fputs("after\n", stderr);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(standard_streams_by_other_names) {
    FILE *out = stdout;
    fputs("by a copy of the pointer ", out);
    stdout = NULL;
    stdout = out;
    puts("and by the name");
}
#endif
