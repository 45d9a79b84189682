/* SPDX-License-Identifier: MIT
 *
 * error_text.c - the meanings of the errors that the library's calls return.
 */
#include <asf/asf.h>

#include <errno.h>
#include <string.h>

/* Errors whose meaning differs from libc's text, or goes beyond it. */
static const char *const meanings[] = {
    [E2BIG] = "A record, or its format, is larger than allowed",
    [EBADF] = "The stream is not open for this, or the descriptor is not open",
    [EBADMSG] = "A field is missing or is no number of its type, or the input is damaged",
    [EBUSY] = "Regions or lines of the stream are not given back, or another call has used it",
    [ECANCELED] = "The work was stopped, or a thread has ended within it",
    [EDEADLK] = "This thread holds the lock already",
    [EIO] = "Input/output error, or the input was truncated",
    [EMSGSIZE] = "A line is longer than allowed",
    [ENOBUFS] = "Too much output waits for regions that are not given back",
    [ENODATA] = "The input ends within a record or an array",
    [ENOTSUP] = "A library is not installed, or the system or the processor cannot do this",
    [EOVERFLOW] = "A size or a result is too large for its type",
    [EOWNERDEAD] = "The process or thread that wrote, or that held the lock, has ended",
    [EPROTOTYPE] = "A field has another type than the one wanted",
    [ERANGE] = "A number does not fit its type",
    [ESPIPE] = "The stream cannot seek, or is not on a regular file",
    [ESTALE] = "The file or segment was replaced or changed",
};

const char *asf_error_text(int error) {
    const unsigned number = error < 0 ? 0U - (unsigned)error : (unsigned)error;
    if (number < sizeof meanings / sizeof meanings[0] && meanings[number])
        return meanings[number];
    const char *text = strerrordesc_np((int)number);
    return text ? text : "Unknown error";
}
