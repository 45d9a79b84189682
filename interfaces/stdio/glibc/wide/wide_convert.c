/* SPDX-License-Identifier: MIT
 *
 * wide_convert.c - converts bytes to wide characters and back.  The conversion is the one that libc gave the
 * stream when it became wide.  lib/text/utf8.c converts UTF-8 and ASCII as far as it can; libc's own step
 * converts everything else.
 */
#include "interfaces/stdio/stdio_cios.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/text/utf8.h"

extern FILE *_IO_fopen(const char *, const char *);
extern int _IO_fclose(FILE *);

enum charset { OTHER, UTF8, ASCII };

static enum charset charset_of(const struct asf_conversion *v, const char *name, const mbstate_t *state) {
    if (v->step->__shlib_handle || !name || state->__count)
        return OTHER;
    if (strcmp(name, "ISO-10646/UTF8/") == 0)
        return UTF8;
    return strncmp(name, "ANSI_X3.4-1968//", 16) == 0 ? ASCII : OTHER;
}

/* libc keeps the address of a loaded module's function mangled (PTR_DEMANGLE). */
static __gconv_fct function_of(const struct __gconv_step *step) {
    uintptr_t p = (uintptr_t)step->__fct;
    return (__gconv_fct)(step->__shlib_handle ? asf__demangled(p) : p);
}

static enum asf_converted run_step(struct asf_conversion *v, mbstate_t *state, const void **from,
                                   const void *end, void **to, void *to_end) {
    const unsigned char *p = *from;
    size_t irreversible;
    v->data.__outbuf = *to;
    v->data.__outbufend = to_end;
    v->data.__statep = state;
    int status = function_of(v->step)(v->step, &v->data, &p, end, NULL, &irreversible, 0, 0);
    *from = p;
    *to = v->data.__outbuf;
    if (status == __GCONV_OK || status == __GCONV_EMPTY_INPUT)
        return ASF_CONVERTED;
    return status == __GCONV_FULL_OUTPUT || status == __GCONV_INCOMPLETE_INPUT ? ASF_PARTIAL : ASF_INVALID;
}

enum asf_converted asf__decode(struct asf_cios *c, const char **from, const char *end, wchar_t **to,
                               wchar_t *to_end) {
    struct asf_conversion *v = &asf__wide(c)->in;
    enum charset set = charset_of(v, v->step->__from_name, &asf__wide(c)->state);
    if (set == UTF8)
        asf__utf8_decode(from, end, to, to_end);
    else if (set == ASCII)
        asf__ascii_decode(from, end, to, to_end);
    if (set != OTHER && *from == end)
        return ASF_CONVERTED;
    const void *p = *from;
    void *q = *to;
    enum asf_converted status = run_step(v, &asf__wide(c)->state, &p, end, &q, to_end);
    *from = p;
    *to = q;
    return status;
}

/* Converts into 16 bytes at a time, as libc does: the limit changes the output of a character that is
 * transliterated to several. */
enum asf_converted asf__encode(struct asf_cios *c, mbstate_t *state, const wchar_t **from, const wchar_t *end,
                               char **to, char *to_end) {
    struct asf_conversion *v = &asf__wide(c)->out;
    enum charset set = charset_of(v, v->step->__to_name, state);
    if (set == UTF8)
        asf__utf8_encode(from, end, to, to_end);
    else if (set == ASCII)
        asf__ascii_encode(from, end, to, to_end);
    if (*from == end)
        return ASF_CONVERTED;
    if (to_end - *to < MB_LEN_MAX)
        return ASF_PARTIAL;
    const void *p = *from;
    void *q = *to;
    enum asf_converted status = run_step(v, state, &p, end, &q, *to + MB_LEN_MAX);
    bool stuck = p == (const void *)*from;
    *from = p;
    *to = q;
    return status == ASF_PARTIAL && stuck ? ASF_INVALID : status;
}

size_t asf__wide_span(struct asf_cios *c, mbstate_t *state, size_t n) {
    struct asf_conversion *v = &asf__wide(c)->in;
    if (charset_of(v, v->step->__from_name, state) == UTF8)
        return asf__utf8_span(c->read_base, c->read_end, n);
    wchar_t *scratch = malloc((n + 1) * sizeof *scratch);
    const void *p = c->read_base;
    void *q = scratch;
    if (scratch)
        run_step(v, state, &p, c->read_end, &q, scratch + n);
    free(scratch);
    return (size_t)((const char *)p - c->read_base);
}

int asf__wide_width(const struct asf_cios *c) {
    const struct __gconv_step *step = asf__wide(c)->in.step;
    if (step->__stateful)
        return -1;
    return step->__min_needed_from == step->__max_needed_from ? step->__min_needed_from : 0;
}

/* --- ",ccs=" ------------------------------------------------------------------ */

/* Only libc can find a conversion by its name: it opens a FILE in that character set on a path that always
 * exists, and the conversion that it found is copied to our stream.  The FILE's orientation is cleared
 * before it is closed, so that libc does not release the conversion. */
bool asf__named_conversion(struct asf_cios *c, const char *charset) {
    char mode[128] = "r";
    size_t n = strlen(charset);
    if (n > sizeof mode - 2) {
        errno = EINVAL;
        return false;
    }
    memcpy(mode + 1, charset, n + 1);
    struct asf_cios *donor = asf__cios(_IO_fopen("/", mode));
    if (!donor)
        return false;
    const struct asf_wide *w = donor->wide_data;
    asf__wide(c)->in = w->in;
    asf__wide(c)->out = w->out;
    asf__wide(c)->in.data.__statep = asf__wide(c)->out.data.__statep = &asf__wide(c)->state;
    c->codecvt = &asf__wide(c)->in;
    c->vtable = asf__wide(c)->vtable;
    c->orientation = 1;
    donor->orientation = 0;
    _IO_fclose(asf__file(donor));
    return true;
}
