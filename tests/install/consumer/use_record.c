/* SPDX-License-Identifier: MIT
 *
 * use_record.c FILE - writes a record, reads it back, prints it, by the ASI or, with USE_STDIO, by stdio
 * streams. A user's program: it uses only the installed headers and libraries.
 */
#include <asf/record.h>
#include <fcntl.h>
#include <stdio.h>
#ifdef USE_XBYAK
#include <asf/record_xbyak.h>
#endif

struct reading {
    int32_t sensor;
    double value;
};

static const struct asf_record_field fields[] = {
    ASF_FIELD(INT, struct reading, sensor),
    ASF_FIELD(FLOAT, struct reading, value),
};
static const struct asf_record_type type = ASF_RECORD_TYPE("reading", struct reading, fields);

#ifdef USE_STDIO
static struct asf_cios *open_stream(const char *path, const char *mode, FILE **file) {
    *file = fopen(path, mode);
    return *file ? asf_stream(*file) : NULL;
}
static int close_stream(struct asf_cios *stream, FILE *file) {
    (void)stream;
    return fclose(file);
}
#else
static struct asf_cios *open_stream(const char *path, const char *mode, FILE **file) {
    *file = NULL;
    return asf_sopen(path, *mode == 'w' ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY, 0600, NULL);
}
static int close_stream(struct asf_cios *stream, FILE *file) {
    (void)file;
    return asf_sclose(stream);
}
#endif

static int fill(const char *path, struct asf_record_format *format) {
    const struct reading reading = {7, 20.5};
    struct asf_record_writer *writer;
    FILE *file;
    struct asf_cios *out = open_stream(path, "w", &file);
    return !out || asf_record_writer_new(out, NULL, &writer) || asf_record_write(writer, format, &reading) ||
           asf_record_writer_close(writer) || close_stream(out, file);
}

static int show(const char *path, struct asf_record_format *format) {
    struct asf_record_reader *reader;
    struct asf_record *record;
    FILE *file;
    struct asf_cios *in = open_stream(path, "r", &file);
    if (!in || asf_record_reader_new(in, NULL, &reader) || asf_record_next(reader, &record) != 1)
        return 1;
    const void *data;
    if (asf_record_view(record, format, &data))
        return 1;
    const struct reading *reading = (const struct reading *)data;
    printf("sensor %d: %g\n", reading->sensor, reading->value);
    asf_record_reader_free(reader);
    return close_stream(in, file);
}

int main(int argc, char **argv) {
    struct asf_record_format *format;
#ifdef USE_XBYAK
    asf_record_generate_xbyak();
#endif
    if (argc != 2 || asf_record_declare(&type, &format))
        return 1;
    if (fill(argv[1], format) || show(argv[1], format)) {
        fprintf(stderr, "%s\n", asf_record_why());
        return 1;
    }
    asf_record_format_free(format);
    printf("asf %s\n", asf_version());
    return 0;
}
