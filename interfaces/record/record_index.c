/* SPDX-License-Identifier: MIT
 *
 * record_index.c - lists of places, and INDEX frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "interfaces/record/record_index.h"

int asf__places_add(struct asf__places *places, uint64_t at) {
    if (places->count == places->room) {
        size_t room = 2 * places->room + 64;
        uint64_t *more = reallocarray(places->all, room, sizeof *more);
        if (!more)
            return asf__record_no_memory("for the index");
        places->all = more;
        places->room = room;
    }
    places->all[places->count++] = at;
    return 0;
}

void asf__index_free(struct asf__index *index) {
    free(index->formats.all);
    free(index->records.all);
    *index = (struct asf__index){0};
}

static unsigned char *put_places(unsigned char *p, const struct asf__places *places) {
    for (size_t i = 0; i < places->count; i++, p += 8)
        asf__store(p, places->all[i], 8, ASF__FOREIGN);
    return p;
}

unsigned char *asf__index_payload(const struct asf__index *index, size_t *length) {
    *length = FRAME_INDEX_HEAD + 8 * (index->formats.count + index->records.count);
    unsigned char *payload = malloc(*length), *p = payload;
    if (!payload)
        return NULL;
    asf__store(p, index->previous, 8, ASF__FOREIGN);
    asf__store(p + 8, index->first, 8, ASF__FOREIGN);
    asf__store(p + 16, index->formats.count, 4, ASF__FOREIGN);
    asf__store(p + 20, index->records.count, 4, ASF__FOREIGN);
    p = put_places(p + FRAME_INDEX_HEAD, &index->formats);
    put_places(p, &index->records);
    return payload;
}

void asf__index_written(struct asf__index *index, uint64_t at) {
    index->previous = at;
    index->first += index->records.count;
    index->formats.count = index->records.count = 0;
}

int asf__index_parse(struct asf__index *index, const unsigned char *payload, size_t length) {
    *index = (struct asf__index){0};
    if (length < FRAME_INDEX_HEAD)
        return asf__record_fail(-EBADMSG, "the index is shorter than its head");
    uint64_t formats = asf__load(payload + 16, 4, ASF__FOREIGN),
             records = asf__load(payload + 20, 4, ASF__FOREIGN);
    if (length != FRAME_INDEX_HEAD + 8 * (formats + records))
        return asf__record_fail(-EBADMSG, "the index has not the length that it tells");
    index->previous = asf__load(payload, 8, ASF__FOREIGN);
    index->first = asf__load(payload + 8, 8, ASF__FOREIGN);
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < formats + records; i++)
        rc = asf__places_add(i < formats ? &index->formats : &index->records,
                             asf__load(payload + FRAME_INDEX_HEAD + 8 * i, 8, ASF__FOREIGN));
    if (rc < 0)
        asf__index_free(index);
    return rc;
}
