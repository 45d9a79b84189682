/* SPDX-License-Identifier: MIT
 *
 * command_json.c - writes text as JSON strings.
 */
#define _GNU_SOURCE
#include "interfaces/command/command_json.h"

/* Length in bytes of the UTF-8 character at `p`; 0: invalid. */
static size_t character_length(const unsigned char *p) {
    size_t n = *p < 0x80                 ? 1
               : *p >= 0xc2 && *p < 0xe0 ? 2
               : (*p & 0xf0) == 0xe0     ? 3
               : *p >= 0xf0 && *p < 0xf5 ? 4
                                         : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, a surrogate, or above U+10FFFF */
    return n;
}

/* Invalid UTF-8 bytes are written as \u00XX. */
void asf__print_json(FILE *to, const char *text) {
    fputc('"', to);
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = character_length(p);
        if (*p == '"' || *p == '\\')
            fprintf(to, "\\%c", *p);
        else if (n == 0 || *p < ' ')
            fprintf(to, "\\u%04x", *p);
        else
            fwrite(p, 1, n, to);
        p += n ? n : 1;
    }
    fputc('"', to);
}

void asf__put_json(const char *text) {
    asf__print_json(stdout, text);
}
