// SPDX-License-Identifier: MIT
//
// shm_faults_test.cpp - refused segments and the errors: segments that are forged, truncated or another
// user's, and systems whose limits are reached.
#include <algorithm>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "shm_test.h"

namespace shm {
namespace {

// Offsets of two fields in a segment's head.
constexpr size_t magic_at = 112, size_at = 120;

class Faults : public Segments {
  protected:
    // Makes a segment, changes its head by `change`, and returns its label.
    std::string changed(size_t nbytes, const std::function<void(char *)> &change) {
        char *shm = make("changed", nbytes);
        const std::string label = label_of(shm);
        change(shm);
        EXPECT_EQ(asf_shm_close(shm), 0);
        return label;
    }

    // Calls `limit` in a child, and makes a segment there. Returns the error; or, if a segment is made and
    // removed, `made`.
    enum { made = 254 };
    int error_under(const std::function<bool()> &limit, size_t nbytes) {
        return in_child([&] {
            if (!limit())
                return 255;
            errno = 0;
            char *shm = asf_shm_create_on(GetParam(), "too much", 0600, nbytes);
            if (!shm)
                return errno;
            return asf_shm_remove(label_of(shm).c_str()) == 0 ? made : 253;
        });
    }
};

TEST_P(Faults, ForgedLabels) {
    const auto text = [](const char *with) { return [with](char *shm) { strcpy(shm, with); }; };
    expect_refused(changed(8, text("1 changed\n")), ESTALE, "names another segment");
    expect_refused(changed(8, text("")), ESTALE, "names another segment");
    expect_refused(changed(8, [](char *shm) { *strchr(shm, '\n') = 'x'; }), ESTALE, "names another segment");
    const std::string renamed = changed(8, [](char *shm) { *strstr(shm, "changed") = 'C'; });
    expect_refused(renamed, ESTALE, "stale or forged");
    labels.push_back(identifier_of(renamed) + " Changed");
    expect_refused(changed(8, [](char *shm) { memset(shm, 'x', magic_at); }), ESTALE,
                   "names another segment");
}

TEST_P(Faults, ForgedSizes) {
    const auto size = [](uint64_t value) {
        return [value](char *shm) { memcpy(shm + size_at, &value, sizeof value); };
    };
    for (uint64_t value : {uint64_t{0}, uint64_t{7}, uint64_t{9}, uint64_t{8 + ASF_SHM_HEAD}, UINT64_MAX,
                           UINT64_MAX - ASF_SHM_HEAD + 1})
        expect_refused(changed(8, size(value)), ESTALE, "size differs from its label");
}

TEST_P(Faults, ForeignSegments) {
    expect_refused(changed(8, [](char *shm) { shm[magic_at]++; }), ESTALE, "foreign");
    expect_refused(changed(8, [](char *shm) { memset(shm, 0, ASF_SHM_HEAD); }), ESTALE, "foreign");
    if (posix())
        return;
    for (const size_t bytes : {1U, 127U, 128U, 5000U}) {
        const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
        ASSERT_GE(id, 0);
        const std::string label = std::to_string(id) + " x";
        expect_refused(label, ESTALE, "foreign");
        EXPECT_EQ(asf_shm_remove(label.c_str()), -ENOENT) << "not one of ours";
        EXPECT_EQ(asf_shm_remove(std::to_string(id).c_str()), -ENOENT);
        EXPECT_EQ(shmctl(id, IPC_RMID, nullptr), 0) << "still there";
    }
}

TEST_P(Faults, BrokenOnesAreListedAndRemoved) {
    const std::string forged = identifier_of(changed(8, [](char *shm) { *strchr(shm, '\n') = 'x'; }));
    const std::string unfinished = identifier_of(changed(8, [](char *shm) { memset(shm, 0, ASF_SHM_HEAD); }));
    const std::vector<Seen> seen = all();
    ASSERT_NE(find(seen, forged), nullptr);
    EXPECT_EQ(find(seen, forged)->info.state, ASF_SHM_BROKEN);
    ASSERT_NE(find(seen, unfinished), nullptr);
    EXPECT_EQ(find(seen, unfinished)->info.state, ASF_SHM_UNFINISHED);
    EXPECT_EQ(asf_shm_remove(forged.c_str()), 0) << asf_shm_why();
    EXPECT_EQ(asf_shm_remove(unfinished.c_str()), 0) << asf_shm_why();
    EXPECT_EQ(find(all(), forged), nullptr);
}

// --- a file in the place of a segment -------------------------------------------

class Files : public Faults {};

TEST_P(Files, Truncated) {
    for (const off_t length : {0, 1, 127}) {
        const std::string label = made_by_another(5000);
        ASSERT_EQ(truncate(path_of(label).c_str(), length), 0);
        expect_refused(label, ESTALE, "too small for a label");
        const std::vector<Seen> seen = all();
        ASSERT_NE(find(seen, identifier_of(label)), nullptr);
        EXPECT_EQ(find(seen, identifier_of(label))->info.state, ASF_SHM_BROKEN);
    }
    for (const off_t length : {128, 4096, 5127, 5129, 100000}) {
        const std::string label = made_by_another(5000);
        ASSERT_EQ(truncate(path_of(label).c_str(), length), 0);
        expect_refused(label, ESTALE, "size differs from its label");
    }
}

TEST_P(Files, TruncatedUnderAReader) {
    const std::string label = made_by_another(20000);
    char *shm = asf_shm_open(label.c_str());
    ASSERT_NE(shm, nullptr);
    ASSERT_EQ(truncate(path_of(label).c_str(), 4096), 0);
    EXPECT_EQ(static_cast<unsigned char>(shm[ASF_SHM_HEAD]), pattern_at(0));
    for (size_t i = 4096; i < ASF_SHM_HEAD + 20000; i++)
        ASSERT_EQ(shm[i], 0) << "zeros where the bytes are gone";
    errno = 0;
    EXPECT_EQ(asf_shm_close(shm), -1);
    EXPECT_EQ(errno, EIO) << "it is told";
    errno = 0;
    EXPECT_EQ(asf_shm_close(shm), -1);
    EXPECT_EQ(errno, EINVAL) << "and detached";
}

TEST_P(Files, TruncatedUnderAWriter) {
    char *shm = make("cut", 20000);
    ASSERT_EQ(truncate(path_of(label_of(shm)).c_str(), 128), 0);
    memset(shm + ASF_SHM_HEAD, 'x', 20000);
    errno = 0;
    EXPECT_EQ(asf_shm_close(shm), -1);
    EXPECT_EQ(errno, EIO);
}

TEST_P(Files, TruncatedAndNeverLookedAt) {
    const std::string label = made_by_another(20000);
    char *shm = asf_shm_open(label.c_str());
    ASSERT_NE(shm, nullptr);
    ASSERT_EQ(truncate(path_of(label).c_str(), 4096), 0);
    errno = 0;
    EXPECT_EQ(asf_shm_close(shm), -1);
    EXPECT_EQ(errno, EIO) << "it is told all the same";
}

// Every one of many attached segments is guarded, and a detached one makes room for another.
TEST_P(Files, ManyTruncated) {
    const std::string label = made_by_another(20000);
    EXPECT_EQ(in_child([&] {
                  std::vector<char *> attached;
                  for (int i = 0; i < 2000; i++)
                      attached.push_back(asf_shm_open(label.c_str()));
                  for (size_t i = 0; i < 2000; i += 3)
                      if (asf_shm_close(attached[i]) != 0 || !(attached[i] = asf_shm_open(label.c_str())))
                          return 1;
                  if (truncate(path_of(label).c_str(), 4096) != 0)
                      return 2;
                  for (const char *shm : attached)
                      if (shm[19999] != 0)
                          return 3;
                  for (char *shm : attached)
                      if (asf_shm_close(shm) != -1 || errno != EIO)
                          return 4;
                  return 0;
              }),
              0);
}

// A segment that cannot be guarded is not attached.
TEST_P(Files, NoGuard) {
    struct sigaction now {};
    sigaction(SIGBUS, nullptr, &now);
    if (now.sa_handler != SIG_DFL)
        GTEST_SKIP() << "a segment has been attached before";
    const auto refused = [](const char *shm) {
        return !shm && errno == ENOMEM && strstr(asf_shm_why(), "guarded");
    };
    const std::string label = made_by_another(20000);
    EXPECT_EQ(in_child([&] {
                  if (!refuse(SYS_rt_sigaction, 0, SIGBUS, EPERM))
                      return 0;
                  if (!refused(asf_shm_open(label.c_str())))
                      return 1;
                  if (!refused(asf_shm_create_on(GetParam(), "unguarded", 0600, 8)))
                      return 2;
                  for (const Seen &s : all())
                      if (s.label.find("unguarded") != std::string::npos)
                          return 3;
                  return 0;
              }),
              0);
}

TEST_P(Files, ASymbolicLink) {
    const std::string label = made_by_another(8), path = path_of(label), aside = path + ".aside";
    ASSERT_EQ(rename(path.c_str(), aside.c_str()), 0);
    ASSERT_EQ(symlink(aside.c_str(), path.c_str()), 0);
    expect_refused(label, ELOOP, "symbolic link");
    const std::vector<Seen> seen = all();
    ASSERT_NE(find(seen, identifier_of(label)), nullptr) << "listed";
    EXPECT_EQ(find(seen, identifier_of(label))->info.state, ASF_SHM_BROKEN);
    EXPECT_EQ(asf_shm_remove(identifier_of(label).c_str()), 0);
    EXPECT_EQ(access(aside.c_str(), F_OK), 0) << "where it leads is left alone";
    EXPECT_EQ(unlink(aside.c_str()), 0);
}

TEST_P(Files, OtherKindsOfFile) {
    const std::string label = made_by_another(8), path = path_of(label);
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    expect_refused(label, ESTALE, "not a regular file");
    errno = 0;
    EXPECT_EQ(asf_shm_open_update(label.c_str()), nullptr) << "and nothing waits";
    EXPECT_EQ(errno, ESTALE);
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    expect_refused(label, ESTALE, "not a regular file");
    EXPECT_EQ(asf_shm_open_update(label.c_str()), nullptr);
    EXPECT_EQ(errno, ESTALE);
    EXPECT_EQ(asf_shm_remove(identifier_of(label).c_str()), -ESTALE);
    ASSERT_EQ(rmdir(path.c_str()), 0);
}

TEST_P(Files, ACopyUnderAnotherIdentifier) {
    const std::string one = made_by_another(8), two = made_by_another(8);
    ASSERT_EQ(rename(path_of(one).c_str(), path_of(two).c_str()), 0);
    expect_refused(two, ESTALE, "names another segment");
    EXPECT_EQ(asf_shm_remove(two.c_str()), -ESTALE);
    EXPECT_EQ(asf_shm_remove(identifier_of(two).c_str()), 0);
}

// --- permissions -------------------------------------------------------------------

class Permissions : public Faults {
  protected:
    void SetUp() override {
        if (geteuid() != 0 || as_nobody([] { return 0; }) != 0)
            GTEST_SKIP() << "only root can become another user";
        umask(0);
    }
};

TEST_P(Permissions, ModesAreAFiles) {
    const auto open_as_nobody = [&](mode_t mode) {
        const std::string label = made_by_another(100, mode);
        return as_nobody([&] {
            char *shm = asf_shm_open(label.c_str());
            const int reading = shm ? is_filled(shm, 100) ? 0 : 98 : errno;
            char *update = asf_shm_open_update(label.c_str());
            return reading ? reading : update ? 1 : errno == EACCES ? 2 : 97;
        });
    };
    EXPECT_EQ(open_as_nobody(0600), EACCES);
    EXPECT_EQ(open_as_nobody(0640), EACCES);
    EXPECT_EQ(open_as_nobody(0644), 2) << "may read, may not write";
    EXPECT_EQ(open_as_nobody(0666), 1) << "may do both";
}

TEST_P(Permissions, TheUmaskCounts) {
    const auto mode_under = [&](mode_t mask, mode_t mode) {
        umask(mask);
        char *shm = make("masked", 8, mode);
        umask(0);
        const std::vector<Seen> seen = all();
        const Seen *s = find(seen, label_of(shm));
        EXPECT_EQ(asf_shm_close(shm), 0);
        return s ? s->info.mode : 07777;
    };
    EXPECT_EQ(mode_under(0, 0666), 0666U);
    EXPECT_EQ(mode_under(022, 0666), 0644U);
    EXPECT_EQ(mode_under(077, 0666), 0600U);
    EXPECT_EQ(mode_under(0, 0444), 0444U);
    EXPECT_EQ(mode_under(0, 06600), 0600U) << "nothing but permissions";
}

TEST_P(Permissions, AReadOnlyOneIsFilledByWhoMakesIt) {
    EXPECT_EQ(as_nobody([&] {
                  char *shm = asf_shm_create_on(GetParam(), "read-only", 0400, 100);
                  if (!shm)
                      return 1;
                  fill(shm);
                  const std::string label = label_of(shm);
                  char *reader = asf_shm_open(label.c_str());
                  if (!reader || !is_filled(reader, 100))
                      return 2;
                  if (asf_shm_open_update(label.c_str()) || errno != EACCES)
                      return 3;
                  return asf_shm_remove(label.c_str()) == 0 ? 0 : 4;
              }),
              0);
}

TEST_P(Permissions, AnothersIsListedAndNotRemoved) {
    const std::string label = made_by_another(100, 0600), id = identifier_of(label);
    EXPECT_EQ(as_nobody([&] {
                  const std::vector<Seen> seen = all();
                  const Seen *s = find(seen, id);
                  if (!s || s->info.state != ASF_SHM_UNREADABLE || s->info.owner != 0 || s->info.mode != 0600)
                      return 1;
                  const int rc = asf_shm_remove(id.c_str());
                  return rc == -EPERM || rc == -EACCES ? 0 : 2;
              }),
              0);
    EXPECT_EQ(as_nobody([&] { return -asf_shm_remove(label.c_str()); }), EACCES) << "its label is not seen";
    EXPECT_NE(find(all(), label), nullptr);
}

// --- limits -----------------------------------------------------------------------------

class Limits : public Faults {
  protected:
    void SetUp() override {
        if (!Isolated::isolated)
            GTEST_SKIP() << "limits are tried in namespaces of the test's own only";
    }

