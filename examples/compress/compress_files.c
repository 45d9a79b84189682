/* SPDX-License-Identifier: MIT
 *
 * compress_files.c - chooses the output's name, refuses unsuitable files, and replaces the input.
 *
 * Example programs, shared part.  It opens and removes files by system calls; codec.h reads and writes their
 * data.  The messages are ncompress's.  Some refusals, which ncompress reports only with -v, are always
 * reported here.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec.h"
#include "compress_files.h"

static struct codec_stream *standard_output;

/* The name of the unfinished output file, which a signal handler removes. */
static char *volatile unfinished;

static void remove_unfinished(int signal_number) {
    if (unfinished)
        unlink(unfinished);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch_signals(void) {
    static const int fatal[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (signal(fatal[i], remove_unfinished) == SIG_IGN)
            signal(fatal[i], SIG_IGN);
}

static int complain(const char *name, const char *what) {
    fprintf(stderr, "%s: %s\n", name, what);
    return STATUS_ERROR;
}

static int complain_errno(const char *name, int error) {
    return complain(name, strerror(error));
}

static bool has_suffix(const char *name) {
    size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, ".Z") == 0;
}

static char *add_suffix(const char *name) {
    char *with = malloc(strlen(name) + sizeof ".Z");
    if (with)
        strcat(strcpy(with, name), ".Z");
    return with;
}

/* Returns the name of the file to read: for "file", uncompress reads "file.Z" if there is no "file". */
static char *input_name(const char *name, bool uncompress) {
    struct stat status;
    if (uncompress && !has_suffix(name) && stat(name, &status) != 0 && errno == ENOENT)
        return add_suffix(name);
    return strdup(name);
}

static char *output_name(const char *name, bool uncompress) {
    return uncompress ? strndup(name, strlen(name) - 2) : add_suffix(name);
}

/* Refuse unsuitable files with a message.  Returns STATUS_OK if the file may be coded. */
static int check_input(const char *name, const struct stat *status, const struct compress_options *options) {
    if (S_ISDIR(status->st_mode)) {
        fprintf(stderr, "%s is a directory -- ignored\n", name);
    } else if (!S_ISREG(status->st_mode)) {
        fprintf(stderr, "%s is not a directory or a regular file - ignored\n", name);
    } else if (options->to_stdout) {
        return STATUS_OK;
    } else if (options->uncompress && !has_suffix(name)) {
        fprintf(stderr, "%s - no .Z suffix\n", name);
    } else if (!options->uncompress && has_suffix(name)) {
        fprintf(stderr, "%s: already has .Z suffix -- no change\n", name);
    } else if (!options->uncompress && !options->force && status->st_nlink > 1) {
        fprintf(stderr, "%s has %ju other links: unchanged\n", name, (uintmax_t)status->st_nlink - 1);
    } else {
        return STATUS_OK;
    }
    return STATUS_ERROR;
}

static bool ask_to_overwrite(const char *name) {
    fprintf(stderr, "%s already exists.\n", name);
    if (!isatty(STDIN_FILENO))
        return false;
    fprintf(stderr, "Do you wish to overwrite %s (y or n)? ", name);
    char answer = 'n', c = 0;
    for (bool first = true; c != '\n' && read(STDIN_FILENO, &c, 1) == 1; first = false)
        answer = first ? c : answer;
    return answer == 'y' || answer == 'Y';
}

/* Returns the descriptor of a new file, or -1 after a message. */
static int create_output(const char *name, bool force) {
    struct stat status;
    if (lstat(name, &status) == 0) {
        if (!force && !ask_to_overwrite(name)) {
            fprintf(stderr, "%s not overwritten\n", name);
            return -1;
        }
        if (unlink(name) != 0) {
            complain_errno(name, errno);
            return -1;
        }
    }
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        complain_errno(name, errno);
    return fd;
}

/* Print the ratio in per cent, computed in hundredths.  If more than 214,748 bytes are saved, divide before
 * multiplying, as ncompress does: the last digits differ. */
static void print_ratio(const struct codec_result *result) {
    int64_t saved = (int64_t)(result->bytes_in - result->bytes_out), in = (int64_t)result->bytes_in;
    int64_t ratio = in == 0 ? 10000 : saved > 214748 ? saved / (in / 10000) : 10000 * saved / in;
    fprintf(stderr, "Compression: %s%jd.%02jd%%", ratio < 0 ? "-" : "", (intmax_t)llabs(ratio) / 100,
            (intmax_t)llabs(ratio) % 100);
}

/* Print the error of a result, if there is one.  Returns the exit status. */
static int report(const char *in_name, const char *out_name, const struct codec_result *result) {
    if (result->in_error)
        return complain_errno(in_name, result->in_error);
    if (result->out_error)
        return complain_errno(out_name, result->out_error);
    switch (result->status) {
    case LZW_OK:
        return STATUS_OK;
    case LZW_FORMAT:
        return complain(in_name, "not in compressed format");
    case LZW_WIDTH:
        fprintf(stderr, "%s: compressed with %u bits, can only handle %d to %d bits\n", in_name,
                result->width, LZW_MIN_BITS, LZW_MAX_BITS);
        return STATUS_ERROR;
    case LZW_CORRUPT:
        break;
    }
    fprintf(stderr, "%s: corrupt input: a code after %ju bytes of output stands for no string\n", in_name,
            (uintmax_t)result->bytes_out);
    return STATUS_ERROR;
}

/* Returns whether to keep the output: compress without -f keeps only a smaller output. */
static bool worth_it(const struct codec_result *result, const struct compress_options *options) {
    return options->uncompress || options->force || result->bytes_out < result->bytes_in;
}

static void code(struct codec_stream *in, struct codec_stream *out, const struct compress_options *options,
                 struct codec_result *result) {
    if (options->uncompress)
        codec_uncompress(in, out, result);
    else
        codec_compress(in, out, options->max_bits, result);
}

/* Set the owner after the mode, as ncompress does: chown clears the set-user-ID bit. */
static int copy_attributes(const char *name, const struct stat *status) {
    struct timespec times[2] = {status->st_atim, status->st_mtim};
    if (chmod(name, status->st_mode & 07777) != 0 || utimensat(AT_FDCWD, name, times, 0) != 0)
        return complain_errno(name, errno);
    if (chown(name, status->st_uid, status->st_gid) != 0 && errno != EPERM)
        return complain_errno(name, errno);
    return STATUS_OK;
}

/* Replace the input by the complete output, unless the output is not worth keeping. */
static int replace(const char *in_name, const char *out_name, const struct stat *status,
                   const struct codec_result *result, const struct compress_options *options) {
    if (!worth_it(result, options)) {
        if (options->verbose)
            fprintf(stderr, "%s: No compression -- %s unchanged\n", in_name, in_name);
        return STATUS_UNCHANGED;
    }
    if (copy_attributes(out_name, status) != STATUS_OK)
        return STATUS_ERROR;
    if (unlink(in_name) != 0)
        return complain_errno(in_name, errno);
    unfinished = NULL;
    if (options->verbose) {
        fprintf(stderr, "%s:  -- replaced with %s", in_name, out_name);
        if (!options->uncompress) {
            fputc(' ', stderr);
            print_ratio(result);
        }
        fputc('\n', stderr);
    }
    return STATUS_OK;
}

static int code_to_replacement(struct codec_stream *in, const char *in_name, const struct stat *status,
                               const struct compress_options *options) {
    char *out_name = output_name(in_name, options->uncompress);
    if (!out_name)
        return complain_errno(in_name, ENOMEM);
    int fd = create_output(out_name, options->force);
    if (fd < 0) {
        free(out_name);
        return STATUS_ERROR;
    }
    unfinished = out_name;
    struct codec_stream *out = codec_open(fd, true);
    struct codec_result result = {.out_error = ENOMEM};
    if (out) {
        code(in, out, options, &result);
        int error = codec_close(out);
        result.out_error = result.out_error ? result.out_error : error;
    }
    int exit_status = report(in_name, out_name, &result);
    if (exit_status == STATUS_OK)
        exit_status = replace(in_name, out_name, status, &result, options);
    if (unfinished)
        unlink(out_name);
    unfinished = NULL;
    free(out_name);
    return exit_status;
}

static int code_to_stdout(struct codec_stream *in, const char *in_name,
                          const struct compress_options *options) {
    struct codec_result result = {.out_error = ENOMEM};
    if (!standard_output)
        standard_output = codec_open(STDOUT_FILENO, true);
    if (standard_output)
        code(in, standard_output, options, &result);
    return report(in_name, "stdout", &result);
}

static int code_open_file(int fd, const char *name, const struct compress_options *options) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return complain_errno(name, errno);
    struct codec_stream *in = codec_open(fd, false);
    if (!in)
        return complain_errno(name, ENOMEM);
    int exit_status = options->to_stdout ? code_to_stdout(in, name, options)
                                         : code_to_replacement(in, name, &status, options);
    codec_close(in);
    return exit_status;
}

