/* SPDX-License-Identifier: MIT
 *
 * characters_cases.c - getc, putc, ungetc, getw, putw, and their unlocked and inlined forms.
 */
#include "tests/interfaces/stdio/transcript.h"

CASE(every_byte_value) {
    FILE *f = fopen("file", "w+");
    for (int c = 0; c < 256; c++)
        if (putc(c, f) != c)
            say("putc(%d) differs", c);
    CALL(fputc(-1, f));
    CALL(fputc(1000, f));
    rewind(f);
    for (int c = 0; c < 256; c++)
        if (getc(f) != c)
            say("getc differs at %d", c);
    CALL(getc(f));
    CALL(getc(f));
    CALL(getc(f));
    note_state(f);
    fclose(f);
    note_file("file");
}

CASE(getc_in_all_its_forms) {
    put_pattern("file", 100000);
    FILE *f = fopen("file", "r");
    unsigned long sum = 0;
    for (int i = 0; i < 99990; i += 5) {
        sum = sum * 31 + (unsigned)getc(f);
        sum = sum * 31 + (unsigned)fgetc(f);
        sum = sum * 31 + (unsigned)getc_unlocked(f);
        sum = sum * 31 + (unsigned)fgetc_unlocked(f);
        sum = sum * 31 + (unsigned)(fgetc)(f);
    }
    say("sum %lu", sum);
    for (int c; (c = getc_unlocked(f)) != EOF;)
        sum += (unsigned)c;
    say("sum %lu eof %d %d", sum, feof(f) != 0, feof_unlocked(f) != 0);
}

CASE(putc_in_all_its_forms) {
    FILE *f = fopen("file", "w");
    for (int i = 0; i < 20000; i++) {
        putc(i, f);
        fputc(i >> 1, f);
        putc_unlocked(i >> 2, f);
        fputc_unlocked(i >> 3, f);
    }
    CALL(ftell(f));
    fclose(f);
    note_file("file");
}

CASE(standard_streams) {
    long sum = 0;
    int c;
    for (int i = 0; i < 100; i++) {
        sum += getchar();
        sum += getchar_unlocked();
    }
    while ((c = getchar()) != EOF)
        putchar(c), sum += c;
    putchar_unlocked('e');
    putchar('\n');
    say("sum %ld", sum);
    note_state(stdin);
    note_state(stdout);
}

CASE(ungetc_one) {
    put_text("file", "abcdef");
    FILE *f = fopen("file", "r");
    CALL(getc(f));
    CALL(getc(f));
    CALL(ungetc('b', f));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(ungetc('X', f));
    CALL(ftell(f));
    CALL(getc(f));
    CALL(getc(f));
    CALL(ftell(f));
    CALL(ungetc(EOF, f));
    CALL(getc(f));
    note_state(f);
    fclose(f);
    note_file("file");
}

CASE(ungetc_before_the_first_byte) {
    put_text("file", "abcdef");
    FILE *f = fopen("file", "r");
    CALL(ungetc('1', f));
    CALL(ungetc('2', f));
    CALL(ungetc('3', f));
    char text[20];
    CALL(fgets(text, sizeof text, f));
    note_state(f);
    fclose(f);
    f = fopen("file", "r");
    getc(f);
    CALL(ungetc('a', f));
    CALL(ungetc('z', f));
    CALL(fgets(text, sizeof text, f));
}

CASE(ungetc_over_end_of_file) {
    put_text("file", "ab");
    FILE *f = fopen("file", "r");
    while (getc(f) != EOF)
        continue;
    note_state(f);
    CALL(ungetc('Q', f));
    note_state(f);
    CALL(getc(f));
    CALL(getc(f));
    note_state(f);
    CALL(ungetc('b', f));
    CALL(ungetc('a', f));
    CALL(ungetc('@', f));
    note_state(f);
    char text[20];
    CALL(fgets(text, sizeof text, f));
    note_state(f);
}

CASE(ungetc_on_an_empty_file) {
    put_text("file", "");
    FILE *f = fopen("file", "r");
    CALL(ungetc('x', f));
    note_flags(f);
    CALL(getc(f));
    CALL(getc(f));
    note_state(f);
}

CASE(ungetc_very_many) {
    put_pattern("file", 10000);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < 5000; i++)
        getc(f);
    int refused = 0;
    for (int i = 0; i < 100000; i++)
        refused += ungetc(i * 7 & 255, f) == EOF;
    say("refused %d", refused);
    unsigned long sum = 0;
    int n = 0;
    for (int c; (c = getc(f)) != EOF; n++)
        sum = sum * 31 + (unsigned)c;
    say("read back %d sum %lu", n, sum);
    note_state(f);
}

