/* SPDX-License-Identifier: MIT
 *
 * cmp.h - shared by the two forms of cmp.
 */
#ifndef ASF_EXAMPLES_CMP_H
#define ASF_EXAMPLES_CMP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct cmp_file {
    const char *name;
    int fd;
    struct stat st;
    off_t skip; /* bytes still to skip by reading them */
};

/* cmp_want: returns how many bytes to compare next, at most `most`; 0 if the limit of -n is reached. */
size_t cmp_want(size_t most);

/* cmp_blocks: compare the next n bytes, and report differences.
 * returns  whether to compare more. */
bool cmp_blocks(const char *a, const char *b, size_t n);

/* cmp_ended: report that file 0 or 1 has ended before the other. */
void cmp_ended(int which);

/* cmp_failed: complain about a file that cannot be read, and end. */
_Noreturn void cmp_failed(const struct cmp_file *file, int error);

/* Each form of cmp defines these.  cmp_files compares the files from their descriptors' offsets on, by the
 * calls above.  cmp_difference returns the offset of the first difference, or n.  cmp_newlines counts
 * newlines. */
void cmp_files(struct cmp_file files[2]);
size_t cmp_difference(const char *a, const char *b, size_t n);
size_t cmp_newlines(const char *p, size_t n);

#endif
