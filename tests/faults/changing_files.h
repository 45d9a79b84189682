/* SPDX-License-Identifier: MIT
 *
 * changing_files.h - rounds in which one process changes a file while another reads it.
 *
 * A byte depends on its offset and on the file's generation, one of four.  No byte is zero.  All generations
 * have newlines at the same offsets, and no others.  If the file does not change during a read, the result is
 * compared with a copy of the file.  Otherwise each byte must be that of some generation, or zero where the
 * file has had holes.
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

/* The state at the beginning of a read: see check_read. */
struct look {
    long seq, inode;
};
/* An open file.  inode: -1 if the file was being replaced meanwhile. */
struct opened {
    long inode;
};

/* changing_files: the main function of a program with readers.
 *     PROGRAM FOLDER [READER...]
 * ASF_CHANGES_ROUNDS (of each reader) and ASF_CHANGES_SEED are in the environment. */
int changing_files(int argc, char **argv, const struct changing_reader *readers, size_t count);

/* changing_byte: the byte of a file at an offset, in a generation.  set_content: called before
 * changing_files, gives the file one of four texts instead: the text of generation % 4. */
char changing_byte(size_t at, unsigned generation);
void set_content(unsigned generation, const char *text, long length);

/* For readers.  set_numbers, any, any_size: random numbers, which differ in each thread.  may_change and
 * change_at_any_time let the file change; only the first thread calls them.  set_signals_before and
 * set_signals_now set the program's action for SIGBUS in this round. */
void set_numbers(uint64_t seed);
uint64_t any(uint64_t below);
size_t any_size(size_t most);
void may_change(void);
void change_at_any_time(void);
/* expect_races: called before the first call if the file may change during another thread's call. */
void expect_races(void);
void set_signals_before(void);
void set_signals_now(void);
/* Whether the changes may truncate the file, or make holes. */
bool may_be_cut(void);
bool may_be_zero(void);
/* Returns the path of a file of CHANGING_LARGEST bytes that does not change: generation 0. */
const char *still_file(void);
/* Returns the path of a file with a byte for each page of the changing file: not zero if the page may have
 * SOME_ZEROS. */
const char *pages_of_zeros(void);

__attribute__((noreturn, format(printf, 2, 3))) void fail_at(long offset, const char *format, ...);

void look_now(struct look *l);
struct opened opened_now(const struct look *before);
/* check_bytes: fails for bytes that the file cannot have had at `at`, except zeros. returns  whether it found
 * such zeros. SOME_ZEROS: only in pages in which the file once ended. A map has zeros after the end of the
 * file; after the file has grown, the library cannot recognize these. */
enum zeros { NO_ZEROS, SOME_ZEROS, WRONG_ZEROS };
enum zeros check_bytes(long at, const char *p, long n, const char *call);
/* are_wrong: whether check_bytes found zeros that a read into the reader's own memory must not give. */
bool are_wrong(enum zeros zeros);
/* check_read: check_bytes for a read into the reader's memory; fails for zeros that are_wrong rejects. If
 * no change came after `l`, also checks the result of a read of `asked` bytes. check_region: the same for
 * memory that may map the file, without the check of zeros: the caller does this after it has freed the
 * region. */
void check_read(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                const char *call);
void check_region(const struct opened *o, const struct look *l, long at, const char *p, long n, long asked,
                  const char *call);

#ifdef __cplusplus
}
#endif

#endif