CASE(ungetc_until_there_is_no_room) {
    enum { READ = 100, MANY = 10000 };
    put_pattern("file", 3 * READ);
    FILE *f = fopen("file", "r");
    for (int i = 0; i < READ; i++)
        getc(f);
    int n = 0;
    while (n < MANY && ungetc('x', f) != EOF)
        n++;
    say("pushed back %d", n);
    int read_back = 0;
    while (getc(f) != EOF)
        read_back++;
    say("read back %d", read_back);
    note_state(f);
}

CASE(ungetc_of_what_was_there) {
    put_pattern("file", 50000);
    FILE *f = fopen("file", "r");
    unsigned long sum = 0;
    for (int i = 0; i < 30000; i++) {
        int c = getc(f);
        if (i % 3 == 0) {
            ungetc(c, f);
            c = getc(f);
        }
        sum = sum * 31 + (unsigned)c;
    }
    say("sum %lu ftell %ld", sum, ftell(f));
}

CASE(ungetc_then_blocks) {
    put_pattern("file", 50000);
    FILE *f = fopen("file", "r");
    unsigned char block[10000];
    fread(block, 1, 100, f);
    for (int i = 0; i < 300; i++)
        ungetc('a' + i % 26, f);
    CALL(fread(block, 1, 200, f));
    say("%b", block, 200);
    CALL(fread(block, 1, 10000, f));
    say("%b", block, 10000);
    CALL(ftell(f));
}

CASE(ungetc_then_seek_drops_it) {
    put_text("file", "abcdef");
    FILE *f = fopen("file", "r");
    getc(f);
    ungetc('X', f);
    CALL(fseek(f, 0, SEEK_CUR));
    CALL(getc(f));
    getc(f);
    ungetc('X', f);
    ungetc('Y', f);
    CALL(fseek(f, 2, SEEK_CUR));
    CALL(getc(f));
    ungetc('Z', f);
    CALL(fseek(f, 0, SEEK_SET));
    CALL(getc(f));
    ungetc('Z', f);
    rewind(f);
    CALL(getc(f));
    ungetc('W', f);
    CALL(fseek(f, 0, SEEK_END));
    CALL(getc(f));
}

CASE(ungetc_then_flush) {
    put_text("file", "abcdef");
    FILE *f = fopen("file", "r");
    getc(f);
    getc(f);
    ungetc('b', f);
    CALL(fflush(f));
    say("offset %ld", raw_offset(fileno(f)));
    CALL(getc(f));
    CALL(getc(f));
    CALL(ftell(f));
}

CASE(ungetc_then_write) {
    put_text("file", "abcdef");
    FILE *f = fopen("file", "r+");
    getc(f);
    getc(f);
    CALL(ungetc('X', f));
    CALL(fputc('!', f));
    note_state(f);
    fclose(f);
    note_file("file");
}

CASE(ungetc_on_a_pipe) {
    int ends[2];
    pipe(ends);
    FILE *f = fdopen(ends[0], "r");
    raw_write(ends[1], "abc", 3);
    CALL(getc(f));
    for (int i = 0; i < 5000; i++)
        ungetc('0' + i % 10, f);
    long sum = 0;
    for (int i = 0; i < 5000; i++)
        sum = sum * 7 + getc(f);
    say("sum %ld", sum);
    CALL(getc(f));
    CALL(getc(f));
    close(ends[1]);
    CALL(getc(f));
    note_flags(f);
}

CASE(ungetc_on_standard_input) {
    CALL(getchar());
    CALL(ungetc('X', stdin));
    char text[30];
    CALL(fgets(text, sizeof text, stdin));
    CALL(ungetc('\n', stdin));
    CALL(fgets(text, sizeof text, stdin));
    CALL(fgets(text, sizeof text, stdin));
}

CASE(words) {
    FILE *f = fopen("file", "w+");
    CALL(putw(123456, f));
    CALL(putw(-1, f));
    CALL(putw(-2147483647, f));
    putc('x', f);
    rewind(f);
    CALL(getw(f));
    WITH_ERRNO(getw(f));
    note_flags(f);
    CALL(getw(f));
    WITH_ERRNO(getw(f));
    note_flags(f);
    CALL(getw(f));
    fclose(f);
    note_file("file");
    f = fopen("file", "r");
    WITH_ERRNO(putw(1, f));
    note_flags(f);
}

CASE(reading_and_writing_alternately_by_bytes) {
    put_pattern("file", 20000);
    FILE *in = fopen("file", "r"), *out = fopen("copy", "w");
    for (int c; (c = getc_unlocked(in)) != EOF;)
        putc_unlocked(c ^ 0x20, out);
    say("errors %d %d", ferror_unlocked(in), ferror_unlocked(out));
    fclose(in);
    fclose(out);
    note_file("copy");
}
