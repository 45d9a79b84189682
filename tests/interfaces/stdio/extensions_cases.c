/* SPDX-License-Identifier: MIT
 *
 * extensions_cases.c - <stdio_ext.h>, the explicit locks, the unlocked calls, and functions that pass
 * FILEs between libc and the program.
 */
#include "transcript.h"

#include <grp.h>
#include <mntent.h>
#include <pwd.h>
#include <shadow.h>
#include <stdio_ext.h>

static void note_all(FILE *f) {
    say("  readable %d writable %d reading %d writing %d line %d size %lu pending %lu", __freadable(f) != 0,
        __fwritable(f) != 0, __freading(f) != 0, __fwriting(f) != 0, __flbf(f) != 0, __fbufsize(f),
        __fpending(f));
}

CASE(descriptor_of_no_access) {
    put_text("file", "0123456789");
    int fd = open("file", O_ACCMODE);
    FILE *f = CALL(fdopen(fd, "r+"));
    if (f) {
        CALL(getc(f));
        fclose(f);
    }
}

CASE(what_is_known_of_a_stream) {
    static const char *const modes[] = {"r", "w", "a", "r+", "w+", "a+"};
    for (int i = 0; i < 6; i++) {
        put_text("file", "0123456789");
        say("mode %s", modes[i]);
        FILE *f = fopen("file", modes[i]);
        note_all(f);
        getc(f);
        note_all(f);
        fputs("abc", f);
        note_all(f);
        fflush(f);
        note_all(f);
        fseek(f, 0, SEEK_SET);
        note_all(f);
        getc(f);
        note_all(f);
        fclose(f);
    }
}

CASE(what_is_known_of_standard_streams) {
    note_all(stdin);
    note_all(stdout);
    note_all(stderr);
    getchar();
    putchar('x');
    fputs("y", stderr);
    note_all(stdin);
    note_all(stdout);
    note_all(stderr);
}

CASE(pending_output) {
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 10; i++) {
        fprintf(f, "%*d", i * 700 + 1, i);
        say("pending %lu", __fpending(f));
    }
    fflush(f);
    say("pending %lu", __fpending(f));
}

CASE(purging) {
    FILE *f = fopen("file", "w");
    fputs("kept", f);
    fflush(f);
    fputs("dropped", f);
    __fpurge(f);
    say("pending %lu", __fpending(f));
    fputs("more", f);
    CALL(fclose(f));
    note_file("file");
    put_text("file", "first\nsecond\n");
    f = fopen("file", "r");
    getc(f);
    __fpurge(f);
    CALL(getc(f));
    note_flags(f);
}

CASE(flushing_line_buffered_streams) {
    FILE *line = fopen("line", "w"), *full = fopen("full", "w");
    setlinebuf(line);
    fputs("half a line", line);
    fputs("half a line", full);
    _flushlbf();
    note_file("line");
    note_file("full");
}

CASE(unlocked_calls) {
    FILE *f = fopen("file", "w+");
    char text[20] = "";
    volatile size_t six = 6;
    CALL(fputs_unlocked("a string\n", f));
    CALL(fwrite_unlocked("block\n", 1, six, f));
    CALL(fputc_unlocked('c', f));
    CALL(putc_unlocked('\n', f));
    CALL(fflush_unlocked(f));
    rewind(f);
    CALL(fgets_unlocked(text, sizeof text, f));
    CALL((fread_unlocked)(text, 1, six, f));
    CALL(fgetc_unlocked(f));
    CALL(getc_unlocked(f));
    CALL(getc_unlocked(f));
    CALL(feof_unlocked(f) != 0);
    CALL(ferror_unlocked(f) != 0);
    clearerr_unlocked(f);
    CALL(feof_unlocked(f) != 0);
    CALL(fileno_unlocked(f) == fileno(f));
    CALL(putchar_unlocked('p'));
    CALL(getchar_unlocked());
}