static int code_named_file(const char *name, const struct compress_options *options) {
    struct stat status;
    if (stat(name, &status) != 0)
        return complain_errno(name, errno);
    if (check_input(name, &status, options) != STATUS_OK)
        return STATUS_ERROR;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return complain_errno(name, errno);
    return code_open_file(fd, name, options);
}

int code_file(const char *name, const struct compress_options *options) {
    catch_signals();
    char *in_name = input_name(name, options->uncompress);
    if (!in_name)
        return complain_errno(name, ENOMEM);
    int exit_status = code_named_file(in_name, options);
    free(in_name);
    return exit_status;
}

int code_stdin(const struct compress_options *options) {
    struct codec_stream *in = codec_open(STDIN_FILENO, false);
    struct codec_stream *out = codec_open(STDOUT_FILENO, true);
    struct codec_result result = {.out_error = ENOMEM};
    if (in && out)
        code(in, out, options, &result);
    standard_output = out;
    int exit_status = report("stdin", "stdout", &result);
    if (exit_status == STATUS_OK && options->verbose && !options->uncompress && !options->to_stdout) {
        print_ratio(&result);
        fputc('\n', stderr);
    }
    if (in)
        codec_close(in);
    return exit_status == STATUS_OK && !worth_it(&result, options) ? STATUS_UNCHANGED : exit_status;
}

int close_stdout(void) {
    int error = standard_output ? codec_close(standard_output) : 0;
    return error ? complain_errno("stdout", error) : STATUS_OK;
}
