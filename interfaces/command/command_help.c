/* SPDX-License-Identifier: MIT
 *
 * command_help.c - makes getopt_long's options and the help from the table of subcommands, and suggests a
 * name for a mistyped word.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"
#include "lib/sys/options.h"

const struct command *asf__command(const char *name) {
    for (const struct command *c = asf__commands; c->name; c++)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

const struct option *asf__options_of(const char *name) {
    enum { MAX_OPTIONS = 16 };
    static struct option options[MAX_OPTIONS];
    const struct command_option *o = asf__command(name)->options;
    size_t n = 0;
    for (; o->value && n < MAX_OPTIONS - 2; o++)
        options[n++] = (struct option){o->name,
                                       !o->argument            ? no_argument
                                       : o->argument[0] == '=' ? optional_argument
                                                               : required_argument,
                                       NULL, o->value};
    options[n++] = (struct option){"help", no_argument, NULL, 'h'};
    options[n] = (struct option){NULL, 0, NULL, 0};
    return options;
}

/* --- the help -------------------------------------------------------------------------- */

/* Print a term, and its text wrapped in a column to the right. */
static void print_item(const char *term, const char *text) {
    enum { COLUMN = 22, WIDTH = 84 };
    int at = printf("  %-18s", term);
    if (at > COLUMN - 2)
        at = printf("\n") - 1;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > COLUMN && at + n > WIDTH)
            at = printf("\n") - 1;
        at += printf("%*s%.*s", at < COLUMN ? COLUMN - at : 1, "", n, text);
        text += n + (text[n] == ' ');
    }
    putchar('\n');
}

const char *asf__option_text(const struct command_option *o) {
    return !o->argument            ? asf__text("--%s", o->name)
           : o->argument[0] == '=' ? asf__text("--%s[%s]", o->name, o->argument)
                                   : asf__text("--%s %s", o->name, o->argument);
}

/* The command's name within the group: "ls" of "shm ls" in "shm".  NULL: not in the group. */
static const char *name_in_group(const struct command *c, const char *group) {
    size_t n = strlen(group);
    const char *name = c->name + (n ? n + 1 : 0);
    return (n == 0 || (!strncmp(c->name, group, n) && c->name[n] == ' ')) && !strchr(name, ' ') ? name : NULL;
}

/* "ls [--json] [--leaked]": groups are small enough to list the options. */
static const char *synopsis_of(const struct command *c, const char *group) {
    const char *text = name_in_group(c, group);
    for (const struct command_option *o = c->options; group[0] && o->value; o++)
        text = asf__text("%s [%s]", text, asf__option_text(o));
    return group[0] && c->operands != NO_OPERANDS
               ? asf__text("%s [%s]", text, c->operands == LABELS ? "LABEL..." : "FILE")
               : text;
}

static void print_commands(const char *group) {
    for (const struct command *c = asf__commands; c->name; c++)
        if (name_in_group(c, group))
            print_item(synopsis_of(c, group), c->summary);
}

static void print_keys(void) {
    puts("\nKeys of --options (the manual page asf(1) has the defaults):");
    for (const struct command_key *k = asf__keys; k->name; k++)
        if (k->text)
            print_item(asf__text("%s=%s", k->name, k->values), k->text);
}

static int print_list(void) {
    puts("usage: asf COMMAND [ARGUMENT]...\n"
         "\n"
         "The Alloc Stream Facility: serve the stream I/O of unmodified programs.\n");
    print_commands("");
    puts("\n'asf COMMAND --help' describes a command; the manual page asf(1) describes all.");
    return asf__close_stdout();
}

int asf__help_of(const char *name) {
    const struct command *c = name ? asf__command(name) : NULL;
    if (!c)
        return print_list();
    printf("usage: asf %s %s\n\n%s\n", c->name, c->usage, c->description);
    if (c->operands == COMMAND_NAMES && strcmp(name, "help") != 0)
        print_commands(name);
    for (const struct command_option *o = c->options; o->value; o++)
        print_item(asf__option_text(o), o->text);
    print_item("--help", "print this help");
    for (const struct command_option *o = c->options; o->value; o++)
        if (!strcmp(o->name, "options") && !strcmp(name, "run"))
            print_keys();
    if (c->epilog)
        printf("\n%s", c->epilog);
    return asf__close_stdout();
}

