/* SPDX-License-Identifier: MIT
 *
 * wc_asi.c - wc on the Alloc Stream Interface: counts in the stream's buffer, with the scanning kernels of
 * <asf/scan.h>.
 */
#include <asf/asf.h>
#include <asf/parts.h>
#include <asf/scan.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

#include "examples/common/program.h"
#include "examples/common/whole_lines.h"
#include "wc.h"

/* A region is large enough that the calls cost little, and small enough that a mapped file rarely has to join
 * windows for it. */
enum { REGION = 1 << 20, COUNTERS = 4 };

/* Count words by the kernels.  These follow the C locale's rules, which are the same for ASCII in every
 * locale. */
static void count_ascii(struct wc_text *text, const char *p, size_t n) {
    struct asf_scan_counts counts = {.in_word = text->in_word};
    asf_scan_words(&counts, p, n);
    text->in_word = counts.in_word;
    text->counts.lines += counts.lines;
    text->counts.words += counts.words;
    text->counts.chars += n;
}

/* Count runs of ASCII by the kernels, and other text one character at a time. */
static void count_characters(struct wc_text *text, const char *p, size_t n) {
    enum { PIECE = 4096, RUN = 64 };
    while (n > 0) {
        size_t piece = n < PIECE ? n : PIECE;
        size_t ascii = text->cut ? 0 : asf_scan_ascii(p, piece);
        if (ascii > 0)
            count_ascii(text, p, ascii);
        size_t rest = piece - ascii < RUN ? piece - ascii : RUN;
        wc_text(text, p + ascii, rest);
        p += ascii + rest;
        n -= ascii + rest;
    }
}

static void count_region(struct wc_text *text, const char *p, size_t n) {
    enum wc_depth depth = wc_depth();
    text->counts.bytes += n;
    if (depth == WC_LINES)
        text->counts.lines += asf_scan_count(p, '\n', n);
    else if (wc_columns())
        wc_text(text, p, n);
    else if (depth == WC_WORDS)
        count_ascii(text, p, n);
    else if (depth == WC_CHARACTERS)
        count_characters(text, p, n);
}

/* Skip `over` bytes, and count the rest of the stream. */
static int count_stream(struct asf_cios *stream, off_t over, struct wc_text *text) {
    ssize_t length = REGION;
    void *region = over ? asf_sallocAt(stream, &length, over, SEEK_CUR) : asf_salloc_some(stream, &length);
    while (region) {
        count_region(text, region, (size_t)length);
        int error = asf_sfree(stream, region);
        if (error)
            return error;
        length = REGION;
        region = asf_salloc_some(stream, &length);
    }
    return (int)length;
}

/* A thread that counts lines, which may be counted in any order: several threads allocate regions of one
 * stream.  The stream is locked only while a region is allocated or given back. */
struct counter {
    pthread_t thread;
    struct asf_cios *stream;
    struct wc_text text;
    int error;
};

static void *run_counter(void *arg) {
    struct counter *counter = arg;
    counter->error = count_stream(counter->stream, 0, &counter->text);
    return NULL;
}

/* Returns the number of threads: one for each CPU, if each has at least SHARE bytes to count.  More than
 * COUNTERS threads are no faster, because memory is the limit. */
static int counters_for(struct asf_cios *stream) {
    enum { SHARE = 4 << 20 };
    struct stat st;
    cpu_set_t cpus;
    if (wc_depth() != WC_LINES || fstat(asf_fileno(stream), &st) != 0 || !S_ISREG(st.st_mode) ||
        sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 1;
    int most = CPU_COUNT(&cpus) < COUNTERS ? CPU_COUNT(&cpus) : COUNTERS;
    return st.st_size / SHARE < most ? (int)(st.st_size / SHARE) : most;
}

static int count_together(struct asf_cios *stream, int count, struct wc_text *text) {
    struct counter counters[COUNTERS] = {0};
    int started = 0, error = 0;
    for (int i = 0; i < count; i++)
        counters[i].stream = stream;
    while (started < count - 1 &&
           pthread_create(&counters[started].thread, NULL, run_counter, &counters[started]) == 0)
        started++;
    run_counter(&counters[started]);
    for (int i = 0; i <= started; i++) {
        if (i < started)
            pthread_join(counters[i].thread, NULL);
        text->counts.lines += counters[i].text.counts.lines;
        text->counts.bytes += counters[i].text.counts.bytes;
        error = error ? error : counters[i].error;
    }
    return error;
}

struct whole {
    pthread_mutex_t lock;
    struct wc_counts counts;
};

/* A part ends at the end of a line, so no word or character continues in the next part. */
static int count_part(struct asf_cios *stream, const struct asf_part *part, void *of) {
    struct whole *whole = of;
    struct wc_text text = {0};
    (void)part;
    int error = count_stream(stream, 0, &text);
    wc_end(&text);
    pthread_mutex_lock(&whole->lock);
    wc_add(&whole->counts, &text.counts);
    pthread_mutex_unlock(&whole->lock);
    return error;
}

static int count_parts(const char *name, struct wc_text *text) {
    struct whole whole = {.lock = PTHREAD_MUTEX_INITIALIZER};
    wc_text(text, "", 0); /* byte_kinds() fills its table before threads start */
    int error = asf_each_part(name, NULL, (unsigned)wc_threads(), count_part, NULL, &whole);
    text->counts = whole.counts;
    return error;
}

/* Returns whether to divide the file into parts: with -j, a regular file that is not standard input, which is
 * read from its current offset. */
static bool in_parts(const struct input *in, const char *name) {
    return wc_threads() >= 0 && wc_depth() != WC_BYTES && !in->waits && !is_stdin(name);
}

bool wc_file(const char *name, struct wc_text *text) {
    struct input in;
    int error = input_open(&in, name);
    if (error)
        return wc_failed(name, -error) || is_stdin(name);
    off_t over = wc_size(asf_fileno(in.stream), text);
    int count = counters_for(in.stream);
    if (in_parts(&in, name))
        error = count_parts(name, text);
    else if (count > 1)
        error = count_together(in.stream, count, text);
    else if (over >= 0)
        error = count_stream(in.stream, over, text);
    if (error)
        wc_failed(name, -error);
    error = input_close(&in);
    if (error)
        wc_failed(name, -error);
    return true;
}
