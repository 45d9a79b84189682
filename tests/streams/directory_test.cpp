// SPDX-License-Identifier: MIT
//
// directory_test.cpp - directories as streams, compared with readdir() and lstat(): entries of all
// types, odd names, up to ASF_DIR_ENTRIES (5,000) of them; entries that vanish, calls that fail.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/streams/private_headers.h"

#include <asf/dir.h>

namespace {

using Entry = std::tuple<std::string, uint64_t, int>;

std::vector<Entry> by_readdir(const std::string &path, bool dots) {
    std::vector<Entry> all;
    DIR *d = opendir(path.c_str());
    while (dirent *e = readdir(d)) {
        std::string name = e->d_name;
        if (dots || (name != "." && name != ".."))
            all.emplace_back(name, e->d_ino, e->d_type);
    }
    closedir(d);
    return all;
}

class Directory : public asi::Asi {
  protected:
    asf_cios *open() const {
        int error = 1;
        asf_cios *c = asf_dir_sopen(AT_FDCWD, directory.c_str(), &error);
        EXPECT_EQ(error, 0);
        return c;
    }
    void touch(const std::string &name) const { std::ofstream(path(name)).put('x'); }
    void touch(int count) const {
        std::string file; // ext4 allows 65,000 links to one file
        for (int i = 0; i < count; i++) {
            std::string name = path("entry number " + std::to_string(i * 7919));
            if (i % 50000 == 0)
                ::close(creat((file = name).c_str(), 0600));
            else
                EXPECT_TRUE(link(file.c_str(), name.c_str()) == 0 || errno == EEXIST);
        }
    }

