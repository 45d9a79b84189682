/* SPDX-License-Identifier: MIT
 *
 * columns_threads.c - columns of numbers of a whole file, read by several threads: each part into a chunk;
 * the chunks are then copied in order.
 */
#define _GNU_SOURCE
#include <asf/lines.h>
#include <asf/parts.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The size of a part: its chunk is still in the processor's caches when it is copied. */
enum { PART = 1 << 20, LEAST_ROWS = 1 << 12 };

/* The rows of a part. */
struct chunk {
    struct chunk *next; /* the next in the list of idle chunks */
    int64_t rows, room;
    struct asf_column *columns; /* the argument of asf_get_columns */
    void *values[];             /* one array for each column */
};

struct table {
    int separator;
    int64_t skip;
    struct asf_column *columns;
    size_t count;
    int64_t rows, room; /* the rows of `columns`, and the rows that they have room for */
    pthread_mutex_t lock;
    struct chunk *idle;
    struct chunk **of_part; /* by part: chunks that are read and not yet copied */
    int64_t parts;
};

static size_t width(enum asf_column_type type) {
    return type == ASF_INT32 ? sizeof(int32_t) : sizeof(int64_t); /* a double has 8 bytes, as int64_t */
}

/* --- chunks ---------------------------------------------------------------------------------- */

static void free_chunk(const struct table *t, struct chunk *chunk) {
    for (size_t i = 0; chunk && i < t->count; i++)
        free(chunk->values[i]);
    free(chunk ? chunk->columns : NULL);
    free(chunk);
}

static struct chunk *take_chunk(struct table *t) {
    pthread_mutex_lock(&t->lock);
    struct chunk *chunk = t->idle;
    if (chunk)
        t->idle = chunk->next;
    pthread_mutex_unlock(&t->lock);
    if (!chunk)
        chunk = calloc(1, sizeof *chunk + t->count * sizeof chunk->values[0]);
    if (chunk && !chunk->columns)
        chunk->columns = calloc(t->count, sizeof *chunk->columns);
    if (!chunk || !chunk->columns) {
        free(chunk);
        return NULL;
    }
    chunk->rows = 0;
    return chunk;
}

static void give_chunk(struct table *t, struct chunk *chunk) {
    pthread_mutex_lock(&t->lock);
    chunk->next = t->idle;
    t->idle = chunk;
    pthread_mutex_unlock(&t->lock);
}

/* Enters the chunk of a part in `of_part`.  returns  false: there is no memory. */
static bool keep_chunk(struct table *t, const struct asf_part *part, struct chunk *chunk) {
    pthread_mutex_lock(&t->lock);
    if (!t->of_part)
        t->of_part = calloc((size_t)part->count, sizeof(struct chunk *));
    t->parts = part->count;
    const bool kept = t->of_part;
    if (kept)
        t->of_part[part->index] = chunk;
    pthread_mutex_unlock(&t->lock);
    return kept;
}

static bool grow(void **values, enum asf_column_type type, int64_t room) {
    void *more = realloc(*values, (size_t)room * width(type));
    if (more)
        *values = more;
    return more;
}

static bool grow_chunk(const struct table *t, struct chunk *chunk) {
    const int64_t room = chunk->room ? 2 * chunk->room : LEAST_ROWS;
    for (size_t i = 0; i < t->count; i++)
        if (!grow(&chunk->values[i], t->columns[i].type, room))
            return false;
    chunk->room = room;
    return true;
}

/* --- a part ------------------------------------------------------------------------------------- */

