/* SPDX-License-Identifier: MIT
 *
 * shm_tools.h - the three calls of Grosse's note under their own names:
 *
 *     char *shm_create(char *name, mode_t mode, int nbytes);
 *     char *shm_open(char *label);
 *     int   shm_close(char *shm);
 *
 * POSIX has since used the name shm_open for a function with three arguments.  Both work in one file;
 * the number of arguments selects one.  The names are macros: the library exports none of them.
 */
#ifndef ASF_SHM_TOOLS_H
#define ASF_SHM_TOOLS_H

#include <sys/mman.h> /* before the macros: it declares POSIX's shm_open */

#include <asf/shm.h>

#define shm_create(name, mode, nbytes) asf_shm_create((name), (mode), (nbytes))
#define shm_close(shm)                 asf_shm_close(shm)

/* POSIX's three arguments, or the note's one. */
#define shm_open(...)                     ASF_SHM_OPEN(__VA_ARGS__, ASF_SHM_POSIX, , ASF_SHM_NOTE, )(__VA_ARGS__)
#define ASF_SHM_OPEN(a, b, c, which, ...) which
#define ASF_SHM_NOTE(label)               asf_shm_open(label)
#define ASF_SHM_POSIX(name, flags, mode)  (shm_open)((name), (flags), (mode))

#endif
