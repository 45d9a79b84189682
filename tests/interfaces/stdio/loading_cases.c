/* SPDX-License-Identifier: MIT
 *
 * loading_cases.c - libraries that use stdio, linked, or loaded and unloaded at run time; and name
 * services and character sets that libc loads.
 */
#include "transcript.h"

#include <dlfcn.h>
#include <grp.h>
#include <iconv.h>
#include <pthread.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdatomic.h>

void loaded_library_prints(const char *text);

CASE(a_linked_library) {
    printf("program: before. ");
    loaded_library_prints("called");
    printf("program: after. ");
}

CASE(_with_library) {
    puts("program: main");
}

CASE(a_linked_library_that_speaks) {
    setenv("LOADED_LIBRARY", "1", 1);
    run_case("_with_library", -1, -1, -1);
    note_file("library-log");
}

/* Loads a copy of the test library, under another name. */
static void *load(int flags) {
    char path[4096];
    Dl_info info;
    dladdr((void *)(uintptr_t)loaded_library_prints, &info);
    snprintf(path, sizeof path, "cp %s copy.so", info.dli_fname);
    say("copied %d", system(path));
    setenv("LOADED_LIBRARY", "1", 1);
    void *library = dlopen("./copy.so", flags);
    say("loaded %d", library != NULL);
    unlink("copy.so");
    return library;
}

static void use_and_unload(int flags) {
    printf("program: before\n");
    void *library = load(flags);
    void (*prints)(const char *);
    *(void **)&prints = dlsym(library, "loaded_library_prints");
    prints("called");
    FILE *(*stream)(void);
    *(void **)&stream = dlsym(library, "loaded_library_stream");
    FILE *f = stream();
    CALL(fputs("by the program ", f));
    printf("program: between\n");
    CALL(dlclose(library));
    printf("program: after\n");
    CALL(fputs("after unloading\n", f));
    unsetenv("LOADED_LIBRARY");
}

CASE(loaded_and_unloaded) {
    use_and_unload(RTLD_NOW);
}
CASE(loaded_lazily) {
    use_and_unload(RTLD_LAZY | RTLD_GLOBAL);
}
#ifdef __GLIBC__ /* musl lacks this interface */
CASE(loaded_with_its_own_binding) {
    use_and_unload(RTLD_NOW | RTLD_DEEPBIND);
}
#endif

CASE(loaded_and_kept) {
    load(RTLD_NOW);
    printf("program: end\n");
}

static FILE *held;
static atomic_int stage;

static void *holds(void *unused) {
    (void)unused;
    flockfile(held);
    for (stage = 1; stage == 1;)
        usleep(1000);
    funlockfile(held);
    return NULL;
}

/* Calls libc's own pthread_create and fork, as a library does that is bound to libc first. The child's
 * streams must be unlocked. */
CASE(threads_and_forks_of_libc_itself) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    __typeof__(&pthread_create) create;
    *(void **)&create = dlsym(libc, "pthread_create");
    pid_t (*fork_now)(void);
    *(void **)&fork_now = dlsym(libc, "__fork");
    pthread_t t;
    alarm(20);
    held = fopen("held", "w");
    create(&t, NULL, holds, NULL);
    while (stage == 0)
        usleep(1000);
    pid_t child = fork_now();
    if (child == 0) {
        fputs("by the child\n", held);
        exit(0);
    }
    finish(child);
    stage = 2;
    pthread_join(t, NULL);
    fclose(held);
    note_file("held");
}

CASE(names_looked_up_at_run_time) {
    int (*print)(const char *, ...);
    *(void **)&print = dlsym(RTLD_DEFAULT, "printf");
    print("%s %d\n", "by dlsym", 5);
    int (*put)(const char *);
    *(void **)&put = dlsym(RTLD_DEFAULT, "puts");
    put("puts by dlsym");
    FILE **out = dlsym(RTLD_DEFAULT, "stdout");
    fputs("stdout by dlsym\n", *out);
    say("same %d", *out == stdout);
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    *(void **)&put = dlsym(libc, "puts");
    put("puts of libc itself");
    int (*flush)(FILE *);
    *(void **)&flush = dlsym(libc, "fflush");
    printf("flushed by libc");
    say("%d", flush(stdout));
    kernel_write(1, "[raw]");
    FILE *(*open_file)(const char *, const char *);
    *(void **)&open_file = dlsym(libc, "fopen");
    FILE *f = open_file("out", "w+");
    CALL(fputs("on libc's own stream", f));
    CALL(fprintf(f, " %d", 5));
    CALL(fseek(f, 3, SEEK_SET));
    CALL(getc(f));
    char text[30];
    CALL(fgets(text, sizeof text, f));
    CALL(setvbuf(f, NULL, _IONBF, 0));
    CALL(ungetc('x', f));
    CALL(fread(text, 1, 5, f));
    CALL(ftell(f));
    CALL(fileno(f) > 2);
    note_flags(f);
    CALL(fclose(f));
}

