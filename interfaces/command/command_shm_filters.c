/* SPDX-License-Identifier: MIT
 *
 * command_shm_filters.c - "asf shm expand" and "asf shm pack": replace labels in text by the arrays in
 * segments, and arrays by labels.  They copy all other text byte for byte.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/command/command_shm.h"
#include "interfaces/command/command_table.h"
#include "lib/text/decimal.h"

/* --- text ---------------------------------------------------------------------- */

struct text {
    char *bytes; /* null-terminated */
    size_t length, capacity;
};

static void append_char(struct text *t, int c) {
    if (t->length + 1 >= t->capacity) {
        t->capacity = t->capacity * 2 + 256;
        t->bytes = realloc(t->bytes, t->capacity);
        if (!t->bytes)
            asf__fail("shm: malloc: %s; give asf more memory", strerror(ENOMEM));
    }
    t->bytes[t->length++] = (char)c;
    t->bytes[t->length] = '\0';
}

static void clear_text(struct text *t) {
    t->length = 0;
    if (t->bytes)
        t->bytes[0] = '\0';
}

static void append_text(struct text *t, const struct text *more) {
    for (size_t i = 0; i < more->length; i++)
        append_char(t, more->bytes[i]);
}

static void print_text(const struct text *t) {
    if (t->length > 0)
        fwrite(t->bytes, 1, t->length, stdout);
}

static bool text_equals(const struct text *t, const char *word) {
    return t->length == strlen(word) && memcmp(t->bytes, word, t->length) == 0;
}

/* Read the blanks, then the word after them; either may be empty. */
static void read_word(FILE *in, struct text *blanks, struct text *word) {
    int c;
    clear_text(blanks);
    clear_text(word);
    while ((c = getc_unlocked(in)) != EOF && isspace(c))
        append_char(blanks, c);
    for (; c != EOF && !isspace(c); c = getc_unlocked(in))
        append_char(word, c);
    if (c != EOF)
        ungetc(c, in);
}

static void read_rest_of_line(FILE *in, struct text *rest) {
    int c;
    clear_text(rest);
    while ((c = getc_unlocked(in)) != EOF) {
        append_char(rest, c);
        if (c == '\n')
            break;
    }
}

static const char *input_name(const char *file) {
    return file && strcmp(file, "-") != 0 ? file : "standard input";
}

static FILE *open_input(const char *subcommand, int argc, char **argv) {
    if (argc - optind > 1)
        asf__fail("shm %s takes one file, but '%s' is given too", subcommand, argv[optind + 1]);
    if (optind == argc || !strcmp(argv[optind], "-"))
        return stdin;
    FILE *in = fopen(argv[optind], "re");
    if (!in)
        asf__fail("shm %s: %s: open: %s; name a readable file", subcommand, argv[optind], strerror(errno));
    return in;
}

/* --- expand ----------------------------------------------------------------------- */

/* The label in the rest of a line, without surrounding blanks.  Empty if the line has a null byte, which no
 * label has. */
static char *copy_label(const struct text *rest) {
    bool whole = rest->length > 0 && !memchr(rest->bytes, '\0', rest->length);
    const char *from = whole ? rest->bytes : "";
    from += strspn(from, " \t");
    size_t n = strlen(from);
    while (n > 0 && isspace((unsigned char)from[n - 1]))
        n--;
    char *label = strndup(from, n);
    if (!label)
        asf__fail("shm: malloc: %s; give asf more memory", strerror(ENOMEM));
    return label;
}

static void put_numbers(const char *label, char *shm) {
    size_t bytes = asf_shm_size(shm);
    if (bytes % sizeof(double) != 0)
        asf__fail("shm expand: %s: its %zu bytes are not an array of doubles", label, bytes);
    asf_shm_write_doubles(stdout, (const double *)(const void *)(shm + ASF_SHM_HEAD), bytes / sizeof(double),
                          NULL);
    if (asf_shm_close(shm) != 0)
        asf__fail("shm expand: %s: %s; the printed numbers are incomplete", label, asf_shm_why());
}

/* If the rest of the line is not a label, copy it like other text. */
static void put_array(const struct text *blanks, const struct text *word, const struct text *rest) {
    char *label = copy_label(rest);
    char *shm = asf_shm_open(label);
    if (!shm && errno != EINVAL)
        asf__fail("shm expand: %s: %s; %s", label, strerror(errno), asf_shm_why());
    print_text(blanks);
    if (shm) {
        put_numbers(label, shm);
    } else {
        print_text(word);
        print_text(rest);
    }
    free(label);
}

