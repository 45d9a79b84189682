/* SPDX-License-Identifier: MIT
 *
 * command_record_dump.c - "asf record formats" and "asf record dump": print formats and records, as text or
 * JSON.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/command/command_json.h"
#include "interfaces/command/command_record.h"
#include "interfaces/command/command_table.h"
#include "lib/text/decimal.h"

/* The options of "asf record dump" and "asf record formats". */
struct dump_options {
    bool json;
    struct record_source source;
    uint64_t number, count;
};

/* --- formats ---------------------------------------------------------------------- */

static const char *const kind_names[] = {"",     "int",  "uint",   "float", "char",
                                         "bool", "enum", "string", "struct"};

static void put_field(const struct asf_record_member *m, const char *prefix) {
    const char *of = m->layout ? asf_record_layout_name(m->layout) : "";
    printf("  %6u  %s%s", m->offset, prefix, m->name);
    if (m->shape == ASF_RECORD_ARRAY)
        printf("[%u]", m->count);
    if (m->shape == ASF_RECORD_DYNAMIC)
        printf("[%s]", m->counter);
    printf(": %s", kind_names[m->kind]);
    if (m->layout)
        printf(" %s of %u bytes", of, m->size);
    else if (m->kind != ASF_RECORD_STRING && m->kind != ASF_RECORD_CHAR)
        printf(" of %u bit", 8 * m->size);
    putchar('\n');
}

static void put_layout(const struct asf_record_layout *s, const char *prefix) {
    struct asf_record_member m;
    for (size_t i = 0; asf_record_layout_field(s, i, &m) == 0; i++) {
        put_field(&m, prefix);
        if (m.layout) {
            char *inner = asf__text("%s%s.", prefix, m.name);
            put_layout(m.layout, inner);
            free(inner);
        }
    }
}

static void put_hash(const struct asf_record_format *f) {
    for (int i = 0; i < 16; i++)
        printf("%02x", asf_record_hash(f)[i]);
}

static const char *byte_order(const struct asf_record_layout *s) {
    return asf_record_layout_order(s) == 1234 ? "little-endian" : "big-endian";
}

static void put_format(const struct asf_record_format *f) {
    const struct asf_record_layout *s = asf_record_layout_of(f);
    printf("%s: %zu bytes, %s, ", asf_record_layout_name(s), asf_record_layout_size(s), byte_order(s));
    put_hash(f);
    putchar('\n');
    put_layout(s, "");
}

static void put_json_layout(const struct asf_record_layout *s) {
    struct asf_record_member m;
    for (size_t i = 0; asf_record_layout_field(s, i, &m) == 0; i++) {
        printf("%s{\"name\": ", i ? ", " : "[");
        asf__put_json(m.name);
        printf(", \"kind\": \"%s\", \"offset\": %u, \"size\": %u", kind_names[m.kind], m.offset, m.size);
        if (m.shape == ASF_RECORD_ARRAY)
            printf(", \"count\": %u", m.count);
        if (m.counter) {
            fputs(", \"counter\": ", stdout);
            asf__put_json(m.counter);
        }
        if (m.layout) {
            fputs(", \"fields\": ", stdout);
            put_json_layout(m.layout);
        }
        putchar('}');
    }
    putchar(']');
}

static void put_json_format(const struct asf_record_format *f) {
    const struct asf_record_layout *s = asf_record_layout_of(f);
    fputs("{\"name\": ", stdout);
    asf__put_json(asf_record_layout_name(s));
    printf(", \"size\": %zu, \"order\": \"%s\", \"hash\": \"", asf_record_layout_size(s), byte_order(s));
    put_hash(f);
    fputs("\", \"fields\": ", stdout);
    put_json_layout(s);
    fputs("}\n", stdout);
}

/* A short format can expand to very many fields, because a struct's fields count each time the struct is
 * used.
 * returns  the number of fields, at most `most` */
