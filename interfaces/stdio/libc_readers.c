/* SPDX-License-Identifier: MIT
 *
 * libc_readers.c - functions of libc that read or write a FILE by libc's own
 * code.  They take libc's lock, which a biased stream does not show: the bias
 * is taken back first.  Not in static programs, where no lock is ever biased.
 * Layer: interfaces.  May include: backplane, lib, include/asf.
 */
#include "interfaces/stdio/stdio_cios.h"

#ifndef ASF_STATIC
#include <argp.h>
#include <grp.h>
#include <gshadow.h>
#include <malloc.h>
#include <mntent.h>
#include <pwd.h>
#include <shadow.h>

#include "lib/sys/next.h"

#define ON_STREAM(type, name, params, ...)                                                                   \
    EXPORT type name params {                                                                                \
        asf__show_lock(asf__cios(f));                                                                        \
        return ASF_NEXT(name)(__VA_ARGS__);                                                                  \
    }

ON_STREAM(struct mntent *, getmntent, (FILE * f), f)
ON_STREAM(struct mntent *, getmntent_r, (FILE * f, struct mntent *m, char *b, int n), f, m, b, n)
ON_STREAM(int, addmntent, (FILE * f, const struct mntent *m), f, m)
ON_STREAM(struct passwd *, fgetpwent, (FILE * f), f)
ON_STREAM(int, fgetpwent_r, (FILE * f, struct passwd *p, char *b, size_t n, struct passwd **r), f, p, b, n, r)
ON_STREAM(int, putpwent, (const struct passwd *p, FILE *f), p, f)
ON_STREAM(struct group *, fgetgrent, (FILE * f), f)
ON_STREAM(int, fgetgrent_r, (FILE * f, struct group *g, char *b, size_t n, struct group **r), f, g, b, n, r)
ON_STREAM(int, putgrent, (const struct group *g, FILE *f), g, f)
ON_STREAM(struct spwd *, fgetspent, (FILE * f), f)
ON_STREAM(int, fgetspent_r, (FILE * f, struct spwd *s, char *b, size_t n, struct spwd **r), f, s, b, n, r)
ON_STREAM(int, putspent, (const struct spwd *s, FILE *f), s, f)
ON_STREAM(struct sgrp *, fgetsgent, (FILE * f), f)
ON_STREAM(int, fgetsgent_r, (FILE * f, struct sgrp *s, char *b, size_t n, struct sgrp **r), f, s, b, n, r)
ON_STREAM(int, putsgent, (const struct sgrp *s, FILE *f), s, f)
ON_STREAM(int, malloc_info, (int options, FILE *f), options, f)
ON_STREAM(void, argp_help, (const struct argp *a, FILE *f, unsigned flags, char *name), a, f, flags, name)
#endif
