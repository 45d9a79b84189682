/* SPDX-License-Identifier: MIT
 *
 * command_parallel.h - what the files of "asf parallel" share: the input that is cut into pieces, and the
 * output of the pieces, which is put together in order.
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
struct piece {
    int64_t index;      /* from 0, in the order of the input */
    int64_t begin, end; /* offsets, if the input is a file */
    const char *bytes;  /* else: `end` bytes, in the buffer of the job */
    struct held *held;  /* output that is not printed yet, in pipes */
    bool prints;        /* its output goes to standard output */
    bool finished;      /* `held` is all that is left to print */
    int64_t to_skip;    /* lines at the beginning of the output that are not printed */
    struct piece *next; /* in the order of printing */
};

/* --- input: command_parallel_input.c ------------------------------------------------------ */

/* Standard input.  Pieces are taken by one thread at a time. */
struct input {
    pthread_mutex_t lock;
    bool is_file;
    int64_t begin, at, size; /* of a file: the offsets where it began and of the next piece, and its end */
    struct asf_cut how;      /* `size`: of a piece */
    int64_t count;           /* pieces taken */
    char *rest;              /* of other input: what was read behind the last piece */
    size_t rest_bytes;
    bool ended;
    char *header; /* the lines that every run is given first */
    size_t header_bytes;
    int64_t fed; /* bytes that runs were given; atomic */
};

/* A buffer for pieces of input that is no file. */
struct buffer {
    char *bytes;
    size_t size;
};

/* asf__input_begin: look at standard input, and read the first `header` lines.
 * errors  ends the process with EXIT_OWN_FAILURE */
void asf__input_begin(struct input *in, int64_t header);

/* asf__input_next: take the next piece.  Input without bytes has one piece.
 * returns  false: there is none
 * errors   ends the process with EXIT_OWN_FAILURE */
bool asf__input_next(struct input *in, struct piece *p, struct buffer *buffer);

/* asf__input_feed: write a piece into a pipe, until all is written or nobody reads it any more.
 * errors   ends the process with EXIT_OWN_FAILURE */
void asf__input_feed(struct input *in, const struct piece *p, int to);

/* asf__bytes_in_pipe: how many can be read; half a pipe if it does not have PIPE_SIZE.
 * asf__let_move: sleep a quarter of a millisecond, in which a run moves more than one read or write: else
 * each of them would wake the thread at the other end of its pipe. */
int asf__bytes_in_pipe(int fd);
void asf__let_move(void);

/* --- output: command_parallel_output.c ----------------------------------------------------- */

/* Standard output, and pipes that hold the output of pieces that may not print yet. */
struct output {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool unordered;
    struct piece *first; /* of those that are not printed */
    bool busy;           /* a thread prints */
    struct held *free;
    int made, most;    /* pipes */
    int64_t last_good; /* pieces behind this one are not printed; atomic */
    int error;         /* errno of a write that failed */
};

/* asf__output_add: a piece that follows all others in the order of printing. */
void asf__output_add(struct output *o, struct piece *p);

/* asf__output_copy: print, or hold, what comes out of a pipe, to its end.
 * returns  false: the piece shall not be printed, or printing has failed */
bool asf__output_copy(struct output *o, struct piece *p, int from);

/* asf__output_finish: the piece has no more output; print it, and finished ones behind it, if they are next.
 * returns  false: printing has failed */
bool asf__output_finish(struct output *o, struct piece *p);

/* asf__output_cancel: print no piece behind this one; -1: none. */
void asf__output_cancel(struct output *o, int64_t last_good);

/* asf__output_is_cancelled: whether the piece shall not be printed. */
bool asf__output_is_cancelled(struct output *o, const struct piece *p);

#endif