    // Mounts /dev/shm for this process only.
    static bool mount_shm(const char *type, unsigned long flags, const char *options) {
        return unshare(CLONE_NEWNS) == 0 && mount("none", "/dev/shm", type, flags, options) == 0;
    }

    static bool small_shm(const char *options) { return mount_shm("tmpfs", 0, options); }

    static bool set(const char *name, const char *value) {
        std::ofstream file(std::string("/proc/sys/kernel/") + name);
        return static_cast<bool>(file << value << std::flush);
    }

    static size_t entries() {
        size_t n = 0;
        DIR *directory = opendir("/dev/shm");
        while (const dirent *entry = readdir(directory))
            n += entry->d_name[0] != '.';
        closedir(directory);
        return n;
    }
};

TEST_P(Limits, ImpossibleSizes) {
    const auto error_of = [&](size_t nbytes) { return error_under([] { return true; }, nbytes); };
    EXPECT_EQ(error_of(SIZE_MAX), EOVERFLOW);
    EXPECT_EQ(error_of(SIZE_MAX - ASF_SHM_HEAD + 1), EOVERFLOW) << "which would be 0 with the head";
    EXPECT_EQ(error_of(PTRDIFF_MAX), EOVERFLOW);
    const int larger = error_of(size_t{1} << 60);
    EXPECT_TRUE(larger == ENOSPC || larger == ENOMEM || larger == EFBIG) << strerror(larger);
}

TEST_P(Limits, AFullFileSystem) {
    if (!posix())
        GTEST_SKIP() << "posix's";
    const auto on_a_small_one = [] { return small_shm("size=1m"); };
    EXPECT_EQ(error_under(on_a_small_one, 2 << 20), ENOSPC);
    EXPECT_EQ(in_child([&] {
                  if (!on_a_small_one())
                      return 255;
                  for (int i = 0; i < 20; i++) { // a failed call leaves nothing
                      if (asf_shm_create_on("posix", "too much", 0600, 1 << 20) || errno != ENOSPC ||
                          entries())
                          return 1;
                  }
                  char *fits = asf_shm_create_on("posix", "fits", 0600, (1 << 20) - ASF_SHM_HEAD);
                  if (!fits)
                      return 2;
                  fill(fits); // so all pages exist
                  return asf_shm_create_on("posix", "full", 0600, 0) ? 3 : errno == ENOSPC ? 0 : 4;
              }),
              0);
    EXPECT_EQ(error_under([] { return small_shm("nr_inodes=1"); }, 8), ENOSPC) << "no inode";
}

TEST_P(Limits, NoFileSystem) {
    if (!posix())
        GTEST_SKIP() << "posix's";
    EXPECT_NE(error_under([] { return mount_shm("proc", 0, nullptr); }, 8), made);
    EXPECT_EQ(error_under([] { return mount_shm("tmpfs", MS_RDONLY, nullptr); }, 8), EROFS);
}

// The error is returned; SIGXFSZ is not raised.
TEST_P(Limits, FileSizes) {
    if (sysv())
        GTEST_SKIP() << "which are none";
    const auto limit = [] {
        const rlimit most = {1 << 20, RLIM_INFINITY};
        return setrlimit(RLIMIT_FSIZE, &most) == 0;
    };
    EXPECT_EQ(error_under(limit, 1 << 20), EFBIG);
    EXPECT_EQ(error_under(limit, 1000), made) << "a small one is made";
}

TEST_P(Limits, AddressSpace) {
    if (getenv("ASAN_OPTIONS") || getenv("TSAN_OPTIONS"))
        GTEST_SKIP() << "sanitizers need address space";
    const auto limit = [] {
        const rlimit most = {1 << 30, RLIM_INFINITY};
        return setrlimit(RLIMIT_AS, &most) == 0;
    };
    EXPECT_EQ(error_under(limit, size_t{2} << 30), ENOMEM);
}

TEST_P(Limits, ShmmaxAndShmmni) {
    if (!sysv())
        GTEST_SKIP() << "SysV's";
    const int largest = error_under([] { return set("shmmax", "65536"); }, 65536);
    if (largest == 255)
        GTEST_SKIP() << "the limits cannot be set";
    EXPECT_EQ(largest, EFBIG);
    EXPECT_EQ(error_under([] { return set("shmmax", "65536"); }, 65536 - ASF_SHM_HEAD), made);
    ASSERT_TRUE(set("shmmax", "18446744073692774399"));
    EXPECT_EQ(error_under([] { return set("shmmni", "0"); }, 8), ENOSPC);
    ASSERT_TRUE(set("shmmni", "4096"));
    EXPECT_EQ(error_under([] { return set("shmall", "1"); }, 1 << 20), ENOSPC);
    ASSERT_TRUE(set("shmall", "18446744073692774399"));
}

// Other programs, or one that never removes a segment, may have taken all keys.
TEST_P(Limits, KeysAllTaken) {
    if (!sysv())
        GTEST_SKIP() << "SysV's";
    if (!set("shmmni", "32768"))
        GTEST_SKIP() << "the limits cannot be set";
    std::vector<int> taken;
    for (key_t key = 0x61736000; key < 0x61737000; key++)
        taken.push_back(shmget(key, 1, IPC_CREAT | 0600));
    errno = 0;
    EXPECT_EQ(asf_shm_create_on("sysv", "one more", 0600, 8), nullptr);
    EXPECT_EQ(errno, ENOSPC);
    EXPECT_NE(strstr(asf_shm_why(), "all keys are in use"), nullptr) << asf_shm_why();
    for (const int id : taken)
        shmctl(id, IPC_RMID, nullptr);
    set("shmmni", "4096");
}

// A filter of system calls may refuse getrandom.
TEST_P(Limits, NoRandomNumbers) {
    for (const unsigned error : {ENOSYS, EPERM})
        EXPECT_EQ(in_child([&] {
                      alarm(10);
                      if (!refuse(SYS_getrandom, 2, 0, error))
                          return 0;
                      std::vector<std::string> names;
                      for (int i = 0; i < 20; i++) {
                          const char *shm = asf_shm_create_on(GetParam(), "not random", 0600, 8);
                          if (!shm)
                              return 1;
                          names.push_back(label_of(shm));
                      }
                      std::sort(names.begin(), names.end());
                      const bool different = std::unique(names.begin(), names.end()) == names.end();
                      for (const std::string &label : names)
                          if (asf_shm_remove(label.c_str()) != 0)
                              return 2;
                      return different ? 0 : 3;
                  }),
                  0);
}

TEST_P(Limits, ModesThatCannotBeSet) {
    if (!sysv())
        GTEST_SKIP() << "SysV's";
    EXPECT_EQ(in_child([] {
                  if (!refuse(SYS_shmctl, 1, IPC_SET, EPERM))
                      return 0;
                  const bool refused = !asf_shm_create_on("sysv", "read-only", 0400, 8) && errno == EPERM;
                  return refused && strstr(asf_shm_why(), "mode") ? 0 : 1;
              }),
              0);
    for (const Seen &s : all()) // memfd segments may belong to other tests
        EXPECT_EQ(s.backend, "memfd") << "nothing is left";
}

// A timer that fires often does not prevent the creation of a large segment.
TEST_P(Limits, Signals) {
    EXPECT_EQ(in_child([&] {
                  signal(SIGALRM, [](int) {});
                  const itimerval often = {{0, 1000}, {0, 1000}};
                  setitimer(ITIMER_REAL, &often, nullptr);
                  char *shm = asf_shm_create_on(GetParam(), "interrupted", 0600, 64 << 20);
                  return shm && asf_shm_remove(label_of(shm).c_str()) == 0 ? 0 : errno;
              }),
              0);
}

ASF_ON_NAMED_BACKENDS(Faults);
INSTANTIATE_TEST_SUITE_P(On, Files, testing::Values("posix"), backend_name);
ASF_ON_NAMED_BACKENDS(Permissions);
ASF_ON_EACH_BACKEND(Limits);

} // namespace
} // namespace shm
