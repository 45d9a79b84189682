// SPDX-License-Identifier: MIT
//
// costs_test.cpp - the table of `asf tune`: which tables are accepted, and that the library follows an
// accepted one.
#include <cstdio>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"
extern "C" {
#include "lib/sys/costs.h"
}

namespace asi {
namespace {

std::string ended(const std::string &text) {
    return text + "end\n";
}

const std::string good = "asf-tune 2\nlibrary 0\nkernel Linux 6\nset map_min 1048576\nset window 4194304\n"
                         "set buffer 262144\nset copy 524288\nset pipe 131072\nfs ef53 140 70 190 240\n"
                         "fs 1021994 190 180 460 0\n";

// The good table with one substring replaced.
std::string changed(const std::string &from, const std::string &to) {
    std::string text = good;
    return ended(text.replace(text.find(from), from.size(), to));
}

bool parses(const std::string &text) {
    asf_costs costs;
    return asf__costs_parse(&costs, text.data(), text.size());
}

TEST(Costs, Parsed) {
    asf_costs c;
    const std::string text = ended(good) + "figure 1 2 anything\n";
    ASSERT_TRUE(asf__costs_parse(&c, text.data(), text.size()));
    EXPECT_EQ(c.map_min, 1048576U);
    EXPECT_EQ(c.window, 4194304U);
    EXPECT_EQ(c.buffer, 262144U);
    EXPECT_EQ(c.copy, 524288U);
    EXPECT_EQ(c.pipe, 131072U);
    ASSERT_EQ(c.count, 2U);
    EXPECT_EQ(c.fs[0].type, 0xef53U);
    EXPECT_EQ(c.fs[0].map, 70U);
    EXPECT_EQ(c.fs[1].by_hand, 460U);
}

TEST(Costs, NotBelieved) {
    const std::string text = ended(good);
    for (size_t n = 0; n < text.size() - 1; n++)
        EXPECT_FALSE(parses(text.substr(0, n))) << "the first " << n << " bytes";
    for (size_t i = 0; i < text.size(); i++)
        for (int bit = 0; bit < 8; bit++) {
            std::string wrong = text;
            wrong[i] = static_cast<char>(wrong[i] ^ 1 << bit);
            asf_costs c;
            if (asf__costs_parse(&c, wrong.data(), wrong.size())) {
                EXPECT_TRUE(c.map_min >= ASF_COSTS_LEAST && c.window % (2 << 20) == 0 && c.window > 0 &&
                            c.buffer % 4096 == 0 && c.buffer > 0 && c.copy % 4096 == 0 && c.copy > 0 &&
                            c.pipe % 4096 == 0)
                    << wrong;
            }
        }
    for (const char *to :
         {"set window 4194305", "set window 0", "set window 1099511627776", "set window -4194304",
          "set window 99999999999999999999", "set window", "set windows 4194304", "set window x"})
        EXPECT_FALSE(parses(changed("set window 4194304", to))) << to;
    EXPECT_FALSE(parses(changed("set map_min 1048576", "set map_min 65535")));
    EXPECT_FALSE(parses(changed("set buffer 262144", "set buffer 1000")));
    EXPECT_FALSE(parses(changed("set copy 524288", "set copy 1073741824")));
    EXPECT_FALSE(parses(changed("set pipe 131072", "set pipe 1")));
    EXPECT_FALSE(parses(changed("asf-tune 2", "asf-tune 1")));
    EXPECT_FALSE(parses(changed("fs ef53 140 70 190 240", "fs ef53 140 70 190")));
    EXPECT_FALSE(parses(changed("fs ef53 140 70 190 240", "fs efg3 140 70 190 240")));
    EXPECT_FALSE(parses(changed("set pipe 131072\n", ""))) << "none of the sizes may be missing";
    std::string many = good;
    for (int i = 0; i < ASF_COSTS_FILE_SYSTEMS; i++)
        many += "fs 1 1 1 1 1\n";
    EXPECT_FALSE(parses(ended(many)));
}

class CostsFile : public Asi {
  protected:
    int load(const std::string &name) {
        asf_costs costs;
        return asf__costs_load(&costs, path(name).c_str());
    }
    Restore restore;
};

TEST_F(CostsFile, WhoseFileItIs) {
    EXPECT_EQ(load("none"), -ENOENT);
    put("table", ended(good));
    EXPECT_EQ(load("table"), 0);
    ASSERT_EQ(chmod(path("table").c_str(), 0664), 0);
    EXPECT_EQ(load("table"), -EPERM) << "a group may write it";
    ASSERT_EQ(chmod(path("table").c_str(), 0646), 0);
    EXPECT_EQ(load("table"), -EPERM) << "others may write it";
    ASSERT_EQ(chmod(path("table").c_str(), 0600), 0);
    if (geteuid() == 0 && chown(path("table").c_str(), 4711, 0) == 0) {
        EXPECT_EQ(load("table"), -EPERM) << "it is another user's";
    }
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    EXPECT_EQ(load("fifo"), -EPERM) << "and nobody waits for it to be written";
    ASSERT_EQ(mkdir(path("directory").c_str(), 0700), 0);
    EXPECT_EQ(load("directory"), -EPERM);
    put("broken", good);
    EXPECT_EQ(load("broken"), -EINVAL);
}

TEST_F(CostsFile, WhereItIs) {
    char where[200];
    setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    ASSERT_TRUE(asf__costs_path(where, sizeof where, 0));
    EXPECT_STREQ(where, "/somewhere/asf/tune");
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/me", 1);
    ASSERT_TRUE(asf__costs_path(where, sizeof where, 0));
    EXPECT_STREQ(where, "/home/me/.config/asf/tune");
    setenv("HOME", "not/absolute", 1);
    EXPECT_FALSE(asf__costs_path(where, sizeof where, 0));
    setenv("HOME", std::string(300, '/').c_str(), 1);
    EXPECT_FALSE(asf__costs_path(where, sizeof where, 0));
    unsetenv("HOME");
    EXPECT_FALSE(asf__costs_path(where, sizeof where, 0));
    EXPECT_TRUE(asf__costs_path(where, sizeof where, 1));
}

// Counts how often the library opens the table: once, and only when a large file is opened.
int opens;
std::string wanted;
asf_syscalls real;
int counting_open(const char *path, int flags, mode_t mode) {
    opens += path == wanted;
    return real.open(path, flags, mode);
}

// Runs in a separate process, in which the library has not searched for the table yet.
void follow_table(const std::string &directory, bool allowed) {
    real = asf__sys;
    asf__sys.open = counting_open;
    wanted = directory + "/asf/tune";
    opens = 0;
    options().tune = allowed;
    setenv("XDG_CONFIG_HOME", directory.c_str(), 1);
    for (size_t kb : {10U, 600U, 600U, 2000U}) {
        asf_cios *s = asf_sopen((directory + "/" + std::to_string(kb)).c_str(), O_RDONLY, 0, nullptr);
        ssize_t n = 1;
        salloc(s, &n);
        const bool large = kb > 1024 || (!allowed && kb > 256);
        if (strncmp(asf_module_why(s), large ? "large" : "small", 5) != 0)
            _exit(1);
        if (opens != (allowed && kb > 10 ? 1 : 0))
            _exit(2);
    }
    _exit(0);
}

TEST_F(CostsFile, TheLibraryGoesByIt) {
    TearDown();
    directory = [] { // a folder on a disk, not in memory
        char name[] = "/var/tmp/asf.XXXXXX";
        return std::string(mkdtemp(name));
    }();
    ASSERT_EQ(mkdir(path("asf").c_str(), 0700), 0);
    // Make a table that says a mapping costs less on this file system, whatever its type.
    struct statfs64 fs;
    ASSERT_EQ(asf__sys.fstatfs(open(directory.c_str(), O_RDONLY), &fs), 0);
    char row[64];
    snprintf(row, sizeof row, "fs %lx 140 70 190 240", static_cast<unsigned long>(fs.f_type));
    put("asf/tune", changed("fs ef53 140 70 190 240", row));
    for (size_t kb : {10U, 600U, 2000U})
        put(std::to_string(kb), std::string(kb << 10, 'x'));
    options().module[0] = '\0';
    EXPECT_EXIT(follow_table(directory, true), testing::ExitedWithCode(0), "");
    if (fs.f_type == 0xef53) { // the figures in the sources also favour a mapping
        EXPECT_EXIT(follow_table(directory, false), testing::ExitedWithCode(0), "");
    }
}

} // namespace
} // namespace asi
