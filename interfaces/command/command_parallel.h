/* SPDX-License-Identifier: MIT
 *
 * command_parallel.h - shared by the files of "asf parallel": the input, cut into chunks, and the output of
 * the chunks, printed in order.
 */
#ifndef ASF_COMMAND_PARALLEL_H
#define ASF_COMMAND_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <asf/parts.h>

enum { KB = 1 << 10, MB = 1 << 20, PIPE_SIZE = 1 * MB };

/* A part of the input, which one run of the command filters, and the output of that run. */
struct chunk {
    int64_t index;          /* from 0, in the order of the input */
    int64_t begin, end;     /* offsets, if the input is a file */
    const char *bytes;      /* if the input is not a file: `end` bytes in the job's buffer */
    struct held_pipe *held; /* pipes with output to be printed later */
    bool is_printing;       /* output goes directly to standard output */
    bool finished;          /* the run has ended: only `held` is left to print */
    int64_t to_skip;        /* lines at the beginning of the output that are not printed */
    struct chunk *next;     /* next chunk to print */
};

/* --- input: command_parallel_input.c ------------------------------------------------------ */

/* Standard input.  One thread at a time takes a chunk. */
struct input {
    pthread_mutex_t lock;
    bool is_file;
    int64_t begin, next_offset, size; /* offsets of a file: where the input began, the next chunk, the end */
    struct asf_cut cut;               /* cut.size: bytes of a chunk */
    int64_t count;                    /* chunks taken so far */
    char *remainder;                  /* if not a file: bytes read after the end of the last chunk */
    size_t remainder_bytes;
    bool ended;
    char *header; /* lines that each run gets first */
    size_t header_bytes;
    int64_t bytes_fed; /* bytes given to runs; atomic */
};

/* A buffer for chunks of input that is not a file. */
struct buffer {
    char *bytes;
    size_t size;
};

/* asf__input_begin: examine standard input, and read the first `header` lines.
 * errors  ends the process with EXIT_OWN_FAILURE */
void asf__input_begin(struct input *in, int64_t header);

/* asf__input_next: take the next chunk.  Empty input has one chunk, so the command runs once.
 * lock     the caller holds the input's
 * returns  false: the input has ended
 * errors   ends the process with EXIT_OWN_FAILURE */
bool asf__input_next(struct input *in, struct chunk *p, struct buffer *buffer);

/* asf__input_feed: write the header and a chunk into a pipe.  Returns early if the pipe has no reader.
 * errors   ends the process with EXIT_OWN_FAILURE */
void asf__input_feed(struct input *in, const struct chunk *p, int to);

/* asf__bytes_in_pipe: returns how many bytes the pipe holds; half of PIPE_SIZE if its capacity is not
 * PIPE_SIZE.
 * asf__sleep_millisecond: sleep for a millisecond, in which a run makes several reads or writes.  Without
 * the sleep each of them would wake the thread at the other end of the pipe. */
int asf__bytes_in_pipe(int fd);
void asf__sleep_millisecond(void);

/* --- output: command_parallel_output.c ----------------------------------------------------- */

/* Standard output, and pipes that hold the output of chunks until their turn. */
struct output {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool unordered;
    struct chunk *first; /* first chunk that is not yet printed */
    bool printing;       /* a thread is printing */
    struct held_pipe *free;
    int pipe_count, max_pipes; /* number of pipes, and its limit */
    int64_t last_good;         /* chunks after this index are not printed; atomic */
    int error;                 /* errno of a failed write */
};

/* asf__output_add: append a chunk to the order of printing. */
void asf__output_add(struct output *o, struct chunk *p);

/* asf__output_copy: read a pipe to its end, and print or hold what it contains.
 * returns  false: the chunk is cancelled, or printing has failed */
bool asf__output_copy(struct output *o, struct chunk *p, int from);

/* asf__output_finish: the chunk has no more output.  Print it if it is next, then finished chunks that follow
 * it.
 * returns  false: printing has failed */
bool asf__output_finish(struct output *o, struct chunk *p);

/* asf__output_cancel: print no chunk after index `last_good`; -1: print none at all. */
void asf__output_cancel(struct output *o, int64_t last_good);

/* asf__output_is_cancelled: returns whether the chunk must not be printed. */
bool asf__output_is_cancelled(struct output *o, const struct chunk *p);

#endif
