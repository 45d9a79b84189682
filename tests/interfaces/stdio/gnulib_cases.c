/* SPDX-License-Identifier: MIT
 *
 * gnulib_cases.c - programs that use the members of FILE, as gnulib does, which most filters contain: the
 * read-ahead and its length, seeking within it, setting the error indicator, and an fseeko that calls
 * lseek itself.
 */
#include "transcript.h"

#include <stdio_ext.h>

enum { IN_BACKUP = 0x100, ERROR_SEEN = 0x20, EOF_SEEN = 0x10 };

/* Returns how many bytes can be read without a system call. */
static size_t read_ahead(FILE *f) {
    if (f->_IO_write_ptr > f->_IO_write_base)
        return 0;
    return (size_t)(f->_IO_read_end - f->_IO_read_ptr) +
           (f->_flags & IN_BACKUP ? (size_t)(f->_IO_save_end - f->_IO_save_base) : 0);
}

/* Returns the read-ahead bytes, or NULL if there are none. */
static const char *ahead_pointer(FILE *f, size_t *n) {
    if (f->_IO_write_ptr > f->_IO_write_base)
        return NULL;
    *n = (size_t)(f->_IO_read_end - f->_IO_read_ptr);
    return *n == 0 ? NULL : f->_IO_read_ptr;
}

/* Skips bytes; those that are read ahead, by moving the pointer. */
static int skip_ahead(FILE *f, size_t offset) {
    size_t total, increment;
    if (offset == 0)
        return 0;
    total = read_ahead(f);
    while (total > 0) {
        if (ahead_pointer(f, &increment)) {
            increment = increment < offset ? increment : offset;
            f->_IO_read_ptr += increment;
            offset -= increment;
            if (offset == 0)
                return 0;
            total -= increment;
            if (total == 0)
                break;
        }
        if (fgetc(f) == EOF)
            goto eof;
        offset--;
        if (offset == 0)
            return 0;
        total--;
    }
    if (fseeko(f, (off_t)offset, SEEK_CUR) == 0)
        return 0;
    while (offset-- > 0)
        if (fgetc(f) == EOF)
            goto eof;
    return 0;
eof:
    return ferror(f) ? EOF : 0;
}

/* An fseeko that calls lseek if nothing is buffered. */
static int own_fseeko(FILE *f, off_t offset, int whence) {
    if (f->_IO_read_end == f->_IO_read_ptr && f->_IO_write_ptr == f->_IO_write_base &&
        f->_IO_save_base == NULL) {
        off_t at = lseek(fileno(f), offset, whence);
        if (at == -1)
            return -1;
        f->_flags &= ~EOF_SEEN;
        f->_offset = at;
        return 0;
    }
    return fseeko(f, offset, whence);
}

/* An fflush that sets an input's descriptor to the stream's offset. */
static int own_fflush(FILE *f) {
    if (f == NULL || !__freading(f))
        return fflush(f);
    if (f->_flags & IN_BACKUP)
        fseeko(f, 0, SEEK_CUR);
    return fflush(f);
}

CASE(reading_by_the_window) {
    put_pattern("file", 300000);
    FILE *f = fopen("file", "r");
    unsigned long sum = 0;
    long total = 0;
    while (getc(f) != EOF) {
        size_t n = 0;
        const char *p = ahead_pointer(f, &n);
        total++;
        if (!p)
            continue;
        for (size_t i = 0; i < n; i++)
            sum = sum * 31 + (unsigned char)p[i];
        if (skip_ahead(f, n) != 0)
            say("cannot skip");
        total += (long)n;
    }
    say("total %ld", total);
    note_state(f);
    say("some by the window %d", sum != 0);
}

CASE(the_window_agrees_with_the_offset) {
    put_pattern("file", 300000);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 3000; i++) {
        getc(f);
        if (i % 7 == 0)
            skip_ahead(f, (size_t)i % 100);
        size_t n = 0;
        const char *p = ahead_pointer(f, &n);
        long at = ftell(f);
        if (p && (unsigned char)*p != pattern_at((size_t)at))
            say("wrong byte at %ld", at);
    }
    CALL(ftell(f));
}

CASE(skipping) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r");
    CALL(skip_ahead(f, 5000));
    CALL(getc(f) == pattern_at(5000));
    CALL(skip_ahead(f, 10));
    CALL(ftell(f));
    CALL(skip_ahead(f, 80000));
    CALL(ftell(f));
    CALL(skip_ahead(f, 80000));
    CALL(getc(f));
    note_state(f);
}

