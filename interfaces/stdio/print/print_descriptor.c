/* SPDX-License-Identifier: MIT
 *
 * print_descriptor.c - dprintf and its variants: text is made in an array, which is written when it is full
 * and at the end.
 */
#include "interfaces/stdio/print/print.h"

#include "backplane/backplane.h"
#include "lib/sys/syscalls.h"
#include "lib/text/format_spec.h"

struct descriptor_output {
    struct asf__output o; /* the first member, since `full` gets its address */
    int fd;
    char array[2048]; /* the size in newer libcs, where a call that fails has written whole arrays */
};

bool asf__print_bytes(int fd, const char *p, size_t n) {
    for (ssize_t r; n > 0; p += r, n -= (size_t)r) {
        r = asf__write(fd, p, n);
        if (r >= 0)
            continue;
        errno = (int)-r;
        if (r != -EINTR || !ASF_LIBC(dprintf_goes_on))
            return false;
        r = 0;
    }
    return true;
}

static bool write_array(struct asf__output *o) {
    struct descriptor_output *d = (struct descriptor_output *)o;
    size_t n = (size_t)(d->o.p - d->array);
    d->o.p = d->array;
    return asf__print_bytes(d->fd, d->array, n);
}

static bool write_full_array(struct asf__output *o, const char *text, size_t n) {
    return asf__fill_array(o, text, n, write_array);
}

/* Whether the descriptor is open, as libc finds out when it attaches a stream; newer libcs do not look. */
static bool is_open(int fd) {
    if (ASF_LIBC(dprintf_itself) || asf__sys.lseek(fd, 0, SEEK_CUR) != -EBADF)
        return true;
    errno = EBADF;
    return false;
}

static int print_fd(int fd, int fortify, const char *format, asf__arguments ap) {
    struct descriptor_output d;
    d.o = (struct asf__output){d.array, d.array + sizeof d.array, d.array, .full = write_full_array};
    d.o.counts = fortify <= 0;
    d.fd = fd;
    asf__publish_streams(fd);
    if (asf__may_count(format) && !is_open(fd)) /* before a %n stores anything */
        return -1;
    struct asf__place first = asf__place_in(ap);
    const char *left = asf__format(&d.o, format, ap);
    size_t n = asf__made(&d.o);
    if (left && asf__must_repeat_call(&d.o)) {
        asf__go_to(ap, first);
        return asf__libc_print_fd(fd, fortify, format, ap);
    }
    if ((!d.o.failed && !write_array(&d.o)) || (n == 0 && !left && !is_open(fd)))
        return -1;
    return asf__print_result(d.o.failed, n, left ? asf__libc_print_fd(fd, fortify, left, ap) : 0);
}

EXPORT int vdprintf(int fd, const char *format, va_list ap) {
    return print_fd(fd, 0, format, ASF_ARGUMENTS(ap));
}

EXPORT int __vdprintf_chk(int fd, int flag, const char *format, va_list ap) {
    return print_fd(fd, flag, format, ASF_ARGUMENTS(ap));
}

ASF_VARIADIC(dprintf, (int fd, const char *format, ...), print_fd(fd, 0, format, ap))
ASF_VARIADIC(__dprintf_chk, (int fd, int flag, const char *format, ...), print_fd(fd, flag, format, ap))
