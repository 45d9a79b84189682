/* SPDX-License-Identifier: MIT
 *
 * command_completion.c - "asf completion": prints the shells' completions, made from the table of
 * subcommands.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "interfaces/command/command.h"
#include "interfaces/command/command_table.h"

/* The group of a subcommand: "shm" for "shm ls", "" for "run". */
static const char *group_of(const struct command *c) {
    return asf__text("%.*s", (int)(strchr(c->name, ' ') ? strcspn(c->name, " ") : 0), c->name);
}

static const char *last_word(const struct command *c) {
    const char *space = strchr(c->name, ' ');
    return space ? space + 1 : c->name;
}

static bool has_group(const struct command *c, const char *group) {
    return strcmp(group_of(c), group) == 0;
}

static void print_names(const char *group) {
    for (const struct command *c = asf__commands; c->name; c++)
        if (has_group(c, group))
            printf("%s ", last_word(c));
}

static bool takes_word(const struct command_option *o) {
    return o->argument && o->argument[0] != '=';
}

static bool is_argument(const struct command_option *o, const char *argument) {
    return o->argument && strcmp(o->argument, argument) == 0;
}

/* Quote the text for the shell. */
static void print_quoted(const char *text) {
    putchar('\'');
    for (; *text; text++)
        *text == '\'' ? fputs("'\\''", stdout) : putchar(*text);
    putchar('\'');
}

/* --- bash ------------------------------------------------------------------------------- */

static void print_bash_words(const struct command *c) {
    printf("        '%s') words='", c->name);
    for (const struct command_option *o = c->options; o->value; o++)
        printf("--%s%s ", o->name, takes_word(o) ? "=" : "");
    printf("--help'; takes='");
    for (const struct command_option *o = c->options; o->value; o++)
        if (takes_word(o))
            printf(" --%s ", o->name);
    printf("'; operands=%d; names='", c->operands);
    if (c->operands == COMMAND_NAMES)
        print_names(strcmp(c->name, "help") == 0 ? "" : c->name);
    puts("' ;;");
}

/* Bash completes the arguments of a PROGRAM operand as it does without asf. */
static void print_bash(void) {
    puts("# bash completion of asf; made by 'asf completion bash'\n"
         "_asf_of() {\n"
         "    case $1 in");
    for (const struct command *c = asf__commands; c->name; c++)
        print_bash_words(c);
    printf("        *) return 1 ;;\n"
           "    esac\n"
           "}\n"
           "_asf() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command i word\n"
           "    local words takes operands names\n"
           "    COMPREPLY=()\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W '");
    print_names("");
    printf("--help --version' -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    command=${COMP_WORDS[1]} i=2\n"
           "    if [ \"$COMP_CWORD\" -gt 2 ] && _asf_of \"$command ${COMP_WORDS[2]}\"; then\n"
           "        command=\"$command ${COMP_WORDS[2]}\" i=3\n"
           "    fi\n"
           "    _asf_of \"$command\" || return\n"
           "    for ((; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        if [[ $takes == *\" $word \"* && ${COMP_WORDS[i+1]} != = ]]; then\n"
           "            ((++i))\n"
           "        elif [[ $word != -* && $word != = && ${COMP_WORDS[i-1]} != = || $word == -- ]]; then\n"
           "            [ \"$operands\" != %d ] || { [ \"$word\" != -- ] || ((++i)); _asf_program \"$i\"; "
           "return; }\n"
           "            break\n"
           "        fi\n"
           "    done\n"
           "    if [[ $prev == --options || $prev == = && ${COMP_WORDS[COMP_CWORD-2]} == --options ]]; then\n"
           "        COMPREPLY=($(compgen -S = -W '",
           A_COMMAND);
    for (const struct command_key *k = asf__keys; k->name; k++)
        if (k->text)
            printf("%s ", k->name);
    printf("' -- \"$cur\")); compopt -o nospace 2>/dev/null\n"
           "    elif [[ $takes == *\" $prev \"* || $prev == = ]]; then\n"
           "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
           "    elif [[ $cur == -* ]]; then\n"
           "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "        [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null\n"
           "    else\n"
           "        case $operands in\n"
           "            %d) COMPREPLY=($(compgen -c -- \"$cur\")) ;;\n"
           "            %d) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
           "            %d) COMPREPLY=($(compgen -W \"$names\" -- \"$cur\")) ;;\n"
           "            %d) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")) ;;\n"
           "        esac\n"
           "    fi\n"
           "}\n"
           "_asf_program() {\n"
           "    if declare -F _command_offset >/dev/null && [ \"$1\" -le \"$COMP_CWORD\" ]; then\n"
           "        _command_offset \"$1\"\n"
           "    elif [ \"$1\" -ge \"$COMP_CWORD\" ]; then\n"
           "        COMPREPLY=($(compgen -c -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
           "    else\n"
           "        COMPREPLY=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
           "    fi\n"
           "}\n"
           "complete -F _asf asf\n",
           A_COMMAND, FILES, COMMAND_NAMES, SHELLS);
}

