/* SPDX-License-Identifier: MIT
 *
 * constructors_cases.c - stdio before and after main: the preinit array, constructors, destructors.
 */
#include "transcript.h"

static const char *wanted = "";

/* glibc gives constructors the arguments of main; argument 2 is the case. */
static void early(int argc, char **argv) {
    if (argc > 2)
        wanted = argv[2];
}

static bool is(const char *name) {
    return strcmp(wanted, name) == 0;
}

/* From glibc 2.41 on, fclose and freopen of a standard stream crash in the preinit array. */
static bool libc_closes_early(void) {
    return strverscmp(gnu_get_libc_version(), "2.41") < 0;
}

static int in_preinit = -2, in_constructor = -2;
static char line_in_constructor[20];
static FILE *opened_early;

static void in_preinit_array(int argc, char **argv, char **environment) {
    (void)environment;
    early(argc, argv);
    if (is("printing_early"))
        printf("preinit %d\n", 1);
    if (is("reading_early"))
        in_preinit = getchar();
    if (is("printing_errors_early"))
        fputs("preinit\n", stderr);
    if (is("setvbuf_early"))
        setvbuf(stdout, NULL, _IONBF, 0);
    if (is("opening_early")) {
        opened_early = fopen("early", "w");
        fputs("preinit ", opened_early);
    }
    if (is("forking_early"))
        system("echo from a command");
    if (is("reopening_early") && libc_closes_early()) {
        freopen("reopened", "w", stdout);
        freopen("/dev/null", "r", stdin);
    }
    if (is("moving_early")) {
        fseek(stdin, 5, SEEK_SET);
        in_preinit = (int)ftell(stdout);
    }
    if (is("closing_early") && libc_closes_early())
        in_preinit = fclose(stdin) * 10 + fclose(stderr);
    if (is("in_blocks_early")) {
        in_preinit = (int)fread(line_in_constructor, 1, 5, stdin);
        fwrite("preinit\n", 1, 8, stdout);
    }
    if (is("unlocked_early")) {
        in_preinit = getchar_unlocked();
        putchar_unlocked('p');
        putc_unlocked('p', stderr);
    }
}

__attribute__((used, section(".preinit_array"))) static void (*const preinit)(int, char **,
                                                                              char **) = in_preinit_array;

__attribute__((constructor(101))) static void first_constructor(void) {
    if (is("printing_early"))
        puts("first constructor");
    if (is("printing_errors_early"))
        perror("first constructor");
    if (is("opening_early"))
        fputs("constructor ", opened_early);
    /* only in constructors: in the preinit array libc's code rejects our jump table */
    if (is("scanning_early"))
        scanf("line %d", &in_constructor);
    if (is("wide_early")) {
        wprintf(L"first %d\n", 1);
        in_constructor = (int)getwchar();
        fputws(L"first\n", stderr);
    }
}

__attribute__((constructor)) static void last_constructor(void) {
    if (is("printing_early"))
        fputs("constructor\n", stdout);
    if (is("reading_early")) {
        in_constructor = getchar();
        fgets(line_in_constructor, sizeof line_in_constructor, stdin);
    }
}

__attribute__((destructor)) static void first_destructor(void) {
    if (is("printing_late"))
        printf("destructor\n");
    if (is("opening_late")) {
        FILE *f = fopen("late", "w");
        fputs("opened in a destructor", f);
    }
    if (is("reading_late"))
        printf("read %d\n", getchar());
    if (is("closing_late"))
        say("fclose %d", fclose(stdout));
}

__attribute__((destructor(101))) static void last_destructor(void) {
    if (is("printing_late"))
        puts("last destructor");
}

static void at_exit(void) {
    printf("atexit\n");
}

CASE(printing_early) {
    puts("main");
}

CASE(reading_early) {
    say("preinit %d constructor %d %q", in_preinit, in_constructor, line_in_constructor);
    char line[20];
    CALL(fgets(line, sizeof line, stdin));
}

CASE(printing_errors_early) {
    fputs("main\n", stderr);
}

CASE(setvbuf_early) {
    printf("unbuffered");
    kernel_write(1, "[raw]");
}

CASE(opening_early) {
    fputs("main", opened_early);
}

CASE(forking_early) {
    puts("main");
}

CASE(scanning_early) {
    int n = 0;
    CALL(scanf(" line %d", &n));
    say("constructor %d main %d", in_constructor, n);
}

CASE(wide_early) {
    say("constructor %d", in_constructor);
    CALL(getwchar());
    wprintf(L"main\n");
}

CASE(reopening_early) {
    CALL(getchar());
    puts("main");
    CALL(fflush(NULL));
    wprintf(L"wide");
}

CASE(moving_early) {
    say("preinit %d", in_preinit);
    CALL(getchar());
    puts("main");
}

CASE(closing_early) {
    say("preinit %d", in_preinit);
    CALL(open("new", O_RDWR | O_CREAT, 0600));
    CALL(open("new", O_RDWR | O_CREAT, 0600));
}

CASE(in_blocks_early) {
    say("preinit %d %q", in_preinit, line_in_constructor);
    CALL(getchar());
    puts("main");
}

CASE(unlocked_early) {
    say("preinit %d", in_preinit);
    CALL(getchar());
    puts("main");
}

CASE(printing_late) {
    atexit(at_exit);
    puts("main");
}

CASE(opening_late) {
    atexit(at_exit);
}

CASE(reading_late) {
    CALL(getchar());
}

CASE(closing_late) {
    printf("text");
}
