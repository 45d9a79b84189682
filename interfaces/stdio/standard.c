/* SPDX-License-Identifier: MIT
 *
 * standard.c - stdin, stdout and stderr, initialized before any constructor runs; and the flush of all
 * streams.
 */
#include "interfaces/stdio/stdio_cios.h"

#include "backplane/backplane.h"
#include "backplane/regions.h"
#include "interfaces/stdio/popen.h"
#include "interfaces/stdio/stdio_cios.h"
#include "lib/sys/stats.h"
#include "streams/streams.h"

static void attach_standard(struct asf_cios *c);

/* The module of a standard stream until its first transfer. */
static const struct asf_module standard = {ASF__DESCRIPTOR_OPS("unused"), .attach = attach_standard};

#define STANDARD(object, number, mode, refuse, next_one, before)                                             \
    struct asf_cios object = {                                                                               \
        .flags = ASF_MAGIC | ASF_FILEBUF | ASF_USER_BUF | ASF_LINKED | (refuse),                             \
        .fd = number,                                                                                        \
        .flags2 = ASF_OURS,                                                                                  \
        .offset = -1,                                                                                        \
        .place = -1,                                                                                         \
        .ops = &standard,                                                                                    \
        .lk = {.biasable = (number) != 2, .fast = &object.fast},                                             \
        .access = mode,                                                                                      \
        .why = "not used",                                                                                   \
        ASF_STANDARD_LIBC_MEMBERS(object, number, next_one, before),                                         \
    }

STANDARD(asf__stdin, 0, O_RDONLY, ASF_NO_WRITES, NULL, &asf__stdout.chain);
STANDARD(asf__stdout, 1, O_WRONLY, ASF_NO_READS, &asf__stdin, &asf__stderr.chain);
STANDARD(asf__stderr, 2, O_WRONLY, ASF_NO_READS | ASF_UNBUFFERED, &asf__stdout, NULL);

/* --- the flush of all streams ----------------------------------------------------- */

ASF_RACY static bool has_output(const struct asf_cios *c) {
    if (asf__ours_wide(c) && asf__wide_pending(c) > 0)
        return true;
    return asf__is_putting(c) && !c->ops->memory_is_the_stream && (asf__pending(c) > 0 || c->queue);
}

/* Whether the stream has unread input, and a flush of all streams (or the exit) sets the descriptor's offset
 * back over it. */
ASF_RACY static bool has_input(const struct asf_cios *c, bool exits) {
    if (exits ? !ASF_LIBC(exit_restores_offset) : !ASF_LIBC(flush_all_input))
        return false;
    bool unread = asf__ours_wide(c) ? asf__wide_unread(c) > 0 : c->read_ptr < c->read_end;
    return unread && c->fd >= 0;
}

static void flush_input_and_output(struct asf_cios *c, int *result, bool exits) {
    if (has_input(c, exits)) {
        if (asf__flush_stream(c) != 0)
            *result = EOF;
        asf__share_offset(c);
    }
    if (!has_output(c))
        return;
    int rc = asf__ours_wide(c) ? asf__wide_flush(c) : asf__flush_output(c);
    if (rc >= 0)
        return;
    *result = EOF;
    if (!asf__ours_wide(c))
        asf__error(c, rc);
}

static bool lock_and_flush(struct asf_cios *c, void *result) {
    if (!has_output(c) && !has_input(c, false))
        return true;
    asf__begin_call(c);
    flush_input_and_output(c, result, false);
    asf__end_call(c);
    return true;
}

/* Set while fflush(NULL) calls libc's flush.  libc's flush calls asf__flush_at_exit, but our streams have
 * been flushed already, with their locks. */
static __thread bool in_flush_all;

int asf__flush_all(void) {
    int result = 0;
    asf__each(lock_and_flush, &result);
    asf__publish_streams(-1);
    in_flush_all = true;
    if (asf__other_flush_all() == EOF)
        result = EOF;
    in_flush_all = false;
    return result;
}

/* Waits for the stream's lock at exit, a tenth of a second at most.  If another thread does not unlock the
 * stream, it is flushed without the lock, as libc does.
 * returns  false: that thread is in a system call on the stream; do not flush it. */
ASF_RACY static bool lock_at_exit(struct asf_cios *c, bool *locked) {
    int tries = 0;
    while (!(*locked = asf__trylock(&c->lk)))
        if (c->use == ASF_IN_SYSTEM_CALL || !asf__patient(tries++, ASF_WHILE))
            return c->use != ASF_IN_SYSTEM_CALL;
    return true;
}

/* glibc flushes the standard streams itself, after all others.  One that was reopened is flushed here, in the
 * order of the list. */
static bool is_flushed_by_libc(const struct asf_cios *c) {
    return asf__is_standard(c) && !(c->flags2 & ASF_REOPENED) && ASF_LIBC(flushes_standard);
}

