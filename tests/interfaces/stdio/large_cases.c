/* SPDX-License-Identifier: MIT
 *
 * large_cases.c - offsets beyond four gigabytes in a sparse file, and limits on memory, sizes, descriptors
 * and mappings.
 */
#include "transcript.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const off64_t FAR = 5368709120;

static void put_sparse(void) {
    int fd = open("sparse", O_WRONLY | O_CREAT | O_LARGEFILE, 0644);
    pwrite64(fd, "start", 5, 0);
    pwrite64(fd, "far away\nlast line\n", 19, FAR);
    close(fd);
}

CASE(reading_far) {
    put_sparse();
    FILE *f = fopen64("sparse", "r");
    char line[30];
    CALL(fseeko64(f, FAR, SEEK_SET));
    CALL(ftello64(f));
    CALL(fgets(line, sizeof line, f));
    CALL(ftello(f));
    CALL(fseek(f, -10, SEEK_END));
    CALL(fgets(line, sizeof line, f));
    CALL(ftell(f));
    CALL(fseeko(f, -FAR, SEEK_CUR));
    CALL(ftell(f));
    CALL(fseek(f, FAR - 4, SEEK_SET));
    CALL(fread(line, 1, 10, f));
    say("%b", line, 10);
    fpos_t p;
    CALL(fgetpos(f, &p));
    rewind(f);
    CALL(getc(f));
    CALL(fsetpos(f, &p));
    CALL(ftell(f));
    fclose(f);
    unlink("sparse");
}

CASE(writing_far) {
    put_sparse();
    FILE *f = fopen("sparse", "r+");
    CALL(fseeko(f, FAR + 100, SEEK_SET));
    CALL(fputs("written", f));
    CALL(ftello(f));
    CALL(fflush(f));
    struct stat st;
    fstat(fileno(f), &st);
    say("size %ld", (long)st.st_size);
    CALL(fseeko(f, FAR + 99, SEEK_SET));
    CALL(getc(f));
    CALL(getc(f));
    fclose(f);
    f = fopen("sparse", "a");
    CALL(ftello(f));
    CALL(fputs("!", f));
    CALL(ftello(f));
    fclose(f);
    stat("sparse", &st);
    say("size %ld", (long)st.st_size);
    unlink("sparse");
}

CASE(reading_with_little_memory) {
    struct rlimit limit = {64 << 20, 64 << 20};
    put_pattern("file", 100 << 20);
    setrlimit(RLIMIT_AS, &limit);
    FILE *f = CALL(fopen("file", "r"));
    static char block[100000];
    long total = 0;
    unsigned long sum = 0;
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0; total += (long)n)
        sum = sum * 31 + (unsigned char)block[n / 2];
    say("total %ld sum %lu", total, sum);
    note_flags(f);
    unlink("file");
}

CASE(a_limit_on_file_sizes) {
    struct rlimit limit = {10000, 10000};
    setrlimit(RLIMIT_FSIZE, &limit);
    FILE *f = fopen("out", "w");
    signal(SIGXFSZ, SIG_IGN);
    int first = -1;
    for (int i = 0; i < 30000; i++)
        if (putc('x', f) == EOF && first < 0)
            first = i;
    say("first failure %d", first);
    note_flags(f);
    WITH_ERRNO(fclose(f));
    struct stat st;
    stat("out", &st);
    say("size %ld", (long)st.st_size);
}

/* asf writes several lines by one call. It reports as written the lines that glibc, which writes them one
 * by one, would have written. */
CASE(a_limit_in_the_middle_of_lines) {
    static char lines[4000];
    for (int i = 0; i < 4000; i++)
        lines[i] = i % 17 ? 'z' : '\n';
    struct rlimit limit = {2500, 2500};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    for (int before = 0; before < 3; before++) {
        FILE *f = fopen("out", "w");
        CALL(setvbuf(f, NULL, _IOLBF, 0));
        for (int i = 0; i < before; i++)
            CALL(putc("x\n"[i], f));
        WITH_ERRNO(fwrite(lines, 1, 3333, f));
        WITH_ERRNO(fwrite(lines, 1, sizeof lines, f));
        WITH_ERRNO(fclose(f));
    }
}

/* Opens as many streams as the limit on descriptors allows. Each has buffered output. */
CASE(seventy_thousand_streams) {
    enum { MANY = 70000 };
    struct rlimit many = {MANY + 100, MANY + 100};
    if (setrlimit(RLIMIT_NOFILE, &many) != 0)
        getrlimit(RLIMIT_NOFILE, &many);
    FILE **streams = calloc(MANY, sizeof(FILE *));
    int n = 0, written = 0;
    while (n < MANY && (streams[n] = fopen("/dev/null", "w")))
        n++;
    say("streams %d", n);
    for (int i = 0; i < n; i++)
        written += fprintf(streams[i], "stream %d\n", i);
    say("written %d", written);
    CALL(fflush(NULL));
    for (int i = 0; i < n; i += 2)
        written -= fclose(streams[i]);
    say("written %d", written);
    free(streams);
}

/* The kernel allows no more mappings: streams that are already open continue to work. */
CASE(no_more_maps) {
    enum { PAGE = 4096, MAPS = 70000 };
    put_lines("read", 100000);
    FILE *in = fopen("read", "r"), *out = fopen("written", "w");
    char line[30];
    fgets(line, sizeof line, in);
    fputs(line, out);
    char *area =
        mmap(NULL, (size_t)MAPS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (long i = 0; i < MAPS; i += 2)
        mprotect(area + i * PAGE, PAGE, PROT_READ);
    say("one more %d", mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fileno(in), 0) == MAP_FAILED);
    int n = 0;
    while (fgets(line, sizeof line, in) && fputs(line, out) >= 0)
        n++;
    say("lines %d", n);
    CALL(fclose(in));
    CALL(fclose(out));
    CALL(munmap(area, (size_t)MAPS * PAGE));
    unlink("read");
}
