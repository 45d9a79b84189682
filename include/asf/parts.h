/* SPDX-License-Identifier: MIT
 *
 * parts.h - parts of one file, which several threads, processes or machines can read at the same time: an
 * extension.  In the paper, threads share one stream.
 *
 *   asf_parts        cuts a file into ranges between lines or records
 *   asf_sopen_part   opens a stream on one range, which ends where the range ends
 *   asf_each_part    calls a function for all ranges, in several threads
 *   asf_read_columns reads columns of numbers into arrays, in several threads
 */
#ifndef ASF_PARTS_H
#define ASF_PARTS_H

#include <stdbool.h>

#include <asf/numbers.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a part is read. */
enum asf_part_form {
    ASF_PART_PLAIN,  /* as it is in the file */
    ASF_PART_FRAMES, /* decoded: one of several parts of a compressed file */
    ASF_PART_WHOLE   /* decoded: the whole input, which was not cut */
};

/* A part: the bytes of a file from `begin` to before `end`.  It has no pointers: another process, or a
 * machine that mounts the same file system, can use it.  A copy of the file is another file. */
struct asf_part {
    int64_t begin, end;   /* offsets; `end` is -1 for a part that ends where the input ends */
    int64_t index, count; /* this part's number, from 0, and how many parts there are */
    /* The file's size, time of modification in nanoseconds, and inode when asf_parts cut the file.
     * With them asf_sopen_part refuses a file that has changed since, other than by growing. */
    int64_t size, modified;
    uint64_t inode;
    int32_t delimiter;     /* the byte that ends every part except perhaps the last; -1: none */
    int32_t form;          /* an asf_part_form */
    int64_t before, after; /* records of ASF_PART_FRAMES: decoded bytes at the beginning that belong to the
                              part before, and decoded bytes after `end` that belong to this one */
};

/* How a file is cut. */
struct asf_cut {
    int delimiter; /* a part ends after this byte; converted to unsigned char */
    int64_t
        record;   /* not 0: parts consist of whole records of this many bytes, and `delimiter` is not used */
    int64_t size; /* approximate bytes of a part; 0: 16 MB.  A longer line or record stays whole */
    bool decode;  /* a file that asf_decode would decode is cut between its frames, and a stream on a part
                     has the decoded lines or records.  `size` counts compressed bytes */
};

/* asf_parts: cut a file.
 *   path   of the file.  A file that is not regular becomes one part
 *   how    NULL: at newlines, `size` 0, nothing decoded
 *   parts  out: an array from malloc, which the caller frees
 * returns  the number of parts: 0 for an empty file; or a negated errno value: -EINVAL for a negative
 *          `record` or `size`, -ENOMEM, open()'s and read()'s errors; to decode, -ENOTSUP.
 * Only a few KB near each cut are read, unless a line is long.  Bytes that are appended after the call has
 * begun belong to no part.
 * decode   Nothing is decoded to cut a file: of zstd and lz4 the headers of all blocks are read, of bgzip at
 *          most 256 KB near each cut.  The file is cut only where a frame is known to begin: not within a
 *          single frame, gzip's members without bgzip's field, xz, or damaged data; for records, also not
 *          within or after frames that do not state how many bytes they decode to.  Frames begin and end
 *          within lines.  Every part except the first begins after the first delimiter in its frames, and
 *          each ends with the first delimiter after its frames: so each line is in one part.  A part whose
 *          frames are within one line is empty.
 * threads  no limits.
 * source   an extension. */
ASF_EXPORT ssize_t asf_parts(const char *path, const struct asf_cut *how, struct asf_part **parts);