/* Looks functions up in libc, as foreign-function interfaces do. */
CASE(names_looked_up_in_libc) {
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    ssize_t (*write_it)(int, const void *, size_t);
    *(void **)&write_it = dlsym(libc, "write");
    off_t (*seek_it)(int, off_t, int);
    *(void **)&seek_it = dlsym(libc, "lseek");
    int (*run)(const char *);
    *(void **)&run = dlsym(libc, "system");
    void (*leave)(int);
    *(void **)&leave = dlsym(libc, "_exit");
    say("errors: %s", dlerror() ? "some" : "none");
    FILE *f = fopen("out", "w");
    for (int i = 0; i < 3000; i++)
        fprintf(f, "line %d\n", i);
    say("at %ld", (long)seek_it(fileno(f), 0, SEEK_CUR));
    write_it(fileno(f), "<by the descriptor>", 19);
    for (int i = 0; i < 3000; i++)
        fprintf(f, "line %d\n", i);
    run("cp out copy");
    note_file("copy");
    fclose(f);
    note_file("out");
    CALL(dlsym(libc, "no_such_name"));
    say("%s", strstr(dlerror(), "no_such_name") ? "it is told" : "another error");
    CALL(dlsym(RTLD_DEFAULT, "no_such_name"));
    say("%s, found %d", dlerror() ? "it is told" : "no error", dlsym(RTLD_DEFAULT, "puts") == (void *)puts);
    for (int i = 0; i < 3000; i++)
        printf("line %d\n", i);
    leave(3);
}

/* libc's own functions examine the input after a byte was pushed back. */
CASE(pushed_back_on_a_file_of_libc) {
    put_lines("lines", 100);
    FILE *(*open_it)(const char *, const char *);
    *(void **)&open_it = dlsym(dlopen("libc.so.6", RTLD_NOW), "fopen");
    FILE *f = open_it("lines", "r");
    for (int i = 0; i < 300; i++) {
        int c = getc(f);
        ungetc(i % 3 ? 'A' + i % 26 : c, f);
        long at = ftell(f);
        int again = getc(f), next = getc(f);
        say("%d %d %d at %ld, then %ld", c, again, next, at, ftell(f));
    }
    char line[50];
    ungetc('Q', f);
    say("%s", fgets(line, sizeof line, f));
    CALL(fclose(f));
}

/* Makes small reads of a descriptor by read, and then one by the read that dlsym finds in libc. */
CASE(reads_looked_up_in_libc) {
    put_lines("lines", 5000);
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    ssize_t (*read_it)(int, void *, size_t);
    *(void **)&read_it = dlsym(libc, "read");
    off_t (*seek_it)(int, off_t, int);
    *(void **)&seek_it = dlsym(libc, "lseek");
    char text[20];
    int fd = open("lines", O_RDONLY);
    for (int i = 0; i < 300; i++)
        read(fd, text, 16);
    say("at %ld", (long)seek_it(fd, 0, SEEK_CUR));
    CALL(read_it(fd, text, 10));
    say("%b", text, 10);
    close(fd);
}

#ifdef __GLIBC__ /* musl lacks this interface */
CASE(a_namespace_of_its_own) {
    printf("program: before\n");
    fflush(stdout);
    void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    say("loaded %d", libc != NULL);
    int (*put)(const char *), (*flush)(FILE *);
    *(void **)&put = dlsym(libc, "puts");
    *(void **)&flush = dlsym(libc, "fflush");
    put("from the other libc");
    flush(NULL);
    printf("program: after\n");
}
#endif

CASE(name_services) {
    struct passwd *p = getpwuid(0);
    say("%s", p ? p->pw_name : "none");
    setpwent();
    say("first %s", getpwent()->pw_name);
    endpwent();
    struct group *g = getgrgid(0);
    say("%s", g ? g->gr_name : "none");
}

CASE(character_sets) {
    iconv_t conversion = iconv_open("UTF-16LE", "ISO-8859-1");
    char in[] = "caf\xe9", out[20];
    char *p = in, *q = out;
    size_t left = 4, room = sizeof out;
    CALL(iconv(conversion, &p, &left, &q, &room));
    say("%b", out, (int)(sizeof out - room));
    iconv_close(conversion);
}

#ifdef __GLIBC__ /* musl lacks this interface */
/* The last case finds the objects _IO_2_1_* by dlsym: the library cannot serve a program that contains
 * copies of them by relocation (interfaces/stdio/README.md). */
#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

/* The linker does not link new programs to this version. */
CASE(scanning_by_a_name_of_old_programs) {
    int (*scan)(FILE *, const char *, va_list, int *);
    *(void **)&scan = dlvsym(RTLD_DEFAULT, "_IO_vfscanf", FIRST_VERSION);
    va_list none;
    memset(&none, 0, sizeof none);
    CALL(scan(stdin, "line %*d\nline", none, NULL));
    CALL(getchar());
    CALL(ftell(stdin));
}

CASE(standard_streams_as_objects) {
    say("%d", dlsym(RTLD_DEFAULT, "_IO_2_1_stdin_") == (void *)stdin);
    say("%d", dlsym(RTLD_DEFAULT, "_IO_2_1_stdout_") == (void *)stdout);
    say("%d", dlsym(RTLD_DEFAULT, "_IO_2_1_stderr_") == (void *)stderr);
    FILE **list = dlsym(RTLD_DEFAULT, "_IO_list_all");
    say("%d", list && *list);
}
#endif