CASE(names_of_the_library) {
    FILE *f = fopen("file", "w+");
    extern int _IO_getc(FILE *), _IO_putc(int, FILE *);
    CALL(_IO_putc('x', f));
    CALL(_IO_putc(255, f));
    rewind(f);
    CALL(_IO_getc(f));
    CALL(_IO_getc(f));
    CALL(_IO_getc(f));
    extern int __uflow(FILE *), __overflow(FILE *, int);
    rewind(f);
    CALL(__uflow(f));
    CALL(__uflow(f));
    CALL(__uflow(f));
    fseek(f, 0, SEEK_END);
    CALL(__overflow(f, 'o'));
    CALL(__overflow(f, EOF));
    rewind(f);
#ifdef __GLIBC__ /* musl lacks this interface */
    extern int __underflow(FILE *);
    CALL(__underflow(f));
#endif
    CALL(getc(f));
    fclose(f);
    note_file("file");
}

/* --- FILEs passed between libc and asf ------------------------------------------------------- */

CASE(mount_tables) {
    put_text("table",
             "# a comment\n/dev/one /mnt/one ext4 rw,noatime 0 1\nnone /proc\\040x proc defaults 0 0\n");
    FILE *f = CALL(setmntent("table", "r"));
    for (struct mntent *m; (m = getmntent(f));)
        say("%s %s %s %s %d %d", m->mnt_fsname, m->mnt_dir, m->mnt_type, m->mnt_opts, m->mnt_freq,
            m->mnt_passno);
    note_flags(f);
    CALL(ftell(f));
    rewind(f);
    CALL(getc(f));
    char line[80];
    CALL(fgets(line, sizeof line, f));
    CALL(fscanf(f, "%79s", line));
    say("%s", line);
    CALL(endmntent(f));
    f = CALL(setmntent("table", "a+"));
    struct mntent m = {(char *)"new", (char *)"/a dir", (char *)"tmpfs", (char *)"rw", 3, 4};
    CALL(addmntent(f, &m));
    CALL(fprintf(f, "# by %s\n", "fprintf"));
    CALL(fflush(f));
    CALL(endmntent(f));
    note_file("table");
    CALL(setmntent("missing", "r"));
}

CASE(mount_tables_on_our_stream) {
    put_text("table", "/dev/one /mnt/one ext4 rw 0 1\nline two is\nnot like it\n");
    FILE *f = fopen("table", "r+");
    struct mntent *m = getmntent(f);
    say("%s", m ? m->mnt_dir : "none");
    char line[80];
    CALL(fgets(line, sizeof line, f));
    struct mntent n = {(char *)"new", (char *)"/dir", (char *)"tmpfs", (char *)"rw", 0, 0};
    CALL(addmntent(f, &n));
    CALL(endmntent(f));
    note_file("table");
}

CASE(password_files) {
    FILE *f = fopen("passwd", "w+");
    struct passwd p = {(char *)"name",       (char *)"x",      1000, 1001, (char *)"A Name",
                       (char *)"/home/name", (char *)"/bin/sh"};
    CALL(putpwent(&p, f));
    p.pw_name = (char *)"other";
    p.pw_uid = 5;
    CALL(putpwent(&p, f));
    fputs("not an entry\n", f);
    rewind(f);
    for (struct passwd *q; (q = fgetpwent(f));)
        say("%s %d %s", q->pw_name, (int)q->pw_uid, q->pw_dir);
    note_state(f);
    fclose(f);
    note_file("passwd");
}

CASE(group_and_shadow_files) {
    FILE *f = fopen("group", "w+");
    char *members[] = {(char *)"one", (char *)"two", NULL};
    struct group g = {(char *)"users", (char *)"x", 100, members};
    CALL(putgrent(&g, f));
    rewind(f);
    struct group *h = fgetgrent(f);
    say("%s %d %s", h->gr_name, (int)h->gr_gid, h->gr_mem[1]);
    fclose(f);
    note_file("group");
    f = fopen("shadow", "w+");
    struct spwd s = {(char *)"name", (char *)"!", 1, 2, 3, 4, 5, 6, 7};
    CALL(putspent(&s, f));
    rewind(f);
    struct spwd *t = fgetspent(f);
    say("%s %ld", t->sp_namp, t->sp_max);
    fclose(f);
    note_file("shadow");
}

CASE(standard_input_through_libc) {
    put_text("in", "name:x:1000:1001:A Name:/home/name:/bin/sh\nnext line\n");
    int fd = open("in", O_RDONLY);
    dup2(fd, 0);
    struct passwd *p = fgetpwent(stdin);
    say("%s", p ? p->pw_name : "none");
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    p = fgetpwent(stdin);
    say("%s", p ? p->pw_name : "none");
    note_flags(stdin);
}
