/* SPDX-License-Identifier: MIT
 *
 * command_record_convert.c - "asf record convert": writes records in the layout of this machine, so that
 * programs here use them without conversion.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interfaces/command/command_record.h"
#include "interfaces/command/command_table.h"

static void *allocate(size_t count, size_t size) {
    void *p = calloc(count, size);
    if (!p)
        asf__fail("record convert: malloc: %s; give asf more memory", strerror(ENOMEM));
    return p;
}

/* --- this machine's layout ------------------------------------------------------------ */

struct target {
    unsigned char hash[16]; /* hash of the input's format */
    struct asf_record_format *native;
    void *data; /* memory for one record */
};

/* Structs already converted: each struct must have exactly one type. */
struct converted_struct {
    const struct asf_record_layout *layout;
    struct asf_record_type *type;
    struct converted_struct *next;
};

static size_t round_up(size_t n, size_t align) {
    return (n + align - 1) / align * align;
}

static const struct asf_record_type *type_of(const struct asf_record_layout *s,
                                             struct converted_struct **made);

/* Add a field at the offset where a compiler puts it. */
static void append_field(struct asf_record_type *type, struct asf_record_field *f,
                         const struct asf_record_member *m, struct converted_struct **made) {
    bool pointer = m->shape == ASF_RECORD_DYNAMIC || m->kind == ASF_RECORD_STRING;
    *f = (struct asf_record_field){.name = m->name,
                                   .kind = m->kind,
                                   .shape = m->shape,
                                   .count = m->count,
                                   .counter = m->counter,
                                   .size = m->size};
    if (m->layout)
        f->type = type_of(m->layout, made);
    if (f->type)
        f->size = f->type->size;
    if (m->kind == ASF_RECORD_STRING)
        f->size = sizeof(char *);
    size_t align = pointer ? sizeof(void *) : f->type ? f->type->alignment : f->size;
    f->offset = round_up(type->size, align);
    type->size = f->offset + (m->shape == ASF_RECORD_DYNAMIC ? sizeof(void *) : f->size * f->count);
    if (align > type->alignment)
        type->alignment = align;
}

static const struct asf_record_type *type_of(const struct asf_record_layout *s,
                                             struct converted_struct **made) {
    struct asf_record_member member;
    for (const struct converted_struct *m = *made; m; m = m->next)
        if (m->layout == s)
            return m->type;
    size_t count = asf_record_layout_fields(s);
    struct asf_record_type *type = allocate(1, sizeof *type);
    struct asf_record_field *fields = allocate(count, sizeof *fields);
    *type = (struct asf_record_type){asf_record_layout_name(s), 0, 1, fields, count};
    for (size_t i = 0; i < count && asf_record_layout_field(s, i, &member) == 0; i++)
        append_field(type, &fields[i], &member, made);
    type->size = round_up(type->size, type->alignment);
    struct converted_struct *one = allocate(1, sizeof *one);
    *one = (struct converted_struct){s, type, *made};
    *made = one;
    return type;
}

static void free_types(struct converted_struct *made) {
    for (struct converted_struct *next; made; made = next) {
        next = made->next;
        free((void *)(uintptr_t)made->type->fields);
        free(made->type);
        free(made);
    }
}

static struct target make_target(const struct asf_record_format *wire) {
    struct converted_struct *made = NULL;
    struct target t = {0};
    const struct asf_record_type *type = type_of(asf_record_layout_of(wire), &made);
    memcpy(t.hash, asf_record_hash(wire), sizeof t.hash);
    if (asf_record_declare(type, &t.native) < 0)
        asf__fail("record convert: %s", asf_record_why());
    t.data = allocate(1, type->size);
    free_types(made);
    return t;
}

static void free_targets(struct target *targets, size_t count) {
    for (size_t i = 0; i < count; i++) {
        asf_record_format_free(targets[i].native);
        free(targets[i].data);
    }
    free(targets);
}

/* --- converting ------------------------------------------------------------------------- */

struct conversion {
    struct record_source source;
    const char *output;
    bool index;
    struct asf_cios *stream;
    struct asf_record_writer *writer;
    struct target *targets;
    size_t count;
};

