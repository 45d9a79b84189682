/* SPDX-License-Identifier: MIT
 *
 * helpers_cases.c - libc functions that take one of our FILEs, write on the standard streams or start a
 * process, and that libc's own code implements.
 */
#include "transcript.h"

#ifdef __GLIBC__
#include <argp.h>
#include <execinfo.h>
#include <gshadow.h>
#include <printf.h>
#endif
#include <err.h>
#include <error.h>
#include <fmtmsg.h>
#include <grp.h>
#include <malloc.h>
#include <mntent.h>
#include <netdb.h>
#include <pty.h>
#include <pwd.h>
#include <shadow.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <syslog.h>
#include <wordexp.h>

/* --- entries of system files ----------------------------------------------------------- */

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(entries_into_the_callers_memory) {
    FILE *f = fopen("passwd", "w+");
    fputs("# comment\n\none:x:1:2:One:/home/one:/bin/sh\n  two:x:3:4:Two:/home/two:/bin/sh\nlast\n", f);
    rewind(f);
    char small[10], large[200];
    struct passwd p, *q;
    CALL(fgetpwent_r(f, &p, small, sizeof small, &q));
    CALL(ftell(f));
    CALL(fgetpwent_r(f, &p, large, sizeof large, &q));
    say("%s %d %s", p.pw_name, (int)p.pw_uid, p.pw_shell);
    CALL(fgetpwent_r(f, &p, large, sizeof large, &q));
    say("%s %d", p.pw_name, (int)p.pw_uid);
    CALL(fgetpwent_r(f, &p, large, sizeof large, &q));
    note_state(f);
    fclose(f);
}

CASE(group_entries_into_the_callers_memory) {
    put_text("group", "one:x:1:a,b,c\ntwo:x:2:\n");
    FILE *f = fopen("group", "r");
    char small[8], large[200];
    struct group g, *h;
    CALL(fgetgrent_r(f, &g, small, sizeof small, &h));
    CALL(fgetgrent_r(f, &g, large, sizeof large, &h));
    say("%s %d %s %s", g.gr_name, (int)g.gr_gid, g.gr_mem[0], g.gr_mem[2]);
    CALL(ftell(f));
    CALL(fgetgrent_r(f, &g, large, sizeof large, &h));
    CALL(fgetgrent_r(f, &g, large, sizeof large, &h));
    fclose(f);
}

CASE(shadow_entries_into_the_callers_memory) {
    put_text("shadow", "one:!:1:2:3:4:5:6:7\ntwo:*:::::::\n");
    FILE *f = fopen("shadow", "r");
    char large[200];
    struct spwd s, *t;
    CALL(fgetspent_r(f, &s, large, sizeof large, &t));
    say("%s %ld", s.sp_namp, s.sp_max);
    CALL(fgetspent_r(f, &s, large, sizeof large, &t));
    say("%s %ld", s.sp_namp, s.sp_max);
    CALL(fgetspent_r(f, &s, large, sizeof large, &t));
    fclose(f);
}

CASE(shadow_groups) {
    FILE *f = fopen("gshadow", "w+");
    char *one[] = {(char *)"a", (char *)"b", NULL}, *none[] = {NULL};
    struct sgrp s = {(char *)"users", (char *)"!", one, none};
    CALL(putsgent(&s, f));
    s.sg_namp = (char *)"more";
    CALL(putsgent(&s, f));
    rewind(f);
    struct sgrp *t = fgetsgent(f), r;
    char large[200];
    say("%s %s", t->sg_namp, t->sg_adm[1]);
    CALL(fgetsgent_r(f, &r, large, sizeof large, &t));
    say("%s", r.sg_namp);
    CALL(fgetsgent_r(f, &r, large, sizeof large, &t));
    fclose(f);
    note_file("gshadow");
}
#endif

