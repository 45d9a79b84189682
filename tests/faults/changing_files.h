/* SPDX-License-Identifier: MIT
 *
 * changing_files.h - rounds in which one process changes a file while another reads it.
 *
 * Each byte of the file tells its offset and one of four generations, and is neither zero nor, but for
 * the ends of lines at the same offsets in each generation, a newline.  The process that changes the
 * file keeps a copy of it, so that a read which no change came into is compared to the byte; any other
 * must give bytes of some generation, or zeros where the file has had holes.
 */
#ifndef ASF_TESTS_CHANGING_FILES_H
#define ASF_TESTS_CHANGING_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHANGING_LARGEST = 24 << 20, CHANGING_LINE = 61 };

struct changing_reader {
    const char *name;
    void (*read)(const char *path);
};

/* What a read begins with: see check_read. */
struct look {
    long seq, inode;
};
/* A file that is open; -1: the file was being replaced meanwhile. */
struct opened {
    long inode;
};

/* changing_files: main of a program of readers.
 *     PROGRAM FOLDER [READER...]
 * ASF_CHANGES_ROUNDS (of each reader) and ASF_CHANGES_SEED are in the environment. */
int changing_files(int argc, char **argv, const struct changing_reader *readers, size_t count);

/* changing_byte: of a file.  set_content: the file is one of four texts instead, of which each change
 * has parts: before changing_files, of each generation's last two bits. */
char changing_byte(size_t at, unsigned generation);
void set_content(unsigned generation, const char *text, long length);

/* What a reader calls: numbers at random, of each thread others; a moment at which the file may change,
 * of the first thread alone; and what the program does with SIGBUS in this round. */
void set_numbers(uint64_t seed);
uint64_t any(uint64_t below);
size_t any_size(size_t most);
void may_change(void);
void change_at_any_time(void);
/* The file may change while another thread's call is under way: before the first. */
void expect_races(void);
void set_signals_before(void);
void set_signals_now(void);
/* Whether a file that is cut off, holes, and what is not of one piece are among the changes. */
bool may_be_cut(void);
bool may_be_zero(void);
/* A file of CHANGING_LARGEST bytes that does not change: generation 0. */
const char *still_file(void);
/* A file that has a byte for each page of the file that changes: not zero where SOME_ZEROS may be. */
const char *pages_of_zeros(void);

__attribute__((noreturn, format(printf, 2, 3))) void fail_at(long offset, const char *format, ...);

void look_now(struct look *l);
struct opened opened_now(const struct look *before);
/* Fails for bytes that the file cannot have had at `at`.  returns  whether there are zeros where it can
 * have had none: SOME_ZEROS, if they are in pages in which the file has ended: a map has zeros behind the
 * end, which are not known for what they are once the file is longer again. */
enum zeros { NO_ZEROS, SOME_ZEROS, WRONG_ZEROS };
enum zeros check_bytes(long at, const char *p, long n, const char *call);
/* are_wrong: whether a read into memory of its own must not show them. */
bool are_wrong(enum zeros zeros);
/* The same, such zeros included; and if no change came after `l`, the result of a read of `asked`
 * bytes.  check_region: of memory that may be the file's: zeros are for the caller to judge, once the
 * region is given back. */
void check_read(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                const char *call);
void check_region(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                  const char *call);

#ifdef __cplusplus
}
#endif

#endif
