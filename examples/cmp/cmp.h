/* SPDX-License-Identifier: MIT
 *
 * cmp.h - what the two forms of cmp share.
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
    off_t skip; /* bytes that are still to be read and passed over */
};

/* cmp_want: how many bytes may be compared next, `most` at most; 0 when all
 * that was asked for has been compared. */
size_t cmp_want(size_t most);

/* cmp_blocks: compare the next n bytes, and report what differs.
 * returns  whether to go on. */
bool cmp_blocks(const char *a, const char *b, size_t n);

/* cmp_ended: report that file 0 or 1 has ended before the other. */
void cmp_ended(int which);

/* cmp_failed: complain about a file that cannot be read, and end. */
_Noreturn void cmp_failed(const struct cmp_file *file, int error);

/* The functions that a form of cmp has of its own: compare the files, by the
 * calls above, from where their descriptors stand, and close them; the
 * offset of the first difference, or n; the number of newlines. */
void cmp_files(struct cmp_file files[2]);
size_t cmp_difference(const char *a, const char *b, size_t n);
size_t cmp_newlines(const char *p, size_t n);

#endif