CASE(mount_entries_into_the_callers_memory) {
    put_text("table", "# none\n/dev/one /mnt/one ext4 rw 0 1\n/dev/two /mnt/t\\040wo ext4 ro,user 0 2\n");
    FILE *f = fopen("table", "r");
    struct mntent m;
    char large[200];
    while (getmntent_r(f, &m, large, sizeof large))
        say("%s %s %s %d", m.mnt_fsname, m.mnt_dir, hasmntopt(&m, "user") ? "user" : "-", m.mnt_passno);
    note_state(f);
    CALL(endmntent(f));
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* --- argp -------------------------------------------------------------------------------- */

static error_t parse_option(int key, char *value, struct argp_state *state) {
    switch (key) {
    case 'o':
        say("option o %s", value);
        return 0;
    case 'e':
        argp_error(state, "bad value %d", 5);
        return 0;
    case 'f':
        argp_failure(state, 0, ENOENT, "cannot do %s", "it");
        return 0;
    case 'h':
        argp_state_help(state, stdout, ARGP_HELP_SEE | ARGP_HELP_USAGE);
        return 0;
    case 'u':
        argp_usage(state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp_option argp_options[] = {
    {"out", 'o', "FILE", 0, "Write to FILE", 0}, {"error", 'e', 0, 0, "An error", 0},
    {"fail", 'f', 0, 0, "A failure", 0},         {"state", 'h', 0, 0, "Help", 0},
    {"usage-now", 'u', 0, 0, "Usage", 0},        {0}};
static const struct argp argp = {argp_options, parse_option, "ARGUMENT", "A program.\vMore.",
                                 NULL,         NULL,         NULL};

static void parse(const char *option, unsigned flags) {
    char *arguments[] = {(char *)"cases", (char *)option, NULL};
    printf("output before %s. ", option);
    CALL(argp_parse(&argp, 2, arguments, flags, NULL, NULL));
    printf("output after.\n");
}

static void parse_and_exit(void) {
    parse("--help", 0);
}

static void parse_the_unknown(void) {
    parse("--unknown", 0);
}

CASE(arguments_by_argp) {
    static const char *const options[] = {"-ofile", "-e",      "-f", "-h",   "-u",
                                          "--help", "--usage", "-x", "--out"};
    for (int i = 0; i < 9; i++)
        parse(options[i], ARGP_NO_EXIT);
    fflush(stdout);
    child(parse_and_exit);
    child(parse_the_unknown);
}
#endif

/* --- messages ---------------------------------------------------------------------------- */

static void warn_by_list(const char *format, ...) {
    va_list ap;
    errno = EPERM;
    va_start(ap, format);
    vwarn(format, ap);
    va_end(ap);
    va_start(ap, format);
    vwarnx(format, ap);
    va_end(ap);
}

static void end_by_list(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    errno = EPERM;
    verr(3, format, ap);
}

static void end_without_errno(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    verrx(4, format, ap);
}

static void err_child(void) {
    printf("unflushed. ");
    end_by_list("by verr %d", 1);
}

static void errx_child(void) {
    printf("unflushed. ");
    end_without_errno("by verrx %d", 2);
}

CASE(warnings_by_argument_lists) {
    printf("before. ");
    warn_by_list("text %d %s", 5, "more");
    fflush(stdout);
    child(err_child);
    child(errx_child);
}

#ifdef __GLIBC__ /* musl lacks this interface */
static void print_name(void) {
    fputs("[name] ", stderr);
}

CASE(error_with_a_name_of_its_own) {
    error_print_progname = print_name;
    error_one_per_line = 1;
    printf("before. ");
    error(0, ENOENT, "one");
    error_at_line(0, 0, "file", 1, "two");
    error_at_line(0, 0, "file", 1, "not told again");
    printf("after. ");
}

extern void __assert(const char *, const char *, int);

static void assert_child(void) {
    printf("unflushed");
    __assert("0 == 1", "file.c", 5);
}

static void perror_child(void) {
    extern void __assert_perror_fail(int, const char *, unsigned, const char *);
    printf("unflushed");
    __assert_perror_fail(ENOENT, "file.c", 6, "function");
}

CASE(assertions_by_other_names) {
    child(assert_child);
    child(perror_child);
}
#endif

CASE(messages_of_other_kinds) {
    printf("before. ");
    h_errno = HOST_NOT_FOUND;
    herror("herror");
    fmtmsg(MM_PRINT, "asf:test", MM_WARNING, "a text", "an action", "asf:test:1");
    printf("after. ");
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* Notes no numbers, which depend on the allocator. */
CASE(statistics_of_the_heap) {
    char line[100];
    FILE *f = fopen("file", "w+"), *real = stderr;
    fputs("before\n", f);
    stderr = f;
    malloc_stats();
    stderr = real;
    rewind(f);
    while (fgets(line, sizeof line, f))
        say("%s", strtok(line, "=:\n"));
    unlink("file");
}
#endif

static void log_by_list(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    vsyslog(LOG_INFO, format, ap);
    va_end(ap);
}

CASE(a_log_on_stderr) {
    openlog("cases", LOG_PERROR, LOG_USER);
    fputs("before\n", stderr);
    log_by_list("a message %d", 5);
    fputs("after\n", stderr);
    closelog();
}

/* Much output is buffered when libc writes directly to the descriptor. */
static void much_output(void) {
    for (int i = 0; i < 20000; i++)
        printf("%09d\n", i);
}

CASE(_much_then_a_log) {
    openlog("cases", LOG_PERROR, LOG_USER);
    much_output();
    syslog(LOG_INFO, "a message");
    printf("end\n");
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(_much_then_a_trace) {
    void *frames[1] = {NULL};
    much_output();
    backtrace_symbols_fd(frames, 1, STDOUT_FILENO);
    printf("end\n");
}
#endif

CASE(_much_then_a_smashed_stack) {
    extern void __stack_chk_fail(void);
    much_output();
    __stack_chk_fail();
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(_much_then_an_overflow) {
    extern void __chk_fail(void);
    much_output();
    __chk_fail();
}

CASE(_much_then_an_assertion) {
    much_output();
    __assert("0 == 1", "file.c", 5);
}

CASE(_much_then_a_broken_heap) {
    char *volatile p = malloc(100); /* volatile: otherwise compilers reject the double free */
    much_output();
    free(p);
    free(p);
}

CASE(written_behind_our_back) {
    static const char *const cases[] = {"_much_then_a_log",           "_much_then_a_trace",
                                        "_much_then_a_smashed_stack", "_much_then_an_overflow",
                                        "_much_then_an_assertion",    "_much_then_a_broken_heap"};
    for (int i = 0; i < 6; i++) {
        int fd = open(cases[i], O_WRONLY | O_CREAT, 0644);
        run_case(cases[i], -1, fd, fd);
        close(fd);
    }
}
#endif

/* --- processes that libc starts -------------------------------------------------------------- */

static void read_much(void) {
    for (int i = 0; i < 800; i++)
        getchar();
    for (int i = 0; i < 2000; i++)
        getchar();
    for (int i = 0; i < 4000; i++)
        getchar();
}

CASE(words_of_a_command_that_reads_on) {
    wordexp_t words;
    read_much();
    CALL(wordexp("$(head -c 20 | tr -d ' \\n')", &words, 0));
    say("%s", words.we_wordc ? words.we_wordv[0] : "none");
    wordfree(&words);
}

CASE(words_of_a_command_that_reads_our_output) {
    wordexp_t words;
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 20000; i++)
        fprintf(f, "%09d\n", i);
    CALL(wordexp("$(wc -c <file)", &words, 0));
    say("%s", words.we_wordc ? words.we_wordv[0] : "none");
    wordfree(&words);
    fclose(f);
}

CASE(a_process_on_a_terminal) {
    int master;
    char text[100] = "";
    read_much();
    much_output();
    pid_t pid = forkpty(&master, NULL, NULL, NULL);
    if (pid == 0)
        _exit(0);
    finish(pid);
    say("offset %ld", raw_offset(0));
    (void)text;
    close(master);
}

static void ask_for_a_password(void) {
    setsid(); /* without a terminal, getpass uses the standard streams */
    printf("before. ");
    char *word = getpass("The word: ");
    say("%s", word ? word : "none");
    char line[40];
    CALL(fgets(line, sizeof line, stdin));
}

CASE(a_password_without_a_terminal) {
    char line[40];
    CALL(fgets(line, sizeof line, stdin));
    child(ask_for_a_password);
}

/* --- other functions ------------------------------------------------------------------------- */

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(sizes_by_a_conversion_of_libc) {
    register_printf_function('B', printf_size, printf_size_info);
    FILE *f = fopen("file", "w");
    CALL(fprintf(f, "%B %10.2B %b\n", 1234567.0, 5e9, 6));
    CALL(fprintf(f, "%-12B|\n", 2048.0));
    fclose(f);
    note_file("file");
}

CASE(all_streams_closed_at_once) {
    FILE *f = fopen("file", "w"), *g = fopen("other", "r+");
    fputs("text", f);
    printf("unflushed");
    getchar();
    CALL(fcloseall());
    note_file("file");
    CALL(fputs("more", f));
    note_file("file");
    (void)g;
}
#endif

CASE(table_of_the_process_of_mounts) {
    FILE *f = CALL(setmntent("/proc/self/mounts", "r"));
    struct mntent *m = getmntent(f);
    say("%d", m != NULL && m->mnt_dir[0] == '/');
    CALL(feof(f));
    CALL(endmntent(f));
}

CASE(a_stream_of_ours_ended_as_a_mount_table) {
    char text[5];
    put_text("table", "/dev/one /mnt/one ext4 rw 0 1\n");
    FILE *f = fopen("table", "r");
    int fd = fileno(f);
    getmntent(f);
    CALL(endmntent(f));
    for (size_t n = 200; n < 3000; n += 16) /* overwrite the memory that the stream had */
        memset(malloc(n), 0xff, n);
    CALL(open("table", O_RDONLY) - fd);
    CALL(read(fd, text, sizeof text));
    CALL(endmntent(NULL));
}

CASE(caller_locks) {
    FILE *f = fopen("file", "w+");
    CALL(__fsetlocking(f, FSETLOCKING_QUERY));
    CALL(__fsetlocking(f, FSETLOCKING_BYCALLER));
    CALL(fprintf(f, "%d %s", 5, "text"));
    CALL(__fsetlocking(f, FSETLOCKING_INTERNAL));
    flockfile(f);
    CALL(ftrylockfile(f));
    CALL(fputs(" more", f));
    funlockfile(f);
    funlockfile(f);
    CALL(__fsetlocking(f, FSETLOCKING_QUERY));
    fclose(f);
    note_file("file");
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(old_names) {
    extern int _IO_feof(FILE *), _IO_ferror(FILE *), _IO_peekc_locked(FILE *), _IO_puts(const char *);
    extern int _IO_fputs(const char *, FILE *), _IO_fflush(FILE *);
    extern int _IO_printf(const char *, ...), _IO_fprintf(FILE *, const char *, ...);
    extern size_t _IO_fwrite(const void *, size_t, size_t, FILE *), _IO_fread(void *, size_t, size_t, FILE *);
    extern char *_IO_fgets(char *, int, FILE *);
    char text[20] = "";
    FILE *f = fopen("file", "w+");
    CALL(_IO_fputs("a line\n", f) >= 0);
    CALL(_IO_fwrite("block\n", 1, 6, f));
    CALL(_IO_fflush(f));
    rewind(f);
    CALL(_IO_fgets(text, sizeof text, f));
    CALL(_IO_peekc_locked(f));
    CALL(_IO_fread(text, 1, 6, f));
    CALL(_IO_peekc_locked(f));
    CALL(_IO_feof(f) != 0);
    CALL(_IO_ferror(f) != 0);
    CALL(_IO_puts("to standard output") >= 0);
    CALL(_IO_printf("%d\n", 5));
    CALL(_IO_fprintf(stdout, "%d\n", 6));
    fclose(f);
}

CASE(old_names_of_positions) {
    extern int _IO_fgetpos(FILE *, fpos_t *), _IO_fgetpos64(FILE *, fpos64_t *),
        _IO_fsetpos(FILE *, const fpos_t *);
    extern int _IO_fsetpos64(FILE *, const fpos64_t *), __fseeko64(FILE *, off64_t, int),
        _IO_ungetc(int, FILE *);
    extern long _IO_ftell(FILE *);
    extern off64_t __ftello64(FILE *), _IO_seekoff(FILE *, off64_t, int, int),
        _IO_seekpos(FILE *, off64_t, int);
    extern void _IO_free_backup_area(FILE *), _IO_free_wbackup_area(FILE *);
    enum { READING = 1, WRITING = 2 };
    fpos_t place;
    fpos64_t place64;
    put_lines("file", 2000);
    FILE *f = fopen("file", "r+");
    getc(f);
    CALL(_IO_fgetpos(f, &place));
    getc(f);
    CALL(_IO_fgetpos64(f, &place64));
    CALL(_IO_ftell(f));
    CALL(_IO_fsetpos(f, &place));
    CALL(__ftello64(f));
    CALL(_IO_fsetpos64(f, &place64));
    CALL(getc(f));
    CALL(__fseeko64(f, 12000, SEEK_SET));
    CALL(getc(f));
    CALL(_IO_seekoff(f, -5, SEEK_CUR, READING | WRITING));
    CALL(putc('X', f));
    CALL(_IO_seekpos(f, 11990, READING));
    CALL(getc(f));
    CALL(_IO_ungetc('?', f));
    CALL(_IO_ungetc('!', f));
    CALL(getc(f));
    _IO_free_backup_area(f);
    CALL(getc(f));
    note_state(f);
    fclose(f);
    f = fopen("file", "r");
    CALL(getwc(f));
    CALL(ungetwc(L'?', f));
    _IO_free_wbackup_area(f);
    CALL(getwc(f));
    fclose(f);
    note_file("file");
}

CASE(old_names_of_transfers) {
    extern size_t _IO_sgetn(FILE *, void *, size_t);
    extern ssize_t _IO_padn(FILE *, int, ssize_t);
    extern int _IO_vfprintf(FILE *, const char *, va_list), _IO_ftrylockfile(FILE *);
    extern void _IO_flockfile(FILE *), _IO_funlockfile(FILE *), _IO_setbuffer(FILE *, char *, size_t);
    extern int _IO_setvbuf(FILE *, char *, int, size_t);
    extern char *_IO_gets(char *);
    extern size_t _IO_getline(FILE *, char *, size_t, int, int);
    char text[64] = "", buffer[100];
    FILE *f = fopen("file", "w+");
    _IO_setbuffer(f, buffer, sizeof buffer);
    CALL(_IO_ftrylockfile(f));
    _IO_flockfile(f);
    CALL(_IO_padn(f, '.', 70));
    CALL(_IO_padn(f, '-', 70));
    _IO_funlockfile(f);
    _IO_funlockfile(f);
    note_file("file");
    rewind(f);
    CALL(_IO_sgetn(f, text, 63));
    say("%s", text);
    CALL(_IO_getline(f, text, 20, '-', 1));
    say("%s", text);
    CALL(_IO_gets(text));
    say("%s", text);
    fclose(f);
    f = fopen("other", "w");
    CALL(_IO_setvbuf(f, NULL, _IOLBF, 0));
    va_list none;
    memset(&none, 0, sizeof none);
    CALL(_IO_vfprintf(f, "a line\nand more", none));
    note_file("other");
    fclose(f);
}

CASE(old_names_of_mount_tables) {
    extern FILE *__setmntent(const char *, const char *);
    extern struct mntent *__getmntent_r(FILE *, struct mntent *, char *, int);
    extern int __endmntent(FILE *);
    struct mntent entry;
    char memory[200];
    put_text("table", "/dev/a /b ext4 ro 0 1\n/dev/c /d xfs rw 0 0\n");
    FILE *f = __setmntent("table", "r");
    CALL(__getmntent_r(f, &entry, memory, sizeof memory) == &entry);
    say("%s %s", entry.mnt_fsname, entry.mnt_dir);
    CALL(__endmntent(f));
    f = fopen("table", "r");
    CALL(__getmntent_r(f, &entry, memory, sizeof memory) == &entry);
    CALL(__getmntent_r(f, &entry, memory, sizeof memory) == &entry);
    say("%s %s", entry.mnt_fsname, entry.mnt_dir);
    CALL(__endmntent(f));
}

/* These functions return libc's own FILE, except the last one. */
CASE(old_names_of_opening) {
    extern FILE *_IO_fopen(const char *, const char *), *_IO_fdopen(int, const char *),
        *_IO_popen(const char *, const char *);
    extern int _IO_fclose(FILE *);
    put_text("file", "one\ntwo\n");
    char line[10];
    FILE *f = _IO_fopen("file", "r+");
    CALL(fgets(line, sizeof line, f));
    CALL(fseek(f, 0, SEEK_END));
    CALL(fputs("three\n", f));
    CALL(_IO_fclose(f));
    f = _IO_fdopen(open("file", O_RDONLY), "r");
    CALL(fgets(line, sizeof line, f));
    CALL(ftell(f));
    CALL(fclose(f));
    f = _IO_popen("echo five", "r");
    CALL(fgets(line, sizeof line, f));
    CALL(pclose(f));
    f = fopen("file", "w");
    CALL(fputs("closed by its old name", f));
    CALL(_IO_fclose(f));
    f = fopen("file", "a");
    CALL(fclose(f));
    note_file("file");
}
#endif

/* --- calls that move the offset of a stream's descriptor ----------------------------------- */

CASE(offset_after_calls_that_move_it) {
    struct iovec v = {(char *)"block", 5};
    char text[5];
    put_text("in", "0123456789");
    FILE *in = fopen("in", "r"), *out = fopen("out", "w+");
    setvbuf(in, NULL, _IONBF, 0);
    getc(in);
    fputs("text", out);
    fflush(out);
    CALL(writev(fileno(out), &v, 1));
    CALL(ftell(out));
    v = (struct iovec){text, 3};
    CALL(readv(fileno(in), &v, 1));
    CALL(ftell(in));
    CALL(sendfile(fileno(out), fileno(in), NULL, 2));
    CALL(ftell(in));
    CALL(ftell(out));
    CALL(copy_file_range(fileno(in), NULL, fileno(out), NULL, 2, 0));
    CALL(ftell(in));
    CALL(ftell(out));
    fputs("end", out);
    CALL(getc(in));
    fclose(out);
    note_file("out");
}
