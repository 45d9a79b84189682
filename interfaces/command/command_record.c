/* SPDX-License-Identifier: MIT
 *
 * command_record.c - the program asf-record, which "asf record" executes: shows what files and streams of
 * records contain.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interfaces/command/command_record.h"
#include "interfaces/command/command_table.h"

/* A module's stream has BUFSIZ bytes by default; a pipe holds 64 KB. */
extern const char asf_conf[];
const char asf_conf[] = "buffer=64K";

/* Check first: asf_record_store_directory would create the directory. */
static struct asf_record_store *open_store(const char *subcommand, const char *directory) {
    struct asf_record_store *store;
    if (access(directory, F_OK) != 0)
        asf__fail("record %s: --store: %s: %s; name a directory of formats", subcommand, directory,
                  strerror(errno));
    if (asf_record_store_directory(directory, &store) < 0)
        asf__fail("record %s: --store: %s", subcommand, asf_record_why());
    return store;
}

void asf__record_flush_stdout(void *unused) {
    (void)unused;
    if (asf__close_stdout() != 0)
        exit(EXIT_OWN_FAILURE);
}

static bool is_regular(const char *file) {
    struct stat st;
    return (file ? stat(file, &st) : fstat(STDIN_FILENO, &st)) == 0 && S_ISREG(st.st_mode);
}

/* Reading a regular file never waits, so asf_sopen may map it. */
static struct asf_cios *open_input(const char *file, void (*flush)(void *arg), void *arg, int *error) {
    bool regular = is_regular(file);
    if (regular && file)
        return asf_sopen(file, O_RDONLY | O_CLOEXEC, 0, error);
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    return regular ? asf_sopen_fd(fd, O_RDONLY, error) : asf__record_open_waiting(fd, flush, arg, error);
}

struct record_input asf__record_open(const char *subcommand, const char *file,
                                     const struct record_source *source, void (*flush)(void *arg),
                                     void *arg) {
    bool named = file && strcmp(file, "-") != 0;
    struct record_input in = {.name = named ? file : "standard input"};
    struct asf_record_options options = {.size = sizeof options, .most_memory = source->footprint};
    int error = 0;
    in.stream = open_input(named ? file : NULL, flush, arg, &error);
    if (!in.stream)
        asf__fail("record %s: %s: open: %s; name a readable file", subcommand, in.name,
                  asf_error_text(error));
    if (source->store)
        in.store = open_store(subcommand, source->store);
    options.store = in.store;
    if (asf_record_reader_new(in.stream, &options, &in.reader) < 0)
        asf__fail("record %s: %s", subcommand, asf_record_why());
    return in;
}

int asf__record_close(const char *subcommand, struct record_input *in, int rc) {
    bool broken = rc == -EBADMSG || rc == -ENODATA || rc == -E2BIG;
    int status = asf__close_stdout();
    if (rc < 0)
        asf__warn("record %s: %s: %s%s", subcommand, in->name, asf_record_why(),
                  broken ? "; the earlier records are valid" : "");
    asf_record_reader_free(in->reader);
    asf_record_store_free(in->store);
    asf_sclose(in->stream);
    return status || rc >= 0 ? status : broken ? EXIT_FAILURE : EXIT_OWN_FAILURE;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } subcommands[] = {
        {"formats", asf__record_formats}, {"dump", asf__record_dump}, {"convert", asf__record_convert}};
    if (argc < 2)
        asf__fail("record: no command given; 'asf record --help' lists the commands");
    const char *name = argv[1];
    if (!strcmp(name, "help") || !strcmp(name, "--help") || !strcmp(name, "-h"))
        return asf__help_of("record");
    opterr = 0;
    for (size_t i = 0; i < sizeof subcommands / sizeof *subcommands; i++)
        if (!strcmp(name, subcommands[i].name))
            return subcommands[i].run(argc - 1, argv + 1);
    asf__fail("record: unknown command '%s'%s; 'asf record --help' lists the commands", name,
              asf__suggestion("record", name));
}
