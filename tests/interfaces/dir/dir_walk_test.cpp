// SPDX-License-Identifier: MIT
//
// dir_walk_test.cpp - walks by 1, 2 and 7 threads: random trees compared with fts(3) (ASF_WALK_TREES,
// ASF_WALK_SEED), trees deeper than PATH_MAX and than the number of descriptors, trees that change meanwhile,
// and the results that a visit may return.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <fts.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

#include <asf/dir.h>

namespace {

namespace fs = std::filesystem;
using Visit = std::function<int(const asf_visit &)>;

int walk(const std::string &path, asf_walk_options options, const Visit &visit) {
    auto call = [](const asf_visit *v, void *arg) { return (*static_cast<const Visit *>(arg))(*v); };
    return asf_walk(AT_FDCWD, path.c_str(), &options, call, const_cast<Visit *>(&visit));
}

size_t entries_in(const char *path) {
    return (size_t)std::distance(fs::directory_iterator(path), fs::directory_iterator());
}

unsigned number(const char *name, unsigned usual) {
    const char *set = getenv(name);
    return set ? (unsigned)atoi(set) : usual;
}

// Removes a tree by a walk of one thread, which visits a directory's entries before the end of the directory.
void remove_tree(const std::string &path) {
    EXPECT_EQ(walk(path, {1, 0, ASF_WALK_AFTER},
                   [](const asf_visit &v) {
                       bool folder = v.entry.type == DT_DIR;
                       if (folder != (v.when == ASF_WALK_DONE))
                           return 0;
                       return unlinkat(v.dirfd, v.entry.name, folder ? AT_REMOVEDIR : 0) ? -errno : 0;
                   }),
              0);
}

class Walk : public asi::Asi {
  protected:
    Walk() : descriptors(entries_in("/proc/self/fd")) {}
    void TearDown() override {
        remove_tree(directory);
        EXPECT_NE(access(directory.c_str(), F_OK), 0);
        EXPECT_EQ(entries_in("/proc/self/fd"), descriptors);
    }
    void touch(const std::string &name) const { ::close(creat(path(name).c_str(), 0600)); }
    void folder(const std::string &name) const { fs::create_directories(path(name)); }
    size_t descriptors;
    std::mutex mutex; // guards the data that visits collect
};

// --- beside fts -------------------------------------------------------------------------

// The kind of visit, the path, the depth and the type, in any order.
using Found = std::multiset<std::tuple<int, std::string, int, int>>;

Found by_fts(const std::string &path, int flags) {
    Found all;
    char *const paths[] = {const_cast<char *>(path.c_str()), nullptr};
    bool follow = flags & ASF_WALK_FOLLOW;
    FTS *f = fts_open(paths, (follow ? FTS_LOGICAL : FTS_PHYSICAL) | FTS_NOCHDIR, nullptr);
    while (FTSENT *e = fts_read(f)) {
        bool done = e->fts_info == FTS_DP, failed = e->fts_info == FTS_DNR || e->fts_info == FTS_DC;
        int type = done || failed ? (int)DT_DIR : IFTODT(e->fts_statp->st_mode);
        if (e->fts_info == FTS_SLNONE)
            type = DT_LNK;
        if (e->fts_info == FTS_DC || !done)
            all.emplace(ASF_WALK_FOUND, e->fts_path, e->fts_level, type);
        if (failed)
            all.emplace(ASF_WALK_FAILED, e->fts_path, e->fts_level, DT_DIR);
        if (done || failed)
            all.emplace(ASF_WALK_DONE, e->fts_path, e->fts_level, DT_DIR);
    }
    fts_close(f);
    return all;
}

TEST_F(Walk, FindsWhatFtsFinds) {
    const unsigned trees = number("ASF_WALK_TREES", 12), seed = number("ASF_WALK_SEED", 1);
    std::mt19937 random(seed);
    auto below = [&](size_t n) { return random() % n; };
    size_t count = 0;
    for (unsigned i = 0; i < trees && !HasFailure(); i++) {
        std::vector<std::string> folders = {"tree" + std::to_string(i)};
        folder(folders[0]);
        for (size_t n = below(300); n > 0; n--) {
            std::string name = folders[below(folders.size())] + "/\xe9\n" + std::to_string(n);
            if (below(3) == 0) {
                folders.push_back(name);
                folder(name);
            } else if (below(8) == 0) { // a link to the parent, to another directory, or to nothing
                fs::create_symlink(below(2) ? path(folders[below(folders.size())]) : "..", path(name));
            } else {
                touch(name);
            }
        }
        for (int flags : {0, (int)ASF_WALK_FOLLOW}) {
            if (flags && folders.size() > 12) // too many paths through links to links
                continue;
            Found expected = by_fts(path(folders[0]), flags);
            for (unsigned threads : {1U, 2U, 7U}) {
                Found got;
                int rc = walk(path(folders[0]), {threads, STATX_SIZE, flags | ASF_WALK_AFTER},
                              [&](const asf_visit &v) {
                                  std::lock_guard<std::mutex> hold(mutex);
                                  got.emplace(v.when, v.path, v.depth, v.entry.type);
                                  struct stat st;
                                  int how = v.entry.type == DT_LNK || !flags ? AT_SYMLINK_NOFOLLOW : 0;
                                  EXPECT_EQ(fstatat(v.dirfd, v.entry.name, &st, how), 0) << v.path;
                                  EXPECT_EQ(v.entry.inode, st.st_ino) << v.path;
                                  EXPECT_EQ(strlen(v.path), v.path_length);
                                  EXPECT_LT(v.thread, threads);
                                  if (v.when == ASF_WALK_FOUND) {
                                      EXPECT_EQ(v.entry.status->stx_size, (uint64_t)st.st_size);
                                      EXPECT_EQ(v.entry.error, 0);
                                  }
                                  EXPECT_TRUE(v.when != ASF_WALK_FAILED || v.entry.error == -ELOOP);
                                  return 0;
                              });
                EXPECT_EQ(rc, 0);
                EXPECT_EQ(got == expected, true)
                    << "seed " << seed << ", tree " << i << ", " << threads << " threads, flags " << flags
                    << ": " << got.size() << " and " << expected.size();
                count += got.size();
            }
        }
    }
    printf("%u trees, %zu visits\n", trees, count);
}

// --- what is walked ------------------------------------------------------------------------

TEST_F(Walk, BeginsWithWhatItIsGiven) {
    folder("a/b");
    touch("a/file");
    fs::create_symlink("a", path("link"));
    auto paths = [&](const std::string &from, int flags) {
        std::set<std::string> all;
        EXPECT_EQ(walk(from, {1, 0, flags}, [&](const asf_visit &v) { return all.insert(v.path), 0; }), 0);
        return all;
    };
    using Set = std::set<std::string>;
    EXPECT_EQ(paths(path("a/file"), 0), Set{path("a/file")});
    EXPECT_EQ(paths(path("a"), 0), (Set{path("a"), path("a/b"), path("a/file")}));
    EXPECT_EQ(paths(path("a//"), 0), (Set{path("a//"), path("a//b"), path("a//file")}));
    EXPECT_EQ(paths(path("link"), 0), Set{path("link")});
    EXPECT_EQ(paths(path("link/"), 0), (Set{path("link/"), path("link/b"), path("link/file")}));
    EXPECT_EQ(paths(path("link"), ASF_WALK_FOLLOW), (Set{path("link"), path("link/b"), path("link/file")}));
    EXPECT_EQ(walk(path("none"), {}, [](const asf_visit &) { return abort(), 0; }), -ENOENT);
    EXPECT_EQ(walk("", {}, [](const asf_visit &) { return abort(), 0; }), -ENOENT);
    int fd = ::open(path("a").c_str(), O_RDONLY | O_DIRECTORY), seen = 0;
    auto count = [](const asf_visit *, void *n) { return ++*static_cast<int *>(n), 0; };
    EXPECT_EQ(asf_walk(fd, ".", nullptr, count, &seen), 0);
    EXPECT_EQ(seen, 3);
    ::close(fd);
}

TEST_F(Walk, OneFileSystem) {
    struct stat root, st;
    ASSERT_EQ(stat("/dev", &root), 0);
    if (stat("/dev/shm", &st) != 0 || st.st_dev == root.st_dev)
        GTEST_SKIP() << "/dev/shm is no file system of its own";
    std::set<std::string> others;
    EXPECT_EQ(walk("/dev", {2, 0, ASF_WALK_ONE_FS},
                   [&](const asf_visit &v) {
                       struct stat in;
                       std::lock_guard<std::mutex> hold(mutex);
                       EXPECT_TRUE(v.depth == 0 || (fstat(v.dirfd, &in) == 0 && in.st_dev == root.st_dev))
                           << v.path;
                       others.insert(v.path);
                       return 0;
                   }),
              0);
    EXPECT_EQ(others.count("/dev/shm"), 1U);
}

// 500 levels of two directories each, so that paths have 100 KB. On each level the second directory is
// visited after the first one's tree.
TEST_F(Walk, DeeperThanPathsAndDescriptorsGo) {
    const int levels = 500;
    const std::string name(200, 'd');
    int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < levels; i++) {
        ASSERT_EQ(mkdirat(fd, name.c_str(), 0700), 0);
        ASSERT_EQ(mkdirat(fd, (name + "2").c_str(), 0700), 0);
        int next = openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY);
        ::close(fd);
        fd = next;
    }
    ::close(fd);
    rlimit before, few;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 128;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (unsigned threads : {1U, 3U}) {
        std::atomic<int> found = 0, done = 0, longest = 0;
        EXPECT_EQ(walk(directory, {threads, 0, ASF_WALK_AFTER},
                       [&](const asf_visit &v) {
                           EXPECT_NE(v.when, ASF_WALK_FAILED) << strerror(-v.entry.error);
                           found += v.when == ASF_WALK_FOUND;
                           done += v.when == ASF_WALK_DONE;
                           EXPECT_TRUE(v.dirfd >= 0 || v.depth == 0);
                           if (v.depth == levels)
                               longest = (int)v.path_length;
                           return 0;
                       }),
                  0);
        EXPECT_EQ(found, 2 * levels + 1);
        EXPECT_EQ(done, 2 * levels + 1);
        EXPECT_GE(longest, 201 * levels);
    }
    remove_tree(path(name));
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Walk, WhatStaysIsFoundOnceWhileTheRestChanges) {
    const int rounds = (int)number("ASF_WALK_ROUNDS", 60);
    for (int i = 0; i < 40; i++) {
        folder("stays" + std::to_string(i) + "/below");
        touch("stays" + std::to_string(i) + "/below/file");
    }
    std::atomic<bool> stop = false;
    std::thread other([&] {
        while (!stop)
            for (int i = 0; i < 20; i++) {
                std::string name = "stays" + std::to_string(i) + "/comes";
                folder(name + "/and/goes");
                fs::create_directory_symlink(directory, path(name + "/link"));
                rename(path(name).c_str(), path("moved").c_str());
                fs::remove_all(path("moved"));
            }
    });
    for (int i = 0; i < rounds; i++) {
        std::map<std::string, int> files;
        EXPECT_EQ(walk(directory, {3, STATX_SIZE, ASF_WALK_AFTER},
                       [&](const asf_visit &v) {
                           std::lock_guard<std::mutex> hold(mutex);
                           files[v.path] += v.when == ASF_WALK_FOUND && v.entry.type == DT_REG;
                           return 0;
                       }),
                  0);
        for (int j = 0; j < 40; j++)
            ASSERT_EQ(files[path("stays" + std::to_string(j) + "/below/file")], 1) << j;
    }
    stop = true;
    other.join();
    printf("%d rounds\n", rounds);
}