CASE(skipping_in_a_pipe) {
    FILE *f = popen("seq 1 20000", "r");
    char line[20];
    CALL(skip_ahead(f, 5000));
    CALL(fgets(line, sizeof line, f));
    CALL(skip_ahead(f, 50000));
    CALL(fgets(line, sizeof line, f));
    CALL(skip_ahead(f, 500000));
    CALL(fgets(line, sizeof line, f));
    CALL(pclose(f));
}

CASE(skipping_after_ungetc) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 10; i++)
        getc(f);
    for (int i = 0; i < 5; i++)
        ungetc('#', f);
    say("at hand at least 5: %d", read_ahead(f) >= 5);
    CALL(skip_ahead(f, 3));
    CALL(getc(f));
    CALL(getc(f));
    CALL(getc(f) == pattern_at(10));
}

CASE(own_fseeko_everywhere) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r");
    static const long places[] = {0, 10, 4096, 50000, 99999, 100000, 3, 4095};
    for (int i = 0; i < 8; i++) {
        CALL(own_fseeko(f, places[i], SEEK_SET));
        CALL(ftello(f));
        CALL(getc(f) == pattern_at((size_t)places[i]));
        CALL(own_fseeko(f, 5, SEEK_CUR));
        CALL(ftello(f));
        clearerr(f);
    }
    CALL(own_fseeko(f, -1, SEEK_END));
    CALL(getc(f));
    CALL(getc(f));
    CALL(own_fseeko(f, -3, SEEK_CUR));
    CALL(getc(f) == pattern_at(99997));
    note_state(f);
}

CASE(own_fseeko_at_the_end_of_a_window) {
    put_pattern("file", 5 << 20);
    FILE *f = fopen("file", "r");
    static char block[1 << 20];
    for (int i = 0; i < 5; i++) {
        fread(block, 1, sizeof block, f);
        CALL(own_fseeko(f, 0, SEEK_CUR));
        CALL(ftello(f));
        CALL(own_fseeko(f, -10, SEEK_CUR));
        CALL(getc(f) == pattern_at((size_t)(i + 1) * sizeof block - 10));
        CALL(own_fseeko(f, 9, SEEK_CUR));
    }
    note_state(f);
}

CASE(own_fseeko_on_output) {
    FILE *f = fopen("file", "w");
    CALL(own_fseeko(f, 10, SEEK_SET));
    fputs("text", f);
    CALL(own_fseeko(f, 2, SEEK_SET));
    fputs("TEXT", f);
    CALL(own_fflush(f));
    CALL(own_fseeko(f, 0, SEEK_END));
    fputs("end", f);
    CALL(own_fseeko(f, -1, SEEK_CUR));
    fputs("D", f);
    CALL(fclose(f));
    note_file("file");
}

CASE(own_fseeko_on_update) {
    put_pattern("file", 20000);
    FILE *f = fopen("file", "r+");
    for (int i = 0; i < 20; i++) {
        CALL(own_fseeko(f, i * 997, SEEK_SET));
        getc(f);
        CALL(own_fseeko(f, 0, SEEK_CUR));
        fputs("XYZ", f);
        CALL(own_fseeko(f, 10, SEEK_CUR));
    }
    CALL(fclose(f));
    note_file("file");
}

CASE(own_fflush_on_input) {
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    CALL(ungetc('Q', stdin));
    CALL(getchar());
    CALL(own_fflush(stdin));
    say("offset %ld", raw_offset(0));
    CALL(fgets(line, sizeof line, stdin));
}

CASE(error_set_in_the_fields) {
    put_text("file", "text");
    FILE *f = fopen("file", "r");
    f->_flags |= ERROR_SEEN;
    note_flags(f);
    CALL(getc(f));
    clearerr(f);
    say("flag %d", (f->_flags & ERROR_SEEN) != 0);
    while (getc(f) != EOF)
        continue;
    say("flag %d", (f->_flags & EOF_SEEN) != 0);
}

CASE(windows_of_output) {
    FILE *f = fopen("file", "w");
    fputs("0123456789", f);
    say("in the window %d", (int)(f->_IO_write_ptr - f->_IO_write_base));
    say("%b", f->_IO_write_base, 10);
    if (f->_IO_write_ptr + 3 <= f->_IO_buf_end) {
        memcpy(f->_IO_write_ptr, "abc", 3);
        f->_IO_write_ptr += 3;
    }
    fputs("def", f);
    CALL(fclose(f));
    note_file("file");
}

/* Sets the offset of the input before closing it, as sort and tail do. */
CASE(closing_input_well) {
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
    say("ahead %d", read_ahead(stdin) > 0);
    if (read_ahead(stdin) > 0 && own_fseeko(stdin, 0, SEEK_CUR) == 0)
        CALL(own_fflush(stdin));
    CALL(fclose(stdin));
    say("offset %ld", raw_offset(0));
}