static struct target *target_for(struct conversion *c, struct asf_record_format *wire) {
    for (size_t i = 0; i < c->count; i++)
        if (!memcmp(c->targets[i].hash, asf_record_hash(wire), sizeof c->targets[i].hash))
            return &c->targets[i];
    c->targets = reallocarray(c->targets, c->count + 1, sizeof *c->targets);
    if (!c->targets)
        asf__fail("record convert: malloc: %s; give asf more memory", strerror(ENOMEM));
    c->targets[c->count] = make_target(wire);
    return &c->targets[c->count++];
}

static _Noreturn void fail_to_write(const struct conversion *c, int error) {
    asf__fail("record convert: %s: write: %s; redirect it to a file system with free space",
              c->output ? c->output : "standard output", asf_error_text(error));
}

static int convert_one(struct conversion *c, const struct record_input *in, struct asf_record *record) {
    struct target *t = target_for(c, asf_record_format_of(record));
    void *block;
    int rc = asf_record_into(record, t->native, t->data, &block);
    if (rc < 0)
        return rc;
    rc = asf_record_write(c->writer, t->native, t->data);
    free(block);
    if (rc == -E2BIG)
        asf__fail("record convert: %s: %s", in->name, asf_record_why());
    if (rc < 0)
        fail_to_write(c, rc);
    return 0;
}

/* The input calls it before it waits, so that a reader sees the output so far. */
static void flush_output(void *arg) {
    struct conversion *c = arg;
    int rc = c->stream ? asf_sflush(c->stream) : 0;
    if (rc < 0)
        fail_to_write(c, rc);
}

/* Returns whether the output is the input, which opening the output would truncate. */
static bool is_same_file(const struct conversion *c, struct asf_cios *input) {
    struct stat to, from;
    return c->output && stat(c->output, &to) == 0 && S_ISREG(to.st_mode) &&
           fstat(asf_fileno(input), &from) == 0 && to.st_dev == from.st_dev && to.st_ino == from.st_ino;
}

static void open_output(struct conversion *c, struct asf_cios *input) {
    if (is_same_file(c, input))
        asf__fail("record convert: %s: the output file is the input file; name another file", c->output);
    struct asf_record_options options = {
        .size = sizeof options, .indexed = c->index, .most_memory = c->source.footprint};
    int error = 0;
    c->stream = c->output ? asf_sopen(c->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666, &error)
                          : asf_sopen_fd(dup(STDOUT_FILENO), O_WRONLY, &error);
    if (!c->stream)
        asf__fail("record convert: %s: open: %s; name a file that can be written",
                  c->output ? c->output : "standard output", asf_error_text(error));
    if (asf_record_writer_new(c->stream, &options, &c->writer) < 0)
        asf__fail("record convert: %s", asf_record_why());
}

static void close_output(struct conversion *c) {
    int rc = asf_record_writer_close(c->writer);
    int closed = asf_sclose(c->stream);
    if (rc == 0)
        rc = closed;
    if (rc < 0)
        fail_to_write(c, rc);
}

static bool parse_convert(struct conversion *c, int argc, char **argv) {
    for (int option;
         (option = getopt_long(argc, argv, "+:h", asf__options_of("record convert"), NULL)) != -1;) {
        if (option == 'i')
            c->index = true;
        else if (option == 'o')
            c->output = optarg;
        else if (option == 's')
            c->source.store = optarg;
        else if (option == 'm')
            c->source.footprint = asf__size("record", "memory", optarg);
        else if (option == 'h')
            return false;
        else
            asf__bad_option("record convert", option, argv);
    }
    if (argc - optind > 1)
        asf__fail("record convert takes one file, but '%s' is given too", argv[optind + 1]);
    return true;
}

int asf__record_convert(int argc, char **argv) {
    struct conversion c = {0};
    struct asf_record *record;
    int rc = 0, written = 0;
    if (!parse_convert(&c, argc, argv))
        return asf__help_of("record convert");
    struct record_input in = asf__record_open(argv[0], argv[optind], &c.source, flush_output, &c);
    open_output(&c, in.stream);
    while (written == 0 && (rc = asf_record_next(in.reader, &record)) > 0)
        written = convert_one(&c, &in, record);
    if (written < 0)
        asf__fail("record convert: %s: %s", in.name, asf_record_why());
    close_output(&c);
    free_targets(c.targets, c.count);
    return asf__record_close(argv[0], &in, rc);
}
