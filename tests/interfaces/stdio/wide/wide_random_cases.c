/* SPDX-License-Identifier: MIT
 *
 * wide_random_cases.c - wide streams under random sequences of calls, on valid, malformed or truncated
 * text, in several character sets.
 *
 * The sequences omit calls that break libc: it loops if a seek ends within a character, aborts on
 * fseek(SEEK_CUR) after ungetwc, and corrupts its heap on ungetwc after output that was only flushed.
 */
#include "tests/interfaces/stdio/transcript.h"

#include <locale.h>

#ifndef SEEDS
#define FIRST_SEED 0
#define SEEDS      25
#endif

enum { TEXT_MAX = 12000 };

static uint64_t state;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* --- text ------------------------------------------------------------------ */

struct text {
    char bytes[TEXT_MAX];
    size_t n;
};

enum flavour { RIGHT, MALFORMED, CUT_SHORT };

static void add(struct text *t, const char *bytes) {
    size_t n = strlen(bytes);
    if (t->n + n <= TEXT_MAX) {
        memcpy(t->bytes + t->n, bytes, n);
        t->n += n;
    }
}

static void make_text(struct text *t, enum flavour flavour, const char *const *letters, unsigned count) {
    static const unsigned lengths[] = {0, 1, 5, 40, 300, 4090, 4096, 4100, 8190, 11000};
    size_t n = lengths[draw(10)] + draw(8);
    t->n = 0;
    while (t->n < n) {
        unsigned kind = draw(100);
        if (kind < 60)
            add(t, (char[]){(char)('a' + draw(26)), 0});
        else if (kind < 70)
            add(t, "\n");
        else
            add(t, letters[draw(count)]);
        if (flavour == MALFORMED && draw(300) == 0)
            add(t, draw(2) ? "\xff" : "\x80");
        if (flavour == CUT_SHORT && draw(300) == 0)
            add(t, draw(2) ? "\xe2\x82" : "\xf0\x9f");
    }
}

/* --- one stream ---------------------------------------------------------------- */

struct run {
    FILE *f;
    bool reads, writes, putting, wrote, pushed, seeks;
    const wchar_t *alphabet;
    long marks[4];
    fpos_t places[4];
    int marked;
};

static void look(struct run *r) {
    say(" %d%d at %ld", !!feof(r->f), !!ferror(r->f), r->putting ? -1L : raw_offset(fileno(r->f)));
}

static wchar_t letter(struct run *r) {
    return draw(6) ? (wchar_t)('a' + (int)draw(26)) : r->alphabet[draw((unsigned)wcslen(r->alphabet))];
}

static void read_some(struct run *r) {
    static wchar_t line[5000];
    int n = (int)draw(draw(4) ? 60 : 4900) + 1;
    switch (draw(4)) {
    case 0:
        for (; n > 0; n--) {
            wint_t ch = fgetwc(r->f);
            if (ch == WEOF || n < 4)
                CALL(ch);
            if (ch == WEOF)
                break;
        }
        break;
    case 1:
        if (CALL(fgetws(line, n, r->f) != NULL))
            CALL((wchar_t *)line);
        break;
    case 2:
        CALL(getwc(r->f));
        break;
    default:
        if (CALL(fwscanf(r->f, L"%30ls", line)) == 1)
            CALL((wchar_t *)line);
        break;
    }
    r->pushed = false;
    r->marked &= draw(10) ? 7 : 0;
}

static void print_some(struct run *r, const wchar_t *text, unsigned n) {
    switch (draw(5)) {
    case 0:
        CALL(fwprintf(r->f, L"%d %ls %s|", (int)n, text, "narrow"));
        break;
    case 1:
        CALL(fwprintf(r->f, L"%*.*ls%lc\n", (int)draw(90), (int)draw(30), text, (wint_t)letter(r)));
        break;
    case 2:
        CALL(fwprintf(r->f, L"%-*d|%.*f%c", (int)draw(200), (int)n, (int)draw(20), n / 7.0, '\n'));
        break;
    case 3:
        CALL(fwprintf(r->f, L"a line\n%s and\nwhat follows", draw(2) ? "caf\xc3\xa9" : "caf\xe9"));
        break;
    default:
        CALL(fwprintf(r->f, L"%2$ls %1$d", (int)n, text));
        break;
    }
}

static void write_some(struct run *r) {
    static wchar_t text[5000];
    unsigned n = draw(draw(6) ? 60 : 4900);
    for (unsigned i = 0; i < n; i++)
        text[i] = draw(12) ? letter(r) : L'\n';
    text[n] = 0;
    switch (draw(3)) {
    case 0:
        for (unsigned i = 0; i < n; i++)
            fputwc(text[i], r->f);
        say("put %u", n);
        break;
    case 1:
        CALL(fputws(text, r->f));
        break;
    default:
        print_some(r, text, n);
        break;
    }
    r->putting = r->wrote = true;
}

static void move_about(struct run *r) {
    if (r->pushed || !r->seeks)
        return;
    switch (draw(6)) {
    case 0:
        r->marks[r->marked & 3] = CALL(ftell(r->f));
        CALL(fgetpos(r->f, &r->places[r->marked & 3]));
        r->marked++;
        return;
    case 1:
        if (r->marked == 0)
            return;
        CALL(fseek(r->f, r->marks[draw((unsigned)r->marked) & 3], SEEK_SET));
        break;
    case 2:
        if (r->marked == 0)
            return;
        CALL(fsetpos(r->f, &r->places[draw((unsigned)r->marked) & 3]));
        break;
    case 3:
        CALL(fseek(r->f, 0, draw(2) ? SEEK_SET : SEEK_END));
        break;
    case 4:
        CALL(fseek(r->f, 0, SEEK_CUR));
        break;
    default:
        rewind(r->f);
        break;
    }
    r->putting = r->wrote = false;
}