/* --- zsh -------------------------------------------------------------------------------- */

static void print_described(const char *group) {
    for (const struct command *c = asf__commands; c->name; c++)
        if (has_group(c, group)) {
            printf(" ");
            print_quoted(asf__text("%s:%s", last_word(c), c->summary));
        }
}

/* Brackets and colons are syntax in zsh's '--name=[text]:ARGUMENT:action': replace them. */
static const char *zsh_text(const char *text) {
    char *plain = asf__text("%s", text);
    for (char *p = plain; *p; p++)
        *p = *p == '[' ? '(' : *p == ']' ? ')' : *p == ':' ? ';' : *p;
    return plain;
}

static void print_zsh_option(const struct command_option *o) {
    const char *argument = o->argument ? o->argument + (o->argument[0] == '=') : NULL;
    const char *action = is_argument(o, "DIRECTORY")            ? "_files -/"
                         : argument && strstr(argument, "FILE") ? "_files"
                                                                : " ";
    putchar(' ');
    print_quoted(asf__text("*--%s%s[%s]%s", o->name,
                           !argument       ? ""
                           : takes_word(o) ? "="
                                           : "=-",
                           zsh_text(o->text),
                           argument ? asf__text(":%s:%s", zsh_text(argument), action) : ""));
}

static void print_zsh_command(const struct command *c) {
    static const char *const actions[] = {
        [A_COMMAND] = "'*:: :_normal'", [FILES] = "'*:file:_files'", [SHELLS] = "'1:shell:(bash zsh fish)'"};
    printf("        '%s') _arguments -S", c->name);
    for (const struct command_option *o = c->options; o->value; o++)
        print_zsh_option(o);
    printf(" '--help[print this help]'");
    if (c->operands == COMMAND_NAMES) {
        fputs(" '1:command:(", stdout);
        print_names(strcmp(c->name, "help") == 0 ? "" : c->name);
        fputs(")'", stdout);
    } else if (c->operands < sizeof actions / sizeof *actions && actions[c->operands]) {
        printf(" %s", actions[c->operands]);
    }
    puts(" ;;");
}

static void print_zsh(void) {
    printf("#compdef asf\n"
           "# zsh completion of asf; made by 'asf completion zsh'\n"
           "_asf() {\n"
           "    local -a commands=(");
    print_described("");
    printf(")\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    local name=$words[2]\n"
           "    if (( CURRENT > 3 )) && [[ $name == (shm|record) ]]; then\n"
           "        name=\"$name $words[3]\"\n"
           "        shift words; (( CURRENT-- ))\n"
           "    fi\n"
           "    shift words; (( CURRENT-- ))\n"
           "    case $name in\n");
    for (const struct command *c = asf__commands; c->name; c++)
        print_zsh_command(c);
    puts("    esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _asf ]; then _asf \"$@\"; else compdef _asf asf; fi");
}

/* --- fish ------------------------------------------------------------------------------- */

static void print_fish_options(const struct command *c, const char *when) {
    for (const struct command_option *o = c->options; o->value; o++) {
        printf("complete -c asf -n '%s' -l %s%s -d ", when, o->name, takes_word(o) ? " -r" : "");
        print_quoted(o->text);
        putchar('\n');
    }
    printf("complete -c asf -n '%s' -l help -d 'print this help'\n", when);
}

static void print_fish_command(const struct command *c) {
    const char *group = group_of(c);
    const char *when =
        group[0] ? asf__text("__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from ", group)
                 : "__fish_use_subcommand";
    if (group[0]) {
        printf("complete -c asf -f -n '%s", when);
        print_names(group);
        printf("' -a %s -d ", last_word(c));
    } else {
        printf("complete -c asf -f -n '%s' -a %s -d ", when, c->name);
    }
    print_quoted(c->summary);
    const char *seen = group[0]
                           ? asf__text("__fish_seen_subcommand_from %s; and __fish_seen_subcommand_from %s",
                                       group, last_word(c))
                           : asf__text("__fish_seen_subcommand_from %s", c->name);
    putchar('\n');
    print_fish_options(c, seen);
    if (c->operands == A_COMMAND)
        printf("complete -c asf -n '%s' -a '(__fish_complete_subcommand)'\n", seen);
    if (strcmp(c->name, "help") == 0) {
        printf("complete -c asf -f -n '%s' -a '", seen);
        print_names("");
        puts("'");
    }
    if (c->operands == SHELLS)
        printf("complete -c asf -f -n '%s' -a 'bash zsh fish'\n", seen);
}

static void print_fish(void) {
    puts("# fish completion of asf; made by 'asf completion fish'");
    for (const struct command *c = asf__commands; c->name; c++)
        print_fish_command(c);
}

int asf__completion(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return asf__help_of("completion");
    for (size_t i = 0; argc == 2 && i < sizeof shells / sizeof *shells; i++)
        if (!strcmp(argv[1], shells[i].name)) {
            shells[i].print();
            return asf__close_stdout();
        }
    asf__fail("completion: give bash, zsh or fish");
}