static bool flush_for_exit(struct asf_cios *c, void *result) {
    bool locked;
    if (is_flushed_by_libc(c) || (!has_output(c) && !has_input(c, true)))
        return true;
    if (lock_at_exit(c, &locked))
        flush_input_and_output(c, result, true);
    if (locked)
        asf__unlock(&c->lk);
    return true;
}

int asf__flush_at_exit(void) {
    int result = 0;
    asf__publish_on_exit();
    if (!in_flush_all)
        asf__each(flush_for_exit, &result);
    return result;
}

/* Whether to make the stream unbuffered at exit, as libc does: this sets the descriptor's offset to where the
 * program has read.  libc skips streams that were never used or are unbuffered. */
ASF_RACY static bool is_unbuffered_at_exit(const struct asf_cios *c) {
    return c->orientation != 0 && !(c->flags & ASF_UNBUFFERED) && !is_flushed_by_libc(c) &&
           !c->ops->memory_is_the_stream; /* its pointer and size may not exist any more */
}

/* Puts the pending output, except the bytes of regions that the program has not freed. */
ASF_RACY static void put_pending_output(struct asf_cios *c) {
    bool locked, kept = c->queue || (c->buffer && c->buffer->refs);
    if (!c->detached && !(kept && has_output(c)))
        return;
    if (lock_at_exit(c, &locked)) {
        asf__put_without_regions(c);
    }
    if (locked)
        asf__unlock(&c->lk);
}

static bool finish_stream(struct asf_cios *c, void *unused) {
    bool locked;
    (void)unused;
    put_pending_output(c);
    if (is_unbuffered_at_exit(c)) {
        if (lock_at_exit(c, &locked) && (locked || !asf__is_putting(c))) { /* its buffer may be in use */
            asf__free_backup(c);
            if (asf__ours_wide(c))
                asf__wide_free_backup(c);
            asf__replace_buffer(c, NULL, 0);
        }
        if (locked)
            asf__unlock(&c->lk);
    }
    asf__report(c);
    return true;
}

void asf__finish_all(void) {
    asf__each(finish_stream, NULL);
}

/* --- start ------------------------------------------------------------------------ */

void asf__stdio_start(void) {
    static bool started;
    if (started)
        return;
    started = true;
    asf__vtable = asf__byte_stream_vtable;
    asf__wide_vtable = asf__wide_stream_vtable;
    asf__wide_start();
    asf__hooks.to_bytes = asf__wide_to_bytes;
    asf__hooks.forked = asf__popen_in_child;
    asf__stats_start();
    asf__bulk_start();
    asf__set_libc_buffering(&asf__stdin);
    asf__set_libc_buffering(&asf__stdout);
    asf__set_libc_buffering(&asf__stderr);
    asf__look_at_output(&asf__stdout);
    asf__look_at_input(&asf__stdin);
    if (ASF_LIBC(late_terminal_test))
        asf__stdout.flags2 |= ASF_LINES_AT_FIRST;
    asf__cios_link(&asf__stdin);
    asf__cios_link(&asf__stdout);
    asf__cios_link(&asf__stderr);
    asf__set_name(&asf__stdin, "stdin");
    asf__set_name(&asf__stdout, "stdout");
    asf__set_name(&asf__stderr, "stderr");
    asf__link_sentinel();
}

__attribute__((constructor)) static void start_stdio(void) {
    asf__stdio_start();
}

/* Gives stdout a static buffer if libc's is static, too.  A buffer from malloc would add a page to the heap;
 * musl's malloc may then map and unmap a page for each line that a program reads. */
static void use_own_buffer(struct asf_cios *c) {
    static char memory[BUFSIZ] __attribute__((aligned(64)));
    static struct asf_buffer own;
    if (c->buffer || c->flags & ASF_UNBUFFERED || c->block != BUFSIZ || own.refs > 0)
        return;
    own = (struct asf_buffer){.base = memory, .size = BUFSIZ, .whole = BUFSIZ, .is_static = true};
    asf__use_buffer(c, &own);
}

/* The start may set ASF_NOT_LOOKED_AT: then stderr, which is unbuffered, is not examined. */
static void attach_standard(struct asf_cios *c) {
    asf__stdio_start();
    if (asf__may_look_below(c))
        asf__as_libc.attach(c);
    if (c->flags2 & ASF_LINES_AT_FIRST && c->flags & ASF_LINE_BUF)
        c->flags2 &= ~ASF_LINES_AT_FIRST; /* a terminal */
    else if (c->flags2 & ASF_LINES_AT_FIRST)
        c->flags |= ASF_LINE_BUF;
    if (c == &asf__stdout && !ASF_LIBC(allocates_buffers))
        use_own_buffer(c);
}
