/* SPDX-License-Identifier: MIT
 *
 * quote.c - quotes file names for messages, so that a shell reads the same name: 'a b', "it's",
 * 'a'$'\n''b'.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "examples/common/program.h"

enum looks {
    HARMLESS,    /* needs no quotes */
    BLANK,       /* needs quotes of any kind */
    APOSTROPHE,  /* needs double quotes, or '\'' within single quotes */
    SPECIAL,     /* needs single quotes */
    UNPRINTABLE, /* needs $'\ooo' */
};

/* Classify the character at `at` in a name, and return its number of bytes in *length. */
static enum looks character(const char *name, const char *at, size_t *length) {
    wchar_t wide;
    mbstate_t state = {0};
    *length = mbrtowc(&wide, at, strlen(at), &state);
    if (*length > MB_CUR_MAX) {
        *length = 1;
        return UNPRINTABLE;
    }
    if (!iswprint((wint_t)wide))
        return UNPRINTABLE;
    if (*at == '\'')
        return APOSTROPHE;
    if (strchr("!\"$&()*;<=>?[\\^`|", *at))
        return SPECIAL;
    if (*at == ' ' || (at == name && strchr("#~", *at)) || (strchr("{}", *at) && strlen(name) == 1))
        return BLANK;
    return HARMLESS;
}

/* Returns the classes of a name's characters: bit n for class n. */
static unsigned all_looks(const char *name) {
    unsigned seen = 0;
    size_t length;
    for (const char *p = name; *p; p += length)
        seen |= 1U << character(name, p, &length);
    return seen;
}

static void put_escape(FILE *out, const char *bytes, size_t length) {
    static const char controls[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    for (size_t i = 0; i < length; i++) {
        const char *control = strchr(controls, bytes[i]);
        if (control)
            fprintf(out, "\\%c", letters[control - controls]);
        else
            fprintf(out, "\\%03o", (unsigned char)bytes[i]);
    }
}

/* Print a name in single quotes.  Characters that single quotes cannot show are escaped between them. */
static void put_single_quoted(FILE *out, const char *name) {
    bool escaping = false;
    size_t length;
    putc('\'', out);
    for (const char *p = name; *p; p += length) {
        enum looks looks = character(name, p, &length);
        if ((looks == UNPRINTABLE) != escaping) {
            fputs(escaping ? "''" : "'$'", out);
            escaping = !escaping;
        }
        if (escaping)
            put_escape(out, p, length);
        else if (looks == APOSTROPHE)
            fputs("'\\''", out);
        else
            fwrite(p, 1, length, out);
    }
    putc('\'', out);
}

static const char *quote(const char *name, bool always) {
    static char *texts[2];
    static size_t sizes[2], turn;
    unsigned seen = all_looks(name);
    if (!always && *name && !(seen & ~(1U << HARMLESS)))
        return name;
    turn = !turn;
    free(texts[turn]);
    texts[turn] = NULL;
    FILE *out = open_memstream(&texts[turn], &sizes[turn]);
    if (!out)
        return name;
    if ((seen & 1U << APOSTROPHE) && !(seen & (1U << SPECIAL | 1U << UNPRINTABLE)))
        fprintf(out, "\"%s\"", name);
    else
        put_single_quoted(out, name);
    return fclose(out) == 0 ? texts[turn] : name;
}

const char *quoted(const char *name) {
    return quote(name, false);
}

const char *quoted_always(const char *name) {
    return quote(name, true);
}