static void expand_labels(FILE *in) {
    struct text blanks = {0}, word = {0}, rest = {0};
    for (read_word(in, &blanks, &word); word.length > 0; read_word(in, &blanks, &word)) {
        if (text_equals(&word, "shmids")) {
            read_rest_of_line(in, &rest);
            put_array(&blanks, &word, &rest);
        } else {
            print_text(&blanks);
            print_text(&word);
        }
    }
    print_text(&blanks);
    free(blanks.bytes);
    free(word.bytes);
    free(rest.bytes);
}

int asf__shm_expand(int argc, char **argv) {
    int option = getopt_long(argc, argv, "+:h", asf__options_of("shm expand"), NULL);
    if (option == 'h')
        return asf__help_of("shm expand");
    if (option != -1)
        asf__bad_option("shm expand", option, argv);
    FILE *in = open_input("expand", argc, argv);
    expand_labels(in);
    if (ferror(in))
        asf__fail("shm expand: %s: read: %s; name a readable file", input_name(argv[optind]),
                  strerror(errno));
    return asf__close_stdout();
}

/* --- pack -------------------------------------------------------------------------- */

struct packing {
    size_t min_count;           /* arrays of fewer numbers stay text */
    const char *prefix;         /* first part of the segments' names, or NULL */
    const char *backend;        /* NULL: asf_shm_create's default */
    mode_t mode;                /* permissions of the segments */
    struct text name;           /* the last word that is not a number */
    struct text leading_blanks; /* blanks before the array's first number */
    struct text source;   /* the array's text, which end_array prints if `count` stays below `min_count` */
    struct text overflow; /* first number of the array that overflows a double */
    double *numbers;
    size_t count, capacity;
    char **labels; /* labels of the segments made so far, which a failure removes */
    size_t label_count;
};

__attribute__((noreturn)) static void fail_pack(struct packing *p, const char *what, const char *why) {
    for (size_t i = 0; i < p->label_count; i++)
        asf_shm_remove(p->labels[i]);
    asf__fail("shm pack: %s: %s", what, why);
}

static void *reallocate(struct packing *p, void *block, size_t count, size_t size) {
    block = reallocarray(block, count, size);
    if (!block)
        fail_pack(p, "malloc", strerror(ENOMEM));
    return block;
}

static void add_number(struct packing *p, double value) {
    if (p->count == p->capacity) {
        p->capacity = p->capacity * 2 + 1024;
        p->numbers = reallocate(p, p->numbers, p->capacity, sizeof *p->numbers);
    }
    p->numbers[p->count++] = value;
}

/* Returns the field's name as the segment's name.  Replaces control characters, because no label may contain
 * them. */
static char *segment_name(const struct packing *p) {
    const char *field = p->name.length > 0 ? p->name.bytes : "array";
    char *name = p->prefix ? asf__text("%s/%s", p->prefix, field) : asf__text("%s", field);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return name;
}

static void put_segment(struct packing *p) {
    char *name = segment_name(p);
    char *shm = asf_shm_create_on(p->backend, name, p->mode, p->count * sizeof(double));
    if (!shm)
        fail_pack(p, strerror(errno), asf_shm_why());
    memcpy(shm + ASF_SHM_HEAD, p->numbers, p->count * sizeof(double));
    char *label = asf__text("%.*s", (int)strcspn(shm, "\n"), shm);
    asf_shm_close(shm);
    p->labels = reallocate(p, p->labels, p->label_count + 1, sizeof *p->labels);
    p->labels[p->label_count++] = label;
    if (printf("shmids %s", label) < 0)
        fail_pack(p, "standard output: write", strerror(errno));
    free(name);
}

/* The array ends before `blanks`.  A label needs a newline after it. */
static void end_array(struct packing *p, const struct text *blanks) {
    const char *newline = blanks->length > 0 ? memchr(blanks->bytes, '\n', blanks->length) : NULL;
    bool packed = p->count > 0 && p->count >= p->min_count;
    print_text(&p->leading_blanks);
    if (packed) {
        put_segment(p);
        fputs(newline ? newline : "\n", stdout);
    } else {
        print_text(&p->source);
        print_text(blanks);
    }
    clear_text(&p->leading_blanks);
    clear_text(&p->source);
    clear_text(&p->overflow);
    p->count = 0;
}

