/* SPDX-License-Identifier: MIT
 *
 * upper.c - a stream module that converts the text of another stream to upper case.
 */
#include <asf/asf.h>
#include <asf/stream.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* At most n bytes of the stream below.  returns  how many; 0 at the end, or a negated errno. */
static ssize_t upper_get(struct asf_cios *c, void *buffer, size_t n) {
    struct asf_cios *below = asf_stream_data(c);
    ssize_t got = (ssize_t)n;
    const char *text = asf_salloc_some(below, &got);
    if (!text)
        return got;
    for (ssize_t i = 0; i < got; i++)
        ((char *)buffer)[i] = (char)toupper((unsigned char)text[i]);
    int rc = asf_sfree(below, (void *)text);
    return rc < 0 ? rc : got;
}

static const struct asf_stream_ops upper = {
    .size = sizeof upper, .version = ASF_STREAM_VERSION, .name = "upper", .get = upper_get};

int main(void) {
    struct asf_cios *below = asf_sopen_fd(0, O_RDONLY, NULL);
    struct asf_cios *in = below ? asf_sopen_with(&upper, below, O_RDONLY, NULL) : NULL;
    struct asf_cios *out = asf_sopen_fd(1, O_WRONLY, NULL);
    ssize_t n = 65536;
    for (char *text; in && out && (text = asf_salloc_some(in, &n)); n = 65536) {
        char *room = asf_salloc(out, &n);
        if (!room)
            break;
        memcpy(room, text, (size_t)n);
        asf_sfree(in, text);
        asf_sfree(out, room);
    }
    if (!in || !out || n < 0 || asf_sclose(out) < 0) {
        fprintf(stderr, "upper: %s\n", n < 0 ? asf_error_text((int)n) : "cannot open or write");
        return 1;
    }
    return 0;
}
