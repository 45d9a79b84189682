/* SPDX-License-Identifier: MIT
 *
 * package.c - whether the system is like Debian, by os-release(5).
 */
#define _GNU_SOURCE
#include "lib/sys/package.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "lib/sys/syscalls.h"

/* Whether the value, up to the end of its line, is a list that contains the word: debian, or "ubuntu
 * debian". */
static bool has_word(const char *value, const char *word) {
    for (size_t n; *value && *value != '\n'; value += n) {
        n = strcspn(value, " \"'\n");
        if (n == strlen(word) && memcmp(value, word, n) == 0)
            return true;
        n += n == 0;
    }
    return false;
}

/* Whether the system's ID is debian, or its ID_LIKE contains debian, as Ubuntu's does. */
static bool is_like_debian(void) {
    static const char *const keys[] = {"\nID=", "\nID_LIKE="};
    char text[4096] = "\n";
    const int fd = asf__sys.open("/etc/os-release", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    asf__sys.read(fd, text + 1, sizeof text - 2);
    asf__sys.close(fd);
    for (int i = 0; i < 2; i++) {
        const char *found = strstr(text, keys[i]);
        if (found && has_word(found + strlen(keys[i]), "debian"))
            return true;
    }
    return false;
}

const char *asf__package(const char *debian, const char *otherwise) {
    return is_like_debian() ? debian : otherwise;
}
