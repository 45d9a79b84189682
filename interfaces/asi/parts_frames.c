/* SPDX-License-Identifier: MIT
 *
 * parts_frames.c - compressed files cut between their frames.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include <asf/decode.h>

#include "interfaces/asi/parts.h"
#include "streams/streams.h"

struct asf_frame_cuts {
    struct asf_frames *frames; /* NULL: the decoder cannot measure frames */
    int64_t size, record;
    int64_t most;     /* not 0: frames can be searched for, and need not be measured in order */
    int64_t searched; /* for such searches: the file has no frame before this offset and after the last cut */
    int64_t at,
        decoded; /* the end of the measured frames: its offset in the file, and in the decoded bytes */
    int64_t decoded_before; /* the offset of this part's frames in the decoded bytes */
};

int asf__cut_frames(int fd, const struct asf_cut *how, int64_t size, struct asf_frame_cuts **cuts) {
    const struct asf_decoder *decoder;
    int rc = asf__decoder_of_file(fd, &decoder);
    *cuts = NULL;
    if (rc < 0 || !decoder)
        return rc;
    struct asf_frame_cuts *k = *cuts = calloc(1, sizeof *k);
    if (!k)
        return -ENOMEM;
    k->frames = asf__frames_of(fd, size, decoder);
    k->size = size;
    k->record = how->record;
    struct asf_frame first;
    if (k->frames && !k->record && asf__measure_frame(k->frames, 0, &first) == 0)
        k->most = first.most;
    return 0;
}

void asf__cut_frames_end(struct asf_frame_cuts *k) {
    if (k)
        free(k->frames);
    free(k);
}

/* Returns the number of decoded bytes from an offset to the next record. */
static int64_t to_record(const struct asf_frame_cuts *k, int64_t decoded) {
    return k->record ? (k->record - decoded % k->record) % k->record : 0;
}

/* Whether a part that ends at the measured frames would contain no record. */
static bool is_without_record(const struct asf_frame_cuts *k) {
    return k->record && k->decoded - k->decoded_before <= to_record(k, k->decoded_before);
}

/* Measures the next frame.  Returns 1; 0: the rest of the file cannot be cut; or an error of reading. */
static int measure_next(struct asf_frame_cuts *k) {
    struct asf_frame f;
    int rc = k->frames && k->at < k->size ? asf__measure_frame(k->frames, k->at, &f) : -ENOTSUP;
    if (rc < 0)
        return rc == -ENOTSUP || rc == -EBADMSG ? 0 : rc;
    if (k->record && (f.decoded < 0 || __builtin_add_overflow(k->decoded, f.decoded, &k->decoded)))
        return 0;
    k->at += f.length;
    return 1;
}

static int64_t find_frame_end(struct asf_frame_cuts *k, int64_t offset) {
    const int64_t from = offset > k->searched ? offset : k->searched;
    const int64_t found = asf__find_frame(k->frames, from, k->most);
    if (found == 0) /* the next search begins after the range of this one */
        k->searched = from < k->size ? from + k->most + 1 : k->size;
    return found;
}

int64_t asf__frames_end_near(struct asf_frame_cuts *k, int64_t offset) {
    if (k->most)
        return find_frame_end(k, offset);
    while (k->at < offset || is_without_record(k)) {
        int rc = measure_next(k);
        if (rc <= 0)
            return rc < 0 ? rc : k->size;
    }
    return k->at;
}

bool asf__begins_frame(int fd, int64_t size, int64_t offset) {
    const struct asf_decoder *decoder;
    struct asf_frame f;
    int rc = asf__decoder_of_file(fd, &decoder);
    struct asf_frames *frames = rc == 0 && decoder ? asf__frames_of(fd, size, decoder) : NULL;
    const bool begins = frames && asf__measure_frame(frames, offset, &f) == 0;
    free(frames);
    return begins;
}

void asf__note_frames(struct asf_frame_cuts *k, struct asf_part *part) {
    part->before = to_record(k, k->decoded_before);
    part->after = part->end < k->size ? to_record(k, k->decoded) : 0;
    k->decoded_before = k->decoded;
}