static void push_back(struct run *r) {
    int n = (int)draw(4) + 1;
    if (draw(20) == 0)
        n = 200;
    for (int i = 0; i < n; i++)
        if (ungetwc((wint_t)(0x3b1 + i % 20), r->f) == WEOF)
            say("refused %d", i);
    r->seeks = false; /* from here on libc's own offsets are wrong */
    r->pushed = true;
}

static void step(struct run *r) {
    unsigned what = draw(20);
    if (what < 10 && (r->reads || draw(8) == 0) && !(r->putting && r->writes && r->reads))
        read_some(r);
    else if (what < 14 && (r->writes || draw(8) == 0) && (!r->reads || r->putting))
        write_some(r);
    else if (what == 14 && r->writes && r->seeks && !r->pushed) {
        CALL(fseek(r->f, 0, SEEK_END));
        write_some(r);
    } else if (what == 15 && !r->pushed && r->seeks)
        r->putting &= CALL(fflush(r->f)) != 0;
    else if (what == 16 && !r->wrote && r->reads && draw(3) == 0)
        push_back(r);
    else if (what == 17 && draw(2))
        clearerr(r->f);
    else
        move_about(r);
    look(r);
}

/* --- cases ------------------------------------------------------------------------ */

static void random_run(unsigned seed, enum flavour flavour, const char *charset, const char *const *letters,
                       unsigned count, const wchar_t *alphabet) {
    static const char *const modes[] = {"r", "r", "w", "r+", "w+", "a", "a+"};
    static struct text t;
    char mode[40];
    state = seed * 7919u + 13;
    make_text(&t, flavour, letters, count);
    put_file("file", t.bytes, t.n);
    unsigned which = draw(7);
    snprintf(mode, sizeof mode, "%s%s", modes[which], charset);
    struct run r = {.f = fopen("file", mode), .alphabet = alphabet, .seeks = flavour != CUT_SHORT};
    r.reads = which != 2 && which != 5;
    r.writes = which >= 2;
    say("seed %u mode %s, %ld bytes", seed, mode, (long)t.n);
    /* in these sets, shift sequences alone can overflow libc's buffer */
    if (draw(5) == 0 && !strstr(charset, "2022")) {
        static char own[3000];
        CALL(setvbuf(r.f, own, (int)draw(3), 16 + draw(2000)));
        r.seeks = false;
    }
    for (unsigned steps = draw(30) + 3; steps > 0; steps--)
        step(&r);
    CALL(fclose(r.f));
    note_file("file");
}

static const char *const utf8_letters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xd0\xb6"};
static const wchar_t utf8_alphabet[] = L"\xe9\x20ac\x1f600\x436";

static void many(enum flavour flavour, const char *charset, const char *const *letters, unsigned count,
                 const wchar_t *alphabet) {
    for (unsigned seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
        random_run(seed + 1000 * flavour, flavour, charset, letters, count, alphabet);
}

CASE(utf8) {
    setlocale(LC_ALL, "C.UTF-8");
    many(RIGHT, "", utf8_letters, 4, utf8_alphabet);
}

CASE(utf8_malformed) {
    setlocale(LC_ALL, "C.UTF-8");
    many(MALFORMED, "", utf8_letters, 4, utf8_alphabet);
}

CASE(utf8_cut_short) {
    setlocale(LC_ALL, "C.UTF-8");
    many(CUT_SHORT, "", utf8_letters, 4, utf8_alphabet);
}

CASE(utf8_writing_what_has_no_bytes) {
    setlocale(LC_ALL, "C.UTF-8");
    many(RIGHT, "", utf8_letters, 4, L"\xe9\xd800\xe9\xe9\xe9\xe9\xe9\xe9\xe9\xe9\x7fffffff");
}

CASE(ascii) {
    many(RIGHT, "", (const char *const[]){"x", "yz"}, 2, L"mno");
}

CASE(ascii_malformed) {
    many(MALFORMED, "", (const char *const[]){"x", "yz"}, 2, L"mno\xe9\x20ac");
}

CASE(latin1) {
    many(RIGHT, ",ccs=ISO-8859-1", (const char *const[]){"\xe9", "\xff", "\x80"}, 3, L"\xe9\xff");
}

CASE(latin1_unwritable) {
    many(RIGHT, ",ccs=ISO-8859-1", (const char *const[]){"\xe9", "\xff", "\x80"}, 3, L"\xe9\xff\x20ac\x436");
}

CASE(euc_jp_cut_short) {
    many(CUT_SHORT, ",ccs=EUC-JP", (const char *const[]){"\xa4\xa2", "\x8f\xa2\xaf", "\x8e\xb1"}, 3,
         L"\x3042\x30a2\xe9");
}

CASE(utf16_cut_short) {
    many(CUT_SHORT, ",ccs=UTF-16LE", (const char *const[]){"xy", "\x3d\xd8\x01\xde", "\xac "}, 3,
         L"\x3042\x1f600\xe9");
}

CASE(iso2022_jp) {
    many(CUT_SHORT, ",ccs=ISO-2022-JP", (const char *const[]){"\x1b$B$\"\x1b(B", "\x1b$B$\"%\"\x1b(Bz"}, 2,
         L"\x3042\x30a2");
}
