/* SPDX-License-Identifier: MIT
 *
 * stdio.h - inline versions of stdio's calls that move a few bytes.
 *
 * Recompile a program with this header, by #include or by the compiler's `-include asf/stdio.h`.  It then
 * makes no call for a byte that the current buffer contains or has room for.  Unix programs did so when
 * getc and putc were macros.  Nothing else changes: with a second thread, at the ends of the buffer and on
 * line-buffered streams libc's function of that name is called.  The header works with
 * and without libasf_stdio.  A call through a pointer or as (getc)(f) calls the function.
 *
 * In C++, where getc must not be a macro, the names are asf_getc and so on.
 * lock     none while there is one thread; otherwise the function's
 * errors   those of the function
 * source   ISO C, POSIX; the members of FILE are those that glibc's own macros use
 */
#ifndef ASF_STDIO_H
#define ASF_STDIO_H

#include <stddef.h>
#include <stdio.h>
#include <sys/single_threaded.h>

#if !defined __GLIBC__ || __GLIBC__ < 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ < 32)
#error "asf/stdio.h needs the headers of glibc 2.32 or newer"
#endif

static inline int asf_getc(FILE *f) {
    if (__libc_single_threaded && f->_IO_read_ptr < f->_IO_read_end)
        return (unsigned char)*f->_IO_read_ptr++;
    return (getc)(f);
}

static inline int asf_putc(int c, FILE *f) {
    if (__libc_single_threaded && f->_IO_write_ptr < f->_IO_write_end)
        return (unsigned char)(*f->_IO_write_ptr++ = (char)c);
    return (putc)(c, f);
}

/* An inline fwrite.  For a stream without an orientation it calls the real fwrite, which sets one. */
static inline size_t asf_fwrite(const void *p, size_t size, size_t n, FILE *f) {
    size_t bytes;
    if (__libc_single_threaded && f->_mode < 0 && !__builtin_mul_overflow(size, n, &bytes) && bytes > 0 &&
        (ptrdiff_t)bytes <= f->_IO_write_end - f->_IO_write_ptr && bytes < BUFSIZ) {
        __builtin_memcpy(f->_IO_write_ptr, p, bytes);
        f->_IO_write_ptr += bytes;
        return n;
    }
    return (fwrite)(p, size, n, f);
}

#ifndef __cplusplus
#undef getc
#undef fgetc
#undef getchar
#undef putc
#undef fputc
#undef putchar
#undef fwrite
#define getc(f)            asf_getc(f)
#define fgetc(f)           asf_getc(f)
#define getchar()          asf_getc(stdin)
#define putc(c, f)         asf_putc(c, f)
#define fputc(c, f)        asf_putc(c, f)
#define putchar(c)         asf_putc(c, stdout)
#define fwrite(p, s, n, f) asf_fwrite(p, s, n, f)
#endif

#endif