static size_t count_fields(const struct asf_record_layout *s, size_t most) {
    struct asf_record_member m;
    size_t n = 0;
    for (size_t i = 0; n < most && asf_record_layout_field(s, i, &m) == 0; i++)
        n += 1 + (m.layout ? count_fields(m.layout, most - n - 1) : 0);
    return n;
}

static void put_one_format(const struct asf_record_format *f, const struct dump_options *d,
                           const char *input) {
    enum { MAX_FIELDS = 1000000 };
    const struct asf_record_layout *s = asf_record_layout_of(f);
    if (count_fields(s, MAX_FIELDS + 1) > MAX_FIELDS)
        asf__fail(
            "record formats: %s: the format '%s' has more than %d fields, including those of its structs",
            input, asf_record_layout_name(s), MAX_FIELDS);
    (d->json ? put_json_format : put_format)(f);
}

/* Hashes of the formats that were printed. */
struct printed_hashes {
    unsigned char (*hashes)[16];
    size_t count;
    unsigned char last[16];
};

static bool insert_hash(struct printed_hashes *shown, const unsigned char *hash) {
    for (size_t i = 0; i < shown->count; i++)
        if (!memcmp(shown->hashes[i], hash, 16))
            return false;
    shown->hashes = reallocarray(shown->hashes, shown->count + 1, sizeof *shown->hashes);
    if (!shown->hashes)
        asf__fail("record: malloc: %s; give asf more memory", strerror(ENOMEM));
    memcpy(shown->hashes[shown->count++], hash, 16);
    return true;
}

/* --- options ------------------------------------------------------------------------- */

static uint64_t parse_number(const char *subcommand, const char *option, const char *text) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        asf__fail("record %s: --%s %s: give a number of 0 or more", subcommand, option, text);
    return n;
}

/* Returns false if the options ask for help. */
static bool parse_dump(struct dump_options *d, int argc, char **argv, const char *command) {
    for (int option; (option = getopt_long(argc, argv, "+:h", asf__options_of(command), NULL)) != -1;) {
        if (option == 'j')
            d->json = true;
        else if (option == 's')
            d->source.store = optarg;
        else if (option == 'm')
            d->source.footprint = asf__size("record", "memory", optarg);
        else if (option == 'h')
            return false;
        else if (option == 'n')
            d->number = parse_number(argv[0], "number", optarg);
        else if (option == 'c')
            d->count = parse_number(argv[0], "count", optarg);
        else
            asf__bad_option(command, option, argv);
    }
    if (argc - optind > 1)
        asf__fail("record %s takes one file, but '%s' is given too", argv[0], argv[optind + 1]);
    return true;
}

int asf__record_formats(int argc, char **argv) {
    struct dump_options d = {0};
    struct printed_hashes shown = {0};
    struct asf_record *record;
    int rc;
    if (!parse_dump(&d, argc, argv, "record formats"))
        return asf__help_of("record formats");
    struct record_input in =
        asf__record_open(argv[0], argv[optind], &d.source, asf__record_flush_stdout, NULL);
    while ((rc = asf_record_next(in.reader, &record)) > 0) {
        struct asf_record_format *f = asf_record_format_of(record);
        if (insert_hash(&shown, asf_record_hash(f)))
            put_one_format(f, &d, in.name);
    }
    free(shown.hashes);
    return asf__record_close(argv[0], &in, rc);
}

/* --- values ----------------------------------------------------------------------------- */

static void put_float(double value, unsigned size, bool json) {
    char text[ASF_DECIMAL];
    if (json && !isfinite(value)) {
        fputs(isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"", stdout);
    } else if (size == sizeof(float)) {
        for (int digits = 6; digits <= 9; digits++) { /* the fewest digits that give this float */
            snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtof(text, NULL) == (float)value)
                break;
        }
        fputs(text, stdout);
    } else {
        text[asf__put_double(text, value)] = '\0';
        fputs(text, stdout);
    }
}

