/* SPDX-License-Identifier: MIT
 *
 * pushback.c - bytes pushed back by ungetc.  If the byte is the one just read, read_ptr moves back.  Any
 * other byte goes to a backup buffer, by FILE's convention, which gnulib relies on: the unread part of the
 * window proper waits in save_base..save_end.
 */
#define _GNU_SOURCE
#include "backplane/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool asf__back_up(struct asf_cios *c, int byte) {
    const char *begin = c->read_base;
    bool bulk = asf__unlikely(c->bulk.own) && !(c->flags & ASF_IN_BACKUP);
    if (bulk && (c->bulk.seen > c->read_ptr || c->bulk.passed == c->read_ptr))
        begin = asf__own_begin(c);
    if (c->read_ptr <= begin || (unsigned char)c->read_ptr[-1] != (unsigned char)byte)
        return false;
    asf__look_at(c);
    c->read_ptr--;
    return true;
}

/* The one-byte backup inside the stream, for which no memory is allocated: C guarantees one byte.  The C
 * library uses the same byte since 2.41, and does not free it. */
static char *byte_in_place(struct asf_cios *c) {
    return (char *)&c->flags2 + sizeof c->flags2 - 1;
}

static void enter_backup(struct asf_cios *c) {
    enum { BACKUP = 128 };
    if (!c->save_base) {
        char *memory = malloc(BACKUP);
        c->save_base = memory ? memory : byte_in_place(c);
        c->save_end = c->backup_base = c->save_base + (memory ? BACKUP : 1);
    }
    char *base = c->save_base, *end = c->save_end;
    c->save_base = c->read_ptr;
    c->save_end = c->read_end;
    asf__set_read(c, base, end, end);
    c->flags |= ASF_IN_BACKUP;
}

static void free_memory(struct asf_cios *c, char *backup) {
    if (backup != byte_in_place(c))
        free(backup);
}

static bool widen_backup(struct asf_cios *c) {
    size_t size = (size_t)(c->read_end - c->read_base);
    char *wider = malloc(2 * size);
    if (!wider)
        return false;
    memcpy(wider + size, c->read_base, size);
    free_memory(c, c->read_base);
    c->backup_base = wider + size;
    asf__set_read(c, wider, wider + size, wider + 2 * size);
    return true;
}

int asf__push_back(struct asf_cios *c, int byte) {
    bool in_backup = c->flags & ASF_IN_BACKUP;
    if (!in_backup && asf__back_up(c, byte))
        return (unsigned char)byte;
    if (!in_backup)
        enter_backup(c);
    if (c->read_ptr == c->read_base && !widen_backup(c))
        return -ENOMEM;
    *--c->read_ptr = (char)byte;
    return (unsigned char)byte;
}

void asf__free_backup(struct asf_cios *c) {
    if (asf__likely(!c->backup_base)) /* the flag may mean the wide backup */
        return;
    char *backup = c->save_base;
    if (c->flags & ASF_IN_BACKUP) {
        backup = c->read_base;
        asf__set_read(c, c->save_base, c->save_base, c->save_end);
        c->flags &= ~ASF_IN_BACKUP;
    }
    c->save_base = c->backup_base = c->save_end = NULL;
    free_memory(c, backup);
}
