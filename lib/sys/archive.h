/* SPDX-License-Identifier: MIT
 *
 * archive.h - whether this code is in an archive, so that the program may be static.
 */
#ifndef ASF_LIB_SYS_ARCHIVE_H
#define ASF_LIB_SYS_ARCHIVE_H

/* NULL in the shared libraries. */
extern const char asf__in_archive[1] __attribute__((weak, visibility("hidden")));

#endif