// --- what a visit says ------------------------------------------------------------------------

class Asked : public Walk {
  protected:
    void SetUp() override {
        Walk::SetUp();
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 10; j++) {
                folder(std::to_string(i) + "/" + std::to_string(j));
                touch(std::to_string(i) + "/" + std::to_string(j) + "/file");
            }
    }
};

TEST_F(Asked, PrunedDirectoriesAreNotGoneInto) {
    std::atomic<int> files = 0, done = 0;
    EXPECT_EQ(walk(directory, {2, 0, ASF_WALK_AFTER},
                   [&](const asf_visit &v) {
                       files += v.entry.type == DT_REG;
                       done += v.when == ASF_WALK_DONE;
                       return v.depth == 2 && v.when == ASF_WALK_FOUND && v.entry.name[0] < '4'
                                  ? (int)ASF_WALK_PRUNE
                                  : 0;
                   }),
              0);
    EXPECT_EQ(files, 12 * 6);
    EXPECT_EQ(done, 1 + 12 + 12 * 6);
}

// The walk's threads must end; a joined thread may remain in /proc for a moment. The process's first thread
// also starts a sanitizer's own thread, which does not end.
TEST_F(Asked, ItEndsWhenAVisitSaysSo) {
    std::thread([] {}).join();
    size_t before = entries_in("/proc/self/task");
    for (unsigned threads : {1U, 4U})
        for (int after : {1, 2, 40, 200}) {
            std::atomic<int> left = after;
            EXPECT_EQ(
                walk(directory, {threads, 0, 0}, [&](const asf_visit &) { return --left == 0 ? -12345 : 0; }),
                -12345);
            for (int i = 0; i < 2000 && entries_in("/proc/self/task") > before; i++)
                usleep(1000);
            EXPECT_LE(entries_in("/proc/self/task"), before);
        }
}