/* asf_sopen_part: open a stream for reading on a part of a file.
 *   path   of the part's file
 *   error  where to put 0 or a negated errno value; may be NULL.  -ESTALE: the file is not the one that was
 *          cut, or was rewritten or truncated since; cut the file again.  The call compares its inode, size,
 *          time and the bytes at the ends of the part.  -EINVAL: not a valid part; -ENOTSUP, -ENOMEM;
 * open()'s errors returns  the stream, or NULL.  All interfaces may use it.  It ends at the end of the part;
 * offsets count from the beginning of the part.  -EIO: the file was truncated before that end.  If the file
 * has only grown, the part's end is unchanged. decode   a decoded part fails as asf_decode's streams do, also
 * with -EBADMSG if its frames do not end at their measured ends.  A seek fails with -ESPIPE. lifetime until
 * sclose. threads  no limits: each stream has a descriptor and an offset of its own.  Only the thread that
 * reads a decoded part of several decodes it. source   an extension. */
ASF_EXPORT struct asf_cios *asf_sopen_part(const char *path, const struct asf_part *part, int *error);

/* asf_part_work: a function of the program, which asf_each_part calls once for each part.
 *   stream    on the part, valid during this call.  `work` must free all regions that it allocates; else the
 *             result is -EBUSY and the stream is lost
 *   argument  asf_each_part's
 * returns  0; any other value ends the work, and asf_each_part returns it. */
typedef int asf_part_work(struct asf_cios *stream, const struct asf_part *part, void *argument);

/* asf_part_done: a function of the program, which asf_each_part calls for the parts in order, each after its
 * `work`, one call at a time.  Any of the threads makes the call.  A `work` begins only if its part is less
 * than 4 parts per thread ahead of the next part for `done`.  So the threads wait for a slow `done`, and few
 * results wait for `done` at the same time.
 * returns  as asf_part_work. */
typedef int asf_part_done(const struct asf_part *part, void *argument);

/* asf_each_part: call a function for all parts of a file, in several threads.
 *   how      as asf_parts'; NULL: at newlines, into parts of 1 to 16 MB, several for each thread if the file
 *            is large
 *   threads  how many at most, including the calling one; 0: one for each processor that the process may use,
 *            by its affinity and its control group's quota.  There are never more threads than parts
 *   work     called once for each part, by several threads at the same time
 *   done     NULL, or called for each part in order
 * returns  0 when all parts are done; the value other than 0 that `work` or `done` returned first; or a
 *          negated errno value: those of asf_parts.  -ECANCELED: a thread has ended within `work`.  After
 *          any result but 0 no further part is begun, and reads of the parts in progress fail with
 *          -ECANCELED.  The call returns when their `work` has returned.
 * The file is opened once: if it is replaced meanwhile, the old one is read to its end.
 * Input that cannot be cut, such as a pipe, is one part, which the calling thread processes.
 * threads  any number of calls at the same time.  The library's threads block all signals.
 * cancel   of the calling thread: the others are stopped as by an error.
 * fork     if `work` forks, the child has only the thread that forked; it must leave by _exit or exec.
 * source   an extension. */
ASF_EXPORT int asf_each_part(const char *path, const struct asf_cut *how, unsigned threads,
                             asf_part_work *work, asf_part_done *done, void *argument);

/* asf_read_columns: read columns of numbers of a whole file into arrays, one line a row.
 *   path       of the file
 *   separator  the byte between two fields of a line
 *   skip       lines to skip at the beginning, such as a heading
 *   columns    in: `field` and `type`, as asf_get_columns'.  out: `values`, an array of as many values as
 *              there are rows, from malloc, which the caller frees; NULL if there are no rows, or on an error
 *   count      columns, at least 1
 *   threads    as asf_each_part's
 * returns  the rows; or a negated errno value: those of asf_get_columns for a line that is not a row, those
 *          of asf_each_part, -EINVAL for a negative `skip`, -EMSGSIZE if the skipped lines together have
 *          more than 1 MB.  If several lines are not rows, the error of any one is returned.
 * A compressed file is decoded, and cut as asf_parts does.
 * asf_get_columns defines a row.  During the call the arrays may need twice their memory.
 * threads, cancel  as asf_each_part.
 * source   an extension. */
ASF_EXPORT int64_t asf_read_columns(const char *path, int separator, int64_t skip, struct asf_column *columns,
                                    size_t count, unsigned threads);

#ifdef __cplusplus
}
#endif
#endif