/* --- unknown words ------------------------------------------------------------------------- */

int asf__is_one_edit(const char *a, const char *b) {
    size_t same = 0, la = strlen(a), lb = strlen(b);
    while (a[same] && a[same] == b[same])
        same++;
    a += same, b += same;
    if (la == lb)
        return la > same + 1 && a[0] == b[1] && a[1] == b[0] && !strcmp(a + 2, b + 2)
                   ? 1
                   : la > same && !strcmp(a + 1, b + 1);
    return (la == lb + 1 && !strcmp(a + 1, b)) || (lb == la + 1 && !strcmp(a, b + 1));
}

const char *asf__suggestion(const char *group, const char *word) {
    for (const struct command *c = asf__commands; c->name; c++)
        if (name_in_group(c, group) && asf__is_one_edit(name_in_group(c, group), word))
            return asf__text("; did you mean '%s'?", name_in_group(c, group));
    return "";
}

static const char *option_suggestion(const char *command, const char *word) {
    const struct command *c = asf__command(command);
    const char *name = asf__text("%.*s", (int)strcspn(word, "="), word);
    for (const struct command_option *o = c ? c->options : NULL; o && o->value; o++)
        if (!strncmp(name, "--", 2) && asf__is_one_edit(o->name, name + 2))
            return asf__text("; did you mean '--%s'?", o->name);
    return "";
}

/* getopt_long stores an unknown short option in optopt, and a long one nowhere. */
void asf__bad_option(const char *command, int option, char **argv) {
    const char *word = argv[optind - 1];
    if (strncmp(word, "--", 2) != 0)
        word = asf__text("-%c", optopt);
    if (option == ':')
        asf__fail("%s: %s needs an argument; see 'asf %s --help'", command, word, command);
    asf__fail("%s: unknown option '%s'%s; see 'asf %s --help'", command, word,
              option_suggestion(command, word), command);
}

static const struct command_key *find_key(const char *word, size_t length) {
    for (const struct command_key *k = asf__keys; k->name; k++)
        if (strlen(k->name) == length && !memcmp(k->name, word, length))
            return k;
    return NULL;
}

static const char *all_keys(void) {
    const char *keys = "";
    for (const struct command_key *k = asf__keys; k->name; k++)
        keys = k->text ? asf__join_list(keys, ' ', k->name) : keys;
    return keys;
}

void asf__check_keys(const char *command, const char *options) {
    for (const char *at = options; *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ","), key = strcspn(at, "=,");
        const struct command_key *known = find_key(at, key);
        if (key == length)
            asf__fail("%s: --options: '%.*s' has no value; write KEY=VALUE", command, (int)length, at);
        if (!known)
            asf__fail("%s: --options: unknown key '%.*s'; the keys are %s", command, (int)key, at,
                      all_keys());
        if (!asf__is_option(at, length))
            asf__fail("%s: --options: '%.*s': invalid value; give %s%s%s", command, (int)length, at,
                      known->values, known->text ? ": " : "", known->text ? known->text : "");
        at += length;
    }
}

void asf__drop_unusable_options(void) {
    const char *given = getenv("ASF_OPTIONS"), *kept = "";
    for (const char *at = given ? given : ""; *at; at += strspn(at, ",")) {
        const size_t length = strcspn(at, ",");
        if (asf__is_option(at, length))
            kept = asf__join_list(kept, ',', asf__text("%.*s", (int)length, at));
        at += length;
    }
    if (given && strlen(kept) < strlen(given) && setenv("ASF_OPTIONS", kept, 1) != 0)
        asf__fail("ASF_OPTIONS: setenv: %s; shorten it", strerror(errno));
}