/* Skips the heading.  It must end in the first part: otherwise the call fails with -EMSGSIZE. */
static int skip_lines(struct asf_cios *stream, const struct asf_part *part, int64_t lines) {
    for (; lines > 0; lines--) {
        ssize_t n = 0;
        void *line = asf_salloc_until(stream, '\n', &n);
        if (!line)
            return n < 0 ? (int)n : part->count > 1 ? -EMSGSIZE : 0;
        int rc = asf_sfree(stream, line);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Reads rows into the free room of the chunk.  returns  the number of rows, or an error. */
static int64_t read_rows(const struct table *t, struct asf_cios *stream, struct chunk *chunk) {
    for (size_t i = 0; i < t->count; i++) {
        const struct asf_column *c =
            &t->columns[i]; /* not its `values`, which another thread may be changing */
        char *values = (char *)chunk->values[i] + (size_t)chunk->rows * width(c->type);
        chunk->columns[i] = (struct asf_column){c->field, c->type, values};
    }
    return asf_get_columns(stream, t->separator, chunk->columns, t->count, chunk->room - chunk->rows);
}

static int64_t read_chunk(const struct table *t, struct asf_cios *stream, struct chunk *chunk) {
    for (;;) {
        if (chunk->rows == chunk->room && !grow_chunk(t, chunk))
            return -ENOMEM;
        int64_t rows = read_rows(t, stream, chunk);
        if (rows <= 0)
            return rows;
        chunk->rows += rows;
    }
}

static int read_part(struct asf_cios *stream, const struct asf_part *part, void *table) {
    struct table *t = table;
    struct chunk *chunk = take_chunk(t);
    if (!chunk || !keep_chunk(t, part, chunk)) {
        free_chunk(t, chunk);
        return -ENOMEM;
    }
    int64_t rc = part->index == 0 ? skip_lines(stream, part, t->skip) : 0;
    return rc < 0 ? (int)rc : (int)read_chunk(t, stream, chunk);
}

/* --- copying, in the order of the parts ------------------------------------------------------------ */

static bool grow_columns(struct table *t, int64_t room) {
    for (size_t i = 0; i < t->count; i++)
        if (!grow(&t->columns[i].values, t->columns[i].type, room))
            return false;
    t->room = room;
    return true;
}

/* Makes room for `rows` more rows.  The first call makes room for as many rows as the file probably has. */
static bool make_room(struct table *t, const struct asf_part *part, int64_t rows) {
    const int64_t least = t->rows + rows;
    int64_t room = least + least / 2;
    if (least <= t->room)
        return true;
    if (t->room == 0 && part->end > 0)
        room = (int64_t)((double)least * (double)part->size / (double)part->end * 1.02) + 1;
    return grow_columns(t, room) || grow_columns(t, least);
}

static int copy_part(const struct asf_part *part, void *table) {
    struct table *t = table;
    struct chunk *chunk = t->of_part[part->index];
    if (!make_room(t, part, chunk->rows))
        return -ENOMEM;
    for (size_t i = 0; i < t->count && chunk->rows > 0; i++) {
        const size_t size = width(t->columns[i].type);
        memcpy((char *)t->columns[i].values + (size_t)t->rows * size, chunk->values[i],
               (size_t)chunk->rows * size);
    }
    t->rows += chunk->rows;
    t->of_part[part->index] = NULL;
    give_chunk(t, chunk);
    return 0;
}

/* --- the whole call ---------------------------------------------------------------------------------- */

static void free_chunks(void *table) {
    struct table *t = table;
    while (t->idle) {
        struct chunk *chunk = t->idle;
        t->idle = chunk->next;
        free_chunk(t, chunk);
    }
    for (int64_t i = 0; i < t->parts && t->of_part; i++)
        free_chunk(t, t->of_part[i]);
    free(t->of_part);
    pthread_mutex_destroy(&t->lock);
}

static void drop_columns(struct table *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->columns[i].values);
        t->columns[i].values = NULL;
    }
    t->rows = 0;
}

/* Shrinks the arrays to the size of their rows. */
static void trim_columns(struct table *t) {
    for (size_t i = 0; i < t->count; i++)
        grow(&t->columns[i].values, t->columns[i].type, t->rows); /* if this fails, the array is unchanged */
}

static void free_all(void *table) {
    free_chunks(table);
    drop_columns(table);
}

int64_t asf_read_columns(const char *path, int separator, int64_t skip, struct asf_column *columns,
                         size_t count, unsigned threads) {
    const struct asf_cut how = {.delimiter = '\n', .size = PART, .decode = true};
    struct table t = {.separator = separator,
                      .skip = skip,
                      .columns = columns,
                      .count = count,
                      .lock = PTHREAD_MUTEX_INITIALIZER};
    for (size_t i = 0; i < count; i++)
        columns[i].values = NULL;
    if (count == 0 || skip < 0)
        return -EINVAL;
    int rc;
    pthread_cleanup_push(free_all, &t);
    rc = asf_each_part(path, &how, threads, read_part, copy_part, &t);
    pthread_cleanup_pop(0);
    free_chunks(&t);
    if (rc || t.rows == 0)
        drop_columns(&t);
    else
        trim_columns(&t);
    return rc ? rc : t.rows;
}