static void put_single(const struct asf_record_value *v, bool json) {
    const char *text;
    int64_t number;
    uint64_t positive;
    double real;
    if (v->member.kind == ASF_RECORD_STRING && asf_record_as_string(v, &text) == 0) {
        if (text)
            asf__put_json(text);
        else
            fputs("null", stdout);
    } else if (v->member.kind == ASF_RECORD_FLOAT && asf_record_as_float(v, &real) == 0) {
        put_float(real, v->member.size, json);
    } else if (v->member.kind == ASF_RECORD_BOOL && asf_record_as_uint(v, &positive) == 0) {
        fputs(positive ? "true" : "false", stdout);
    } else if (asf_record_as_uint(v, &positive) == 0) {
        printf("%" PRIu64, positive);
    } else if (asf_record_as_int(v, &number) == 0) {
        printf("%" PRId64, number);
    }
}

static void put_value(const struct asf_record_value *v, bool json);

static void put_struct(const struct asf_record_value *v, bool json) {
    struct asf_record_value field;
    putchar('{');
    for (size_t i = 0; asf_record_value_field(v, i, &field) == 0; i++) {
        if (i)
            fputs(", ", stdout);
        asf__put_json(field.member.name);
        fputs(": ", stdout);
        put_value(&field, json);
    }
    putchar('}');
}

/* The text ends at the null byte, or at the end of the array. */
static void put_characters(const struct asf_record_value *v) {
    char *text = malloc(v->count + 1);
    if (!text)
        asf__fail("record dump: malloc: %s; give asf more memory", strerror(ENOMEM));
    if (v->count > 0)
        memcpy(text, v->at, v->count);
    text[v->count] = '\0';
    asf__put_json(text);
    free(text);
}

static void put_array(const struct asf_record_value *v, bool json) {
    struct asf_record_value item;
    if (v->member.kind == ASF_RECORD_CHAR) {
        put_characters(v);
        return;
    }
    putchar('[');
    for (size_t i = 0; i < v->count && asf_record_value_item(v, i, &item) == 0; i++) {
        if (i)
            fputs(", ", stdout);
        put_value(&item, json);
    }
    putchar(']');
}

static void put_value(const struct asf_record_value *v, bool json) {
    if (v->member.shape != ASF_RECORD_SINGLE)
        put_array(v, json);
    else if (v->member.kind == ASF_RECORD_STRUCT)
        put_struct(v, json);
    else
        put_single(v, json);
}

/* --- records ------------------------------------------------------------------------------ */

static void put_record(const struct asf_record *record, uint64_t number, bool json) {
    struct asf_record_value whole, field;
    if (asf_record_find(record, "", &whole) < 0)
        return;
    if (json) {
        put_struct(&whole, true);
        putchar('\n');
        return;
    }
    printf("%" PRIu64 " %s\n", number, whole.member.name);
    for (size_t i = 0; asf_record_value_field(&whole, i, &field) == 0; i++) {
        printf("  %s = ", field.member.name);
        put_value(&field, false);
        putchar('\n');
    }
}

/* Skip `number` records: seek or, if the input cannot seek, read them. */
static int skip_records(struct record_input *in, uint64_t number) {
    struct asf_record *record;
    int rc = 1;
    if (number == 0 || asf_record_seek(in->reader, number) == 0)
        return 1;
    for (uint64_t i = 0; rc > 0 && i < number; i++)
        rc = asf_record_next(in->reader, &record);
    return rc;
}

int asf__record_dump(int argc, char **argv) {
    struct dump_options d = {.count = UINT64_MAX};
    struct asf_record *record;
    if (!parse_dump(&d, argc, argv, "record dump"))
        return asf__help_of("record dump");
    struct record_input in =
        asf__record_open(argv[0], argv[optind], &d.source, asf__record_flush_stdout, NULL);
    int rc = skip_records(&in, d.number);
    for (uint64_t i = 0; rc > 0 && i < d.count; i++) {
        rc = asf_record_next(in.reader, &record);
        if (rc > 0)
            put_record(record, d.number + i, d.json);
    }
    return asf__record_close(argv[0], &in, rc);
}