    // Reads the next entries, at most `most`.
    std::vector<Entry> next(asf_dir *dir, size_t most = SIZE_MAX) {
        std::vector<Entry> all;
        const asf_entry *e;
        length = 0;
        while (all.size() < most && (e = asf_dir_next(dir, &length))) {
            EXPECT_EQ((size_t)length, e->length);
            EXPECT_EQ(strlen(e->name), e->length);
            all.emplace_back(e->name, e->inode, e->type);
        }
        return all;
    }
    std::vector<Entry> all_of(asf_cios *c, int flags) {
        asf_dir dir;
        asf_dir_begin(&dir, c, 0, flags);
        auto all = next(&dir);
        EXPECT_EQ(length, 0);
        EXPECT_EQ(asf_dir_end(&dir), 0);
        return all;
    }
    ssize_t length = 0;
};

TEST_F(Directory, HasWhatReaddirHas) {
    const char *set = getenv("ASF_DIR_ENTRIES");
    int most = set ? atoi(set) : 5000;
    for (int count : {0, 1, 2, 700, most}) {
        touch(count);
        for (int flags : {0, (int)ASF_DIR_DOTS}) {
            asf_cios *c = open();
            EXPECT_EQ(all_of(c, flags), by_readdir(directory, flags));
            EXPECT_EQ(asf_sclose(c), 0);
        }
    }
    printf("%d entries\n", most);
}

TEST_F(Directory, HasAllTypesAndTheirStatus) {
    touch("file");
    touch("with\nnewline");
    touch("\xff\xfe, not UTF-8");
    touch(std::string(255, 'n'));
    std::filesystem::create_directory(path("folder"));
    std::filesystem::create_symlink("nowhere", path("link"));
    ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
    sockaddr_un name = {AF_UNIX, {}};
    strcpy(name.sun_path, path("socket").c_str());
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(bind(s, (sockaddr *)&name, sizeof name), 0);
    ::close(s);
    asf_cios *c = open();
    asf_dir dir;
    asf_dir_begin(&dir, c, STATX_SIZE | STATX_MODE | STATX_INO, 0);
    int count = 0;
    while (const asf_entry *e = asf_dir_next(&dir, &length)) {
        struct stat st;
        ASSERT_EQ(lstat(path(e->name).c_str(), &st), 0);
        ASSERT_NE(e->status, nullptr);
        EXPECT_EQ(e->status->stx_size, (uint64_t)st.st_size) << e->name;
        EXPECT_EQ(e->status->stx_mode & 07777, st.st_mode & 07777);
        EXPECT_EQ(e->status->stx_ino, st.st_ino);
        EXPECT_EQ(e->inode, st.st_ino);
        EXPECT_EQ(e->type, IFTODT(st.st_mode));
        EXPECT_EQ(e->error, 0);
        count++;
    }
    EXPECT_EQ(count, 8);
    EXPECT_EQ(asf_sclose(c), 0);
}

// Returns entries without types, as some file systems do.
ssize_t getdents_without_types(int fd, void *buf, size_t n) {
    ssize_t r = syscall(SYS_getdents64, fd, buf, n);
    for (ssize_t at = 0; at < r;) {
        auto *e = reinterpret_cast<dirent *>(static_cast<char *>(buf) + at);
        e->d_type = DT_UNKNOWN;
        at += e->d_reclen;
    }
    return r;
}

TEST_F(Directory, TypesThatAreNotToldAreFoundOut) {
    touch("file");
    std::filesystem::create_directory(path("folder"));
    auto expected = by_readdir(directory, false);
    Restore restore;
    asf__sys.getdents = getdents_without_types;
    asf_cios *c = open();
    EXPECT_EQ(all_of(c, 0), expected);
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, EntriesThatVanishSaySo) {
    touch(100);
    asf_cios *c = open();
    asf_dir dir;
    asf_dir_begin(&dir, c, STATX_SIZE, 0);
    ASSERT_NE(asf_dir_next(&dir, &length), nullptr);
    for (auto &e : std::filesystem::directory_iterator(directory))
        std::filesystem::remove(e);
    int count = 1;
    for (; const asf_entry *e = asf_dir_next(&dir, &length); count++) {
        EXPECT_EQ(e->error, -ENOENT);
        EXPECT_EQ(e->status, nullptr);
        EXPECT_EQ(e->type, DT_REG);
    }
    EXPECT_EQ(count, 100);
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, RewoundHasWhatIsThereNow) {
    touch(10);
    asf_cios *c = open();
    asf_dir dir;
    asf_dir_begin(&dir, c, 0, 0);
    EXPECT_EQ(next(&dir, 3).size(), 3U);
    touch("new");
    EXPECT_EQ(asf_dir_rewind(&dir), 0);
    EXPECT_EQ(next(&dir), by_readdir(directory, false));
    EXPECT_EQ(asf_dir_rewind(&dir), 0);
    EXPECT_EQ(next(&dir).size(), 11U);
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, TheRestStaysOfTheStream) {
    touch(2000);
    auto expected = by_readdir(directory, false);
    asf_cios *c = open();
    std::vector<Entry> all;
    for (size_t before = 1; before != all.size();) { // 700 entries at a time
        before = all.size();
        asf_dir dir;
        asf_dir_begin(&dir, c, 0, 0);
        for (auto &e : next(&dir, 700))
            all.push_back(e);
        EXPECT_EQ(asf_dir_end(&dir), 0);
    }
    EXPECT_EQ(all, expected);
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, ItsBytesAreTheKernels) {
    touch(500);
    std::string expected(1 << 20, '\0'), got;
    int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
    expected.resize((size_t)syscall(SYS_getdents64, fd, expected.data(), expected.size()));
    int error = 1;
    ASSERT_EQ(lseek(fd, 0, SEEK_SET), 0);
    asf_cios *c = asf_dir_sopen_fd(fd, &error);
    ASSERT_NE(c, nullptr);
    EXPECT_EQ(asf_fileno(c), fd);
    for (ssize_t n = 97;; n = 97) {
        void *p = asf_salloc(c, &n);
        if (!p)
            break;
        got.append(static_cast<char *>(p), (size_t)n);
        EXPECT_EQ(asf_sfree(c, p), 0);
    }
    ASSERT_EQ(got.size(), expected.size());
    for (size_t at = 0; at < got.size();) { // compares all but the padding between records
        auto *a = reinterpret_cast<dirent *>(&got[at]), *b = reinterpret_cast<dirent *>(&expected[at]);
        ASSERT_EQ(a->d_reclen, b->d_reclen);
        EXPECT_STREQ(a->d_name, b->d_name);
        at += a->d_reclen;
    }
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, WhatIsWrongIsTold) {
    int error = 0;
    touch(5);
    touch("file");
    EXPECT_EQ(asf_dir_sopen(AT_FDCWD, path("file").c_str(), &error), nullptr);
    EXPECT_EQ(error, -ENOTDIR);
    EXPECT_EQ(asf_dir_sopen(AT_FDCWD, path("none").c_str(), &error), nullptr);
    EXPECT_EQ(error, -ENOENT);
    EXPECT_EQ(asf_dir_sopen_fd(-1, &error), nullptr);
    EXPECT_EQ(error, -EBADF);
    int fd = ::open(path("file").c_str(), O_RDONLY);
    EXPECT_EQ(asf_dir_sopen_fd(fd, &error), nullptr);
    EXPECT_EQ(error, -ENOTDIR);
    EXPECT_EQ(::close(fd), 0) << "it was closed";

    asf_cios *c = open();
    asf_dir dir;
    ssize_t n = 5;
    EXPECT_EQ(asf_sfree(c, asf_salloc(c, &n)), 0);
    asf_dir_begin(&dir, c, 0, 0);
    EXPECT_EQ(asf_dir_next(&dir, &length), nullptr);
    EXPECT_EQ(length, -EBADMSG); // the directory's data ends within an entry
    asf_dir_end(&dir);
    EXPECT_EQ(asf_dir_rewind(&dir), 0);
    EXPECT_NE(asf_dir_next(&dir, &length), nullptr);
    EXPECT_EQ(asf_SallocAt(c, ASF_READ, &n, 7, SEEK_SET), nullptr);
    EXPECT_EQ(n, -ESPIPE);
    EXPECT_EQ(asf_dir_end(&dir), 0);
    EXPECT_EQ(asf_sclose(c), 0);
}

TEST_F(Directory, ARemovedOneIsEmptyAndAnErrorIsTold) {
    std::filesystem::create_directory(path("gone"));
    asf_cios *c = asf_dir_sopen(AT_FDCWD, path("gone").c_str(), nullptr);
    ASSERT_NE(c, nullptr);
    std::filesystem::remove(path("gone"));
    EXPECT_TRUE(all_of(c, ASF_DIR_DOTS).empty());
    EXPECT_EQ(asf_sclose(c), 0);

    Restore restore;
    asf__sys.getdents = [](int, void *, size_t) -> ssize_t { return -EIO; };
    asf_dir dir;
    asf_dir_begin(&dir, c = open(), 0, 0);
    EXPECT_EQ(asf_dir_next(&dir, &length), nullptr);
    EXPECT_EQ(length, -EIO);
    EXPECT_EQ(asf_sclose(c), 0);
}

} // namespace
