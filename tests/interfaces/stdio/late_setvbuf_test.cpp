// SPDX-License-Identifier: MIT
//
// late_setvbuf_test.cpp - setvbuf after ungetc, which C leaves undefined: the library does not crash, and the
// stream remains usable. glibc aborts ("free(): invalid pointer"), so no comparison is possible.
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace {

const char text[] = "xyz\nabc\n";

FILE *open_file() {
    FILE *f = tmpfile();
    if (f) {
        fputs(text, f);
        rewind(f);
    }
    return f;
}

FILE *open_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || write(ends[1], text, sizeof text - 1) != sizeof text - 1)
        return nullptr;
    close(ends[1]);
    return fdopen(ends[0], "r");
}

char memory[100];

const std::vector<void (*)(FILE *)> settings = {
    [](FILE *f) { setvbuf(f, nullptr, _IONBF, 0); },
    [](FILE *f) { setvbuf(f, nullptr, _IOFBF, 0); },
    [](FILE *f) { setvbuf(f, nullptr, _IOLBF, 0); },
    [](FILE *f) { setvbuf(f, memory, _IOFBF, sizeof memory); },
    [](FILE *f) { setvbuf(f, memory, _IOLBF, 1); },
};

size_t count_rest(FILE *f) {
    size_t n = 0;
    while (n < 100 && getc(f) != EOF)
        n++;
    return n;
}

// Uses of the stream; fclose follows each.
const std::vector<void (*)(FILE *)> uses = {
    [](FILE *) {},
    [](FILE *f) { EXPECT_LT(count_rest(f), 100U); },
    [](FILE *f) { fflush(f); },
    [](FILE *f) { fputs("more", f); },
    [](FILE *f) {
        EXPECT_EQ(ungetc('7', f), '7');
        EXPECT_EQ(getc(f), '7');
    },
    [](FILE *f) { setvbuf(f, nullptr, _IONBF, 0), ungetc('8', f), setvbuf(f, memory, _IOFBF, 50); },
    [](FILE *f) {
        if (fseek(f, 0, SEEK_SET) == 0) { // fails on a pipe
            EXPECT_EQ(count_rest(f), sizeof text - 1);
        }
    },
    [](FILE *f) {
        EXPECT_TRUE(freopen("/dev/null", "r", f));
        EXPECT_EQ(getc(f), EOF);
    },
};

// Reads nothing, a line, or everything.
void read_before(FILE *f, int amount) {
    char line[50];
    if (amount == 1) {
        EXPECT_TRUE(fgets(line, sizeof line, f));
    } else if (amount == 2) {
        EXPECT_EQ(count_rest(f), sizeof text - 1);
    }
}

void try_everything(FILE *(*open)()) {
    for (auto set : settings)
        for (auto use : uses)
            for (int amount = 0; amount < 3; amount++)
                for (int pushed = 1; pushed < 4; pushed++) {
                    FILE *f = open();
                    ASSERT_TRUE(f);
                    read_before(f, amount);
                    for (int i = 0; i < pushed; i++)
                        EXPECT_EQ(ungetc('q' + i, f), 'q' + i);
                    set(f);
                    use(f);
                    fclose(f);
                }
}

TEST(LateSetvbuf, OfAFileWithPushedBackBytes) {
    try_everything(open_file);
}

TEST(LateSetvbuf, OfAPipeWithPushedBackBytes) {
    try_everything(open_pipe);
}

} // namespace