// When a directory is done, its count includes all files below it.
TEST_F(Asked, ADirectoryIsDoneWhenAllBelowItIs) {
    struct Below {
        std::atomic<int> files = 0;
    };
    for (unsigned threads : {1U, 2U, 7U}) {
        std::atomic<int> all = 0;
        EXPECT_EQ(walk(directory, {threads, 0, ASF_WALK_AFTER},
                       [&](const asf_visit &v) {
                           auto *above = static_cast<Below *>(v.above);
                           if (v.when == ASF_WALK_FOUND && v.entry.type == DT_DIR)
                               *v.own = new Below;
                           else if (v.when == ASF_WALK_FOUND)
                               above->files++;
                           if (v.when == ASF_WALK_DONE) {
                               auto *own = static_cast<Below *>(*v.own);
                               EXPECT_EQ(own->files, v.depth == 0 ? 120 : v.depth == 1 ? 10 : 1) << v.path;
                               (above ? above->files : all) += own->files;
                               delete own;
                           }
                           return 0;
                       }),
                  0);
        EXPECT_EQ(all, 120);
    }
}

TEST_F(Asked, ByOneThreadATreeComesAsAWhole) {
    std::string inside;
    std::set<std::string> left;
    EXPECT_EQ(walk(directory, {1, 0, 0},
                   [&](const asf_visit &v) {
                       if (v.depth < 2)
                           return 0;
                       std::string tree = std::string(v.path).substr(directory.size() + 1);
                       tree.resize(tree.find('/'));
                       if (tree != inside) {
                           EXPECT_EQ(left.count(tree), 0U) << tree << " again";
                           left.insert(inside);
                           inside = tree;
                       }
                       return 0;
                   }),
              0);
    EXPECT_EQ(left.size(), 12U);
}

