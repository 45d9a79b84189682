/* SPDX-License-Identifier: MIT
 *
 * readings.c - writes a thousand records to standard output, in this machine's layout of the struct.
 */
#include <asf/record.h>
#include <fcntl.h>
#include <stdio.h>

struct reading {
    int32_t sensor;
    double value;
};

static const struct asf_record_field fields[] = {
    ASF_FIELD(INT, struct reading, sensor),
    ASF_FIELD(FLOAT, struct reading, value),
};
static const struct asf_record_type type = ASF_RECORD_TYPE("reading", struct reading, fields);

int main(void) {
    struct asf_record_format *format;
    struct asf_record_writer *writer;
    struct asf_cios *out = asf_sopen_fd(1, O_WRONLY, NULL);
    int rc = !out || asf_record_declare(&type, &format) || asf_record_writer_new(out, NULL, &writer);
    for (int i = 0; i < 1000 && rc == 0; i++)
        rc = asf_record_write(writer, format, &(struct reading){i % 7, i / 8.0});
    if (rc == 0)
        rc = asf_record_writer_close(writer) || asf_sclose(out);
    if (rc != 0)
        fprintf(stderr, "readings: standard output: %s\n", asf_record_why());
    return rc != 0;
}
