/* SPDX-License-Identifier: MIT
 *
 * shell_text.c - plain commands of the shell.  Text that is not certainly plain counts as not plain.
 */
#define _GNU_SOURCE
#include "lib/text/shell_text.h"
#include "lib/text/format.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a dollar sign begins a command substitution, an expansion in braces, or $$, the process id
 * of the shell that runs the whole text. */
static bool is_of_more_than_a_word(const char *p) {
    return *p == '$' && (p[1] == '(' || p[1] == '{' || p[1] == '$');
}

/* Returns the end of the quoted text that begins at p; NULL: the quote is not closed, or contains a
 * command. */
static const char *skip_quoted(const char *p) {
    const char quote = *p;
    p++;
    for (; *p && *p != quote; p++) {
        if (quote == '\'')
            continue;
        if (*p == '`' || is_of_more_than_a_word(p))
            return NULL;
        if (*p == '\\' && p[1])
            p++;
    }
    return *p ? p + 1 : NULL;
}

/* Whether a redirection has no file; p is after the redirection's first character. */
static bool lacks_its_file(const char *p) {
    p += *p != '\0' && strchr(">&|", *p) != NULL;
    p += strspn(p, " \t");
    return *p == '\0' || strchr("|<>", *p) != NULL;
}

/* Whether a command begins with a reserved word of the shell. */
static bool is_reserved(const char *p) {
    static const char words[] = " { } ! if then else elif fi for while until do done case esac in select "
                                "function time coproc [[ ";
    char spaced[16];
    p += strspn(p, " \t");
    size_t n = strcspn(p, " \t|");
    if (n + 3 > sizeof spaced)
        return false;
    asf__format_text(spaced, sizeof spaced, " %.*s ", (int)n, p);
    return n == 0 || strstr(words, spaced) != NULL;
}

/* Whether the character at p begins something that only the shell can parse. */
static bool is_more(const char *start, const char *p) {
    const char *before = p > start ? p - 1 : " ";
    switch (*p) {
    case '|':
        return p[1] == '|' || p[1] == '&';
    case '&':
        return *before != '>' && *before != '<';
    case '<':
    case '>':
        return (*p == '<' && p[1] == '<') || lacks_its_file(p + 1);
    case '$':
        return is_of_more_than_a_word(p);
    case '#':
        return *before == ' ' || *before == '\t';
    default:
        return strchr(";()`\n", *p) != NULL;
    }
}

const char *asf__shell_bar(const char *text) {
    const char *p = is_reserved(text) ? NULL : text;
    while (p && *p && !(*p == '|' && (p == text || p[-1] != '>'))) {
        if (*p == '\\' && p[1] && p[1] != '\n')
            p += 2;
        else if (*p == '\'' || *p == '"')
            p = skip_quoted(p);
        else if (is_more(text, p))
            return NULL;
        else
            p++;
    }
    return p && *p == '|' && is_more(text, p) ? NULL : p;
}

/* --- the shell becomes the program ------------------------------------------------ */

/* Whether the word is a builtin of the shell, or has another meaning after "exec". */
static bool is_of_the_shell(const char *word) {
    static const char words[] = " . alias bg break builtin case cd chdir command continue declare do "
                                "done echo elif else esac eval "
                                "exec exit export false fc fg fi for function getopts hash help history if "
                                "in jobs kill let local printf "
                                "pwd read readonly return select set shift source test then time times trap "
                                "true type typeset ulimit umask "
                                "unalias unset until wait while ";
    char spaced[NAME_MAX + 3];
    asf__format_text(spaced, sizeof spaced, " %s ", word);
    return strstr(words, spaced) != NULL;
}

static bool is_name_character(const char *p, const char *start) {
    return (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
           (p > start && *p >= '0' && *p <= '9');
}

/* Skips an assignment like LC_ALL=C and the blanks after it.  Returns `text` if there is none. */
static const char *skip_assignment(const char *text) {
    const char *p = text;
    while (is_name_character(p, text))
        p++;
    if (p == text || *p != '=')
        return text;
    while (*p && *p != ' ' && *p != '\t') {
        if (*p == '\'' || *p == '"')
            p = skip_quoted(p);
        else
            p += *p == '\\' && p[1] ? 2 : 1;
    }
    return p + strspn(p, " \t");
}

/* Whether the file can be executed: for other files "exec" has its own error messages. */
static bool can_be_executed(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_program(const char *name) {
    char path[PATH_MAX];
    const char *directory = getenv("PATH");
    if (strchr(name, '/'))
        return can_be_executed(name);
    for (; directory; directory = strchr(directory, ':') ? strchr(directory, ':') + 1 : NULL) {
        int n = asf__format_text(path, sizeof path, "%.*s/%s", (int)strcspn(directory, ":"), directory, name);
        if (n < (int)sizeof path && can_be_executed(path))
            return true;
    }
    return false;
}

char *asf__shell_becoming(const char *command) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
    const char *word = command + strspn(command, " \t"), *next;
    char name[NAME_MAX], *text;
    while ((next = skip_assignment(word)) != word)
        word = next;
    size_t n = strspn(word, plain);
    if (n == 0 || n >= sizeof name || !strchr(" \t", word[n])) /* strchr also finds the null at the end */
        return NULL;
    memcpy(name, word, n);
    name[n] = '\0';
    if (is_of_the_shell(name) || !is_program(name))
        return NULL;
    const size_t size = strlen(command) + sizeof "exec ";
    if ((text = malloc(size)))
        asf__format_text(text, size, "%.*sexec %s", (int)(word - command), command, word);
    return text;
}
