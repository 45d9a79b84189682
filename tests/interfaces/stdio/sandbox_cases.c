/* SPDX-License-Identifier: MIT
 *
 * sandbox_cases.c - programs that give up system calls while their streams are open: a filter permits the
 * calls that libc's stdio needs, and ends the process at any other.
 */
#include "transcript.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* The system calls that libc's stdio makes, and those that the test itself needs. musl uses readv and
 * writev for a FILE, and open if the processor has this call. */
#ifdef __GLIBC__
#define CALLS_OF_LIBC SYS_read, SYS_write
#elif defined SYS_open
#define CALLS_OF_LIBC SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_open
#else
#define CALLS_OF_LIBC SYS_read, SYS_write, SYS_readv, SYS_writev
#endif

static const int allowed[] = {CALLS_OF_LIBC, SYS_lseek,     SYS_newfstatat, SYS_openat, SYS_close,
                              SYS_brk,       SYS_mmap,      SYS_munmap,     SYS_ioctl,  SYS_exit_group,
                              SYS_pread64,   SYS_getrandom, SYS_fstat};
enum { ALLOWED = sizeof allowed / sizeof *allowed };

static void forbid_all_but(const int *calls, int count, bool number) {
    struct sock_filter filter[2 * ALLOWED + 2];
    unsigned short n = 0;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
    for (int i = 0; i < count; i++) {
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog program = {n, filter};
    if (number) {
        CALL(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
        CALL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
    } else {
        CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
        CALL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    }
}

static void forbid_the_rest(void) {
    forbid_all_but(allowed, ALLOWED, false);
}

static void write_much(FILE *f) {
    for (int i = 0; i < 40000; i++)
        fprintf(f, "line %d\n", i);
}

static void _opened_behind(void) {
    forbid_the_rest();
    FILE *f = fopen("out", "w");
    write_much(f);
    CALL(fclose(f));
    f = fopen("out", "r");
    char line[50];
    int n = 0;
    while (fgets(line, sizeof line, f))
        n++;
    say("%d lines", n);
    CALL(fseek(f, 100000, SEEK_SET));
    CALL(fgets(line, sizeof line, f));
    CALL(fclose(f));
}

static void _by_number(void) {
    forbid_all_but(allowed, ALLOWED, true);
    FILE *f = fopen("out", "w");
    write_much(f);
    CALL(fclose(f));
}

CASE(filter_by_number) {
    child(_by_number);
    note_file("out");
}

CASE(opened_behind_the_filter) {
    child(_opened_behind);
    note_file("out");
}

static void _opened_before(void) {
    FILE *f = fopen("out", "w"), *in = fopen("in", "r");
    char line[50];
    write_much(f);
    fgets(line, sizeof line, in);
    forbid_the_rest();
    write_much(f);
    for (int i = 0; i < 5000; i++)
        CALL(fgets(line, sizeof line, in)) ? 0 : (i = 5000);
    CALL(fclose(f));
    CALL(fclose(in));
}

CASE(opened_before_the_filter) {
    put_lines("in", 3000);
    child(_opened_before);
    note_file("out");
}

static void _standard(void) {
    forbid_the_rest();
    char block[5000];
    for (int i = 0; i < 4; i++)
        CALL((long)fread(block, 1, sizeof block, stdin));
    write_much(stdout);
}

CASE(standard_streams_behind_the_filter) {
    child(_standard);
}

/* libc makes no fstat for a stream with a buffer of the program's, or without one. So the filter permits
 * only the calls for reading, writing, and setting back the offset at exit. */
static void forbid_all_but_transfers(void) {
    static const int transfers[] = {CALLS_OF_LIBC, SYS_lseek,  SYS_close,     SYS_brk,
                                    SYS_mmap,      SYS_munmap, SYS_exit_group};
    forbid_all_but(transfers, sizeof transfers / sizeof *transfers, false);
}

static FILE *open_buffered(const char *path, const char *mode, int how) {
    static char own[3][2000];
    static int used;
    FILE *f = fopen(path, mode);
    if (how == _IONBF)
        CALL(setvbuf(f, NULL, _IONBF, 0));
    else
        CALL(setvbuf(f, own[used++], how, sizeof *own));
    return f;
}

static void use_buffered(int how) {
    static char line[5000];
    char word[20];
    FILE *in = open_buffered("in", "r", how), *out = open_buffered("out", "w", how);
    FILE *both = open_buffered("both", "r+", how);
    forbid_all_but_transfers();
    CALL(getc(in));
    CALL(ungetc('x', in));
    CALL(fgets(line, sizeof line, in));
    CALL((long)fread(line, 1, sizeof line, in));
    CALL(fscanf(in, "%19s", word));
    CALL(fseek(in, 100, SEEK_SET));
    CALL(ftell(in));
    CALL(getc(in));
    CALL(fputs("text\n", out));
    CALL(putc('x', out));
    CALL((long)fwrite(line, 1, sizeof line, out));
    CALL(fprintf(out, "%d %s\n", 5, "words"));
    CALL(ftell(out));
    CALL(fseek(out, 10, SEEK_SET));
    CALL(fflush(out));
    CALL(fgets(line, 100, both));
    CALL(fseek(both, 0, SEEK_CUR));
    CALL(fputs("over\n", both));
    rewind(both);
    CALL(fgets(line, 100, both));
}

static void _in_own_memory(void) {
    use_buffered(_IOFBF);
}

static void _in_own_memory_by_lines(void) {
    use_buffered(_IOLBF);
}

static void _unbuffered(void) {
    use_buffered(_IONBF);
}

static void try_transfers(void (*body)(void)) {
    put_lines("in", 3000);
    put_lines("both", 3000);
    child(body);
    note_file("out");
    note_file("both");
}

CASE(transfers_alone_in_own_memory) {
    try_transfers(_in_own_memory);
}

CASE(transfers_alone_in_own_memory_by_lines) {
    try_transfers(_in_own_memory_by_lines);
}

CASE(transfers_alone_unbuffered) {
    try_transfers(_unbuffered);
}

static void _on_standard_error(void) {
    forbid_all_but_transfers();
    errno = ENOENT;
    perror("an error");
    CALL(fprintf(stderr, "%d words\n", 5));
    CALL(putc('x', stderr));
    CALL(fputs("\n", stderr));
}

CASE(transfers_alone_on_standard_error) {
    child(_on_standard_error);
}

static void _of_a_small_file(void) {
    FILE *in = fopen("in", "r");
    forbid_all_but_transfers();
    for (int c; (c = getc(in)) != EOF;)
        CALL(c);
}

/* glibc allocates a buffer here, and calls fstat first; musl does not. */
CASE(transfers_alone_of_a_small_file) {
    put_text("in", "a line\n");
    child(_of_a_small_file);
}

/* libc has already allocated its buffers, and made the calls of fstat for them. */
static void _begun_before(void) {
    FILE *in = fopen("in", "r"), *out = fopen("out", "w");
    char line[50];
    int n = 0;
    CALL(fgets(line, sizeof line, in));
    CALL(fputs(line, out));
    forbid_all_but_transfers();
    while (fgets(line, sizeof line, in))
        n++;
    say("%d lines", n);
    write_much(out);
    CALL(fclose(out));
}

CASE(transfers_alone_begun_before) {
    put_lines("in", 40000);
    child(_begun_before);
    note_file("out");
}
