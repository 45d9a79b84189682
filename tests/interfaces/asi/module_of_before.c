/* SPDX-License-Identifier: MIT
 *
 * module_of_before.c - a stream module compiled for an older table: the table is written out here as in
 * <asf/stream.h> of 0.1 and of 0.2.0's development.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

static const char text[] = "a module of before";
static size_t at;

static ssize_t get(void *c, void *buf, size_t n) {
    (void)c;
    n = n < sizeof text - 1 - at ? n : sizeof text - 1 - at;
    memcpy(buf, text + at, n);
    at += n;
    return (ssize_t)n;
}

static int64_t seek(void *c, int64_t offset, int whence) {
    (void)c;
    int64_t base = whence == 0 ? 0 : whence == 1 ? (int64_t)at : (int64_t)sizeof text - 1;
    at = (size_t)(base + offset);
    return base + offset;
}

const struct {
    size_t size;
    unsigned version;
    const char *name;
    ssize_t (*get)(void *c, void *buf, size_t n);
    ssize_t (*put)(void *c, const void *buf, size_t n);
    int64_t (*seek)(void *c, int64_t offset, int whence);
    int (*close)(void *c);
    void (*fill)(void), (*drain)(void), (*flushed)(void), (*attach)(void), (*length)(void), (*trim)(void),
        (*lost)(void), (*put_at)(void), (*busy)(void), (*arrive)(void);
} table_of_before = {
    .size = sizeof table_of_before, .version = 1, .name = "before", .get = get, .seek = seek};
