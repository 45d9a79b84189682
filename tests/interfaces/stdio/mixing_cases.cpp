// SPDX-License-Identifier: MIT
//
// mixing_cases.cpp - C++ streams and stdio in one program, and output from static constructors and
// destructors.
#include "transcript.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>

#ifdef __GLIBCXX__
#include <ext/stdio_filebuf.h>
#include <ext/stdio_sync_filebuf.h>
#endif

namespace {

const char *wanted_case() {
    static char arguments[4096];
    int fd = open("/proc/self/cmdline", O_RDONLY);
    ssize_t n = read(fd, arguments, sizeof arguments - 1);
    close(fd);
    const char *p = arguments;
    for (int skipped = 0; skipped < 2 && p < arguments + n; skipped++)
        p += strlen(p) + 1;
    return p;
}

// Prints before and after main, in the cases that test this.
struct Speaker {
    explicit Speaker(const char *said) : word(said), speaks(!strcmp(wanted_case(), "static_objects")) {
        if (speaks) {
            std::cout << "constructor " << word << '\n';
            printf("constructor %s\n", word);
        }
    }
    ~Speaker() {
        if (speaks) {
            printf("destructor %s\n", word);
            std::cout << "destructor " << word << '\n';
        }
    }
    const char *word;
    bool speaks;
};

Speaker first("first"), second("second");

} // namespace

CASE(static_objects) {
    printf("main\n");
}

CASE(cout_and_printf) {
    for (int i = 0; i < 300; i++) {
        std::cout << "cout " << i << ' ';
        printf("printf %d ", i);
        if (i % 50 == 0)
            std::cout << std::endl;
        std::cout.put('|');
        putchar('\n');
    }
}

CASE(cout_and_printf_unsynchronised) {
    std::ios::sync_with_stdio(false);
    std::cout << "cout one\n";
    printf("printf one\n");
    std::cout << "cout two\n" << std::flush;
    printf("printf two\n");
    fflush(stdout);
}

CASE(cerr_and_stderr) {
    std::cerr << "cerr " << 1 << '\n';
    fputs("stderr\n", stderr);
    std::clog << "clog\n";
    fprintf(stderr, "%d\n", 2);
}

CASE(cin_and_scanf) {
    std::string word;
    int number = 0;
    std::cin >> word;
    say("%s", word.c_str());
    say("scanf %d number %d", scanf("%d", &number), number);
    std::getline(std::cin, word);
    std::getline(std::cin, word);
    say("%s", word.c_str());
    char line[30];
    say("%s", fgets(line, sizeof line, stdin));
    say("peek %d getchar %d get %d", std::cin.peek(), getchar(), std::cin.get());
    std::cin.unget();
    std::getline(std::cin, word);
    say("%s", word.c_str());
}

CASE(cin_all_lines) {
    std::string line;
    long length = 0;
    int lines = 0;
    while (std::getline(std::cin, line)) {
        length += static_cast<long>(line.size());
        lines++;
    }
    say("%d lines, %ld bytes, eof %d", lines, length, std::cin.eof());
}

CASE(cin_all_lines_unsynchronised) {
    std::ios::sync_with_stdio(false);
    std::string line;
    int lines = 0;
    while (std::getline(std::cin, line) && lines < 2000)
        lines++;
    say("%d lines", lines);
}

CASE(file_streams) {
    std::ofstream("out") << "by an ofstream " << 5 << '\n';
    FILE *f = fopen("out", "a+");
    fputs("by stdio\n", f);
    fclose(f);
    std::fstream both("out", std::ios::in | std::ios::out);
    std::string line;
    std::getline(both, line);
    say("%s", line.c_str());
    std::getline(both, line);
    say("%s", line.c_str());
}

#ifdef __GLIBCXX__ // zig's C++ library lacks this class
CASE(buffers_over_a_stream) {
    FILE *f = fopen("out", "w+");
    fputs("by stdio ", f);
    {
        __gnu_cxx::stdio_sync_filebuf<char> buffer(f);
        std::ostream out(&buffer);
        out << "by a synchronised buffer " << 3;
        fputs(" by stdio", f);
    }
    fflush(f);
    {
        __gnu_cxx::stdio_filebuf<char> buffer(dup(fileno(f)), std::ios::out);
        std::ostream out(&buffer);
        out << " by a buffer of its own";
    }
    fclose(f);
    note_file("out");
}
#endif

CASE(exceptions_through_callbacks) {
    static cookie_io_functions_t functions = {
        [](void *, char *, size_t) -> ssize_t { throw std::runtime_error("thrown"); }, nullptr, nullptr,
        nullptr};
    FILE *f = fopencookie(nullptr, "r", functions);
    setvbuf(f, nullptr, _IONBF, 0);
    try {
        getc(f);
    } catch (const std::exception &e) {
        say("caught %s", e.what());
    }
    say("lock is free %d", ftrylockfile(f) == 0);
}

CASE(threads_of_cpp) {
    std::thread a([] { std::cout << "from one thread\n"; });
    a.join();
    std::thread b([] { printf("from another\n"); });
    b.join();
    std::cout << "from main\n";
}

CASE(exit_with_objects_alive) {
    std::cout << "no newline, no flush";
    printf(" and printf");
    exit(3);
}

CASE(quick_exit_with_cout) {
    std::cout << "no flush";
    std::quick_exit(3);
}

CASE(uncaught_exception) {
    std::cout << "unflushed";
    throw std::runtime_error("nobody catches this");
}