/* At the start of a line "nan" and "inf" are names; inside an array they are numbers. */
static bool is_number(struct packing *p, const struct text *blanks, const struct text *word, double *value) {
    bool starts_line = blanks->length == 0 || memchr(blanks->bytes, '\n', blanks->length);
    if (p->count == 0 && starts_line && isalpha((unsigned char)word->bytes[0]))
        return false;
    int rc =
        strlen(word->bytes) == word->length ? asf__get_double(word->bytes, word->length, value) : -EBADMSG;
    if (rc == -ERANGE && p->overflow.length == 0)
        append_text(&p->overflow, word);
    return rc == 0 || rc == -ERANGE;
}

static void pack_number(struct packing *p, const struct text *blanks, const struct text *word, double value) {
    if (p->count < p->min_count) {
        append_text(p->count == 0 ? &p->leading_blanks : &p->source, blanks);
        append_text(&p->source, word);
    }
    add_number(p, value);
    if (p->count >= p->min_count && p->overflow.length > 0)
        fail_pack(p, p->overflow.bytes,
                  "the number is too large for a double; remove it, or do not pack this text");
}

static void copy_name(struct packing *p, FILE *in, const struct text *blanks, const struct text *word) {
    end_array(p, blanks);
    print_text(word);
    clear_text(&p->name);
    append_text(&p->name, word);
    if (text_equals(word, "shmids")) {
        read_rest_of_line(in, &p->source); /* the rest is a label: the array is already packed */
        print_text(&p->source);
        clear_text(&p->source);
    }
}

static void pack_arrays(struct packing *p, FILE *in) {
    struct text blanks = {0}, word = {0};
    double value;
    for (read_word(in, &blanks, &word); word.length > 0; read_word(in, &blanks, &word)) {
        if (is_number(p, &blanks, &word, &value))
            pack_number(p, &blanks, &word, value);
        else
            copy_name(p, in, &blanks, &word);
    }
    end_array(p, &blanks);
    free(blanks.bytes);
    free(word.bytes);
}

static size_t parse_count(const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || n == 0)
        asf__fail("shm pack: --min %s: give a count of 1 or more", text);
    return n;
}

static mode_t parse_mode(const char *text) {
    char *end;
    unsigned long mode = strtoul(text, &end, 8);
    if (text[0] < '0' || text[0] > '7' || *end != '\0' || mode > 0777)
        asf__fail("shm pack: --mode %s: give octal permissions, such as 0600", text);
    return (mode_t)mode;
}

/* Refuses memfd, because a memfd segment would end with this process. */
static const char *parse_backend(const char *name) {
    if (strcmp(name, "posix") != 0 && strcmp(name, "sysv") != 0)
        asf__fail("shm pack: --backend %s: give posix or sysv", name);
    return name;
}

static bool parse_pack(struct packing *p, int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of("shm pack"), NULL)) != -1;) {
        if (option == 'm')
            p->min_count = parse_count(optarg);
        else if (option == 'n')
            p->prefix = optarg;
        else if (option == 'b')
            p->backend = parse_backend(optarg);
        else if (option == 'o')
            p->mode = parse_mode(optarg);
        else if (option == 'h')
            return false;
        else
            asf__bad_option("shm pack", option, argv);
    }
    return true;
}

static void free_packing(struct packing *p) {
    for (size_t i = 0; i < p->label_count; i++)
        free(p->labels[i]);
    free(p->labels);
    free(p->numbers);
    free(p->name.bytes);
    free(p->leading_blanks.bytes);
    free(p->source.bytes);
    free(p->overflow.bytes);
}

int asf__shm_pack(int argc, char **argv) {
    struct packing p = {.min_count = 1000, .mode = 0600};
    if (!parse_pack(&p, argc, argv))
        return asf__help_of("shm pack");
    FILE *in = open_input("pack", argc, argv);
    signal(SIGPIPE, SIG_IGN); /* a failed write then removes the segments */
    pack_arrays(&p, in);
    if (ferror(in))
        fail_pack(&p, asf__text("%s: read", input_name(argv[optind])), strerror(errno));
    int status = asf__close_stdout();
    for (size_t i = 0; status != 0 && i < p.label_count; i++)
        asf_shm_remove(p.labels[i]);
    free_packing(&p);
    return status;
}
