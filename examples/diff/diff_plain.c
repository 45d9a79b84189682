/* SPDX-License-Identifier: MIT
 *
 * diff_plain.c - diff's I/O on stdio: a file is read into allocated memory.
 */
#include <errno.h>
#include <error.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "diff.h"

/* Read into the rest of the room.  Returns false if that fills it: the file may have more bytes. */
static bool read_on(struct text *text, FILE *file, char *room, size_t size) {
    text->size += fread(room + text->size, 1, size - text->size, file);
    return text->size < size;
}

int text_read(struct text *text, int fd, size_t size) {
    *text = (struct text){.data = ""};
    FILE *file = fdopen(fd, "r");
    if (!file)
        return errno;
    char *room = NULL;
    size_t room_size = size + 1; /* one byte more, so that read_on detects the end */
    do {
        room = text->source = must(realloc(room, room_size));
    } while (!read_on(text, file, room, room_size) && (room_size *= 2));
    text->data = room;
    int error = ferror(file) ? errno : 0;
    fclose(file);
    return error;
}

int text_free(struct text *text) {
    free(text->source);
    return 0;
}

void text_write(const char *bytes, size_t n) {
    fwrite(bytes, 1, n, stdout);
}

void text_flush(void) {
    fflush(stdout);
}

/* Report a write error.  Then discard the buffered output, so that the end of the program does not report the
 * error again. */
void text_end(void) {
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed)
        return;
    int error_number = errno;
    __fpurge(stdout);
    clearerr(stdout);
    error(EXIT_TROUBLE, error_number, "standard output");
}