TEST_F(Asked, ACancelledThreadFinishesTheWalk) {
    std::atomic<int> files = 0;
    std::atomic<bool> cancelled = false;
    std::thread walker([&] {
        walk(directory, {2, 0, 0}, [&](const asf_visit &v) {
            while (!cancelled)
                std::this_thread::yield();
            usleep(1); // a cancellation point
            files += v.entry.type == DT_REG;
            return 0;
        });
    });
    pthread_cancel(walker.native_handle());
    cancelled = true;
    walker.join();
    EXPECT_EQ(files, 120);
}

// --- calls that fail -------------------------------------------------------------------------------

asf_syscalls real_calls;

TEST_F(Asked, WhatCannotBeReadIsToldAndTheRestIsWalked) {
    Restore restore;
    real_calls = asf__sys;
    asf__sys.open_at = [](int at, const char *path, int flags) {
        return strcmp(path, "7") == 0 ? -EACCES : real_calls.open_at(at, path, flags);
    };
    for (unsigned threads : {1U, 3U}) {
        std::atomic<int> failed = 0, files = 0, done = 0;
        EXPECT_EQ(walk(directory, {threads, 0, ASF_WALK_AFTER},
                       [&](const asf_visit &v) {
                           if (v.when == ASF_WALK_FAILED) {
                               EXPECT_EQ(v.entry.error, -EACCES);
                               EXPECT_STREQ(v.entry.name, "7");
                               EXPECT_EQ(faccessat(v.dirfd, "7", F_OK, 0), 0);
                           }
                           failed += v.when == ASF_WALK_FAILED;
                           files += v.entry.type == DT_REG;
                           done += v.when == ASF_WALK_DONE;
                           return 0;
                       }),
                  0);
        EXPECT_EQ(failed, 1 + 11);
        EXPECT_EQ(files, 11 * 9);
        EXPECT_EQ(done, 1 + 12 + 11 * 10);
    }
}

TEST_F(Asked, InterruptedCallsAreMadeAgain) {
    static std::atomic<unsigned> calls;
    calls = 0;
    Restore restore;
    real_calls = asf__sys;
    asf__sys.open_at = [](int at, const char *path, int flags) {
        return ++calls % 2 ? -EINTR : real_calls.open_at(at, path, flags);
    };
    asf__sys.getdents = [](int fd, void *buf, size_t n) {
        return ++calls % 3 ? (ssize_t)-EINTR : real_calls.getdents(fd, buf, n);
    };
    std::atomic<int> files = 0;
    EXPECT_EQ(walk(directory, {2, 0, 0},
                   [&](const asf_visit &v) {
                       EXPECT_EQ(v.when, ASF_WALK_FOUND);
                       files += v.entry.type == DT_REG;
                       return 0;
                   }),
              0);
    EXPECT_EQ(files, 120);
}

} // namespace
