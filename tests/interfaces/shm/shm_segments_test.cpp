// SPDX-License-Identifier: MIT
//
// shm_segments_test.cpp - segments are made, can be found only by their labels, are read by other processes,
// and outlive their makers.
#include <atomic>
#include <thread>

#include "shm_test.h"

namespace shm {
namespace {

TEST_P(Segments, HasTheNotesLayout) {
    char *shm = make("simdat-3/23-seriesb", 1000);
    const std::string label = label_of(shm);
    EXPECT_EQ(label.substr(label.find(' ')), " simdat-3/23-seriesb");
    EXPECT_EQ(std::string(shm), label + "\n") << "a line, and a null byte";
    EXPECT_EQ(asf_shm_size(shm), 1000U);
    for (size_t i = 0; i < 1000; i++)
        ASSERT_EQ(shm[ASF_SHM_HEAD + i], 0) << "the data is zero";
    fill(shm);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, IsReadAfterItsCreatorEnded) {
    const std::string label = made_by_another(100000);
    for (const char *ending : {"", "\n"}) {
        char *shm = asf_shm_open((label + ending).c_str());
        ASSERT_NE(shm, nullptr) << asf_shm_why();
        EXPECT_TRUE(is_filled(shm, 100000));
        EXPECT_EQ(asf_shm_close(shm), 0);
    }
}

TEST_P(Segments, IsSharedWhileBothHaveIt) {
    char *shm = make("shared", 8);
    EXPECT_EQ(in_child([&] {
                  char *own = asf_shm_open_update(shm);
                  if (!own || own == shm)
                      return 1;
                  memcpy(own + ASF_SHM_HEAD, "written", 8);
                  return asf_shm_close(own);
              }),
              0);
    EXPECT_STREQ(shm + ASF_SHM_HEAD, "written");
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, ReadersCannotWrite) {
    const std::string label = made_by_another(10);
    const auto write_to = [&](size_t at) {
        return in_child([&] {
            char *shm = asf_shm_open(label.c_str());
            signal(SIGSEGV, SIG_DFL);
            static_cast<volatile char *>(shm)[at] = 'x';
            return 0;
        });
    };
    EXPECT_NE(write_to(0), 0) << "the label";
    EXPECT_NE(write_to(ASF_SHM_HEAD), 0) << "the data";
    char *shm = asf_shm_open(label.c_str());
    ASSERT_NE(shm, nullptr);
    EXPECT_TRUE(is_filled(shm, 10));
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, MayBeEmpty) {
    char *shm = make("empty", 0);
    char *again = asf_shm_open(shm);
    ASSERT_NE(again, nullptr) << asf_shm_why();
    EXPECT_EQ(asf_shm_size(again), 0U);
    EXPECT_EQ(asf_shm_close(again), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, HoldsMuch) {
    constexpr size_t n = (64 << 20) + 4097;
    const std::string label = made_by_another(n);
    char *shm = asf_shm_open(label.c_str());
    ASSERT_NE(shm, nullptr) << asf_shm_why();
    EXPECT_TRUE(is_filled(shm, n));
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, SameNamesAreDifferentSegments) {
    std::vector<char *> same;
    for (int i = 0; i < 100; i++) {
        same.push_back(make("same", 8));
        memcpy(same.back() + ASF_SHM_HEAD, &i, sizeof i);
    }
    for (int i = 0; i < 100; i++) {
        char *shm = asf_shm_open(same[static_cast<size_t>(i)]);
        ASSERT_NE(shm, nullptr);
        EXPECT_EQ(memcmp(shm + ASF_SHM_HEAD, &i, sizeof i), 0);
        EXPECT_EQ(asf_shm_close(shm), 0);
        EXPECT_EQ(asf_shm_close(same[static_cast<size_t>(i)]), 0);
    }
}

TEST_P(Segments, Names) {
    const auto refused = [&](const char *name) {
        errno = 0;
        char *shm = asf_shm_create_on(GetParam(), name, 0600, 8);
        EXPECT_EQ(shm, nullptr);
        return errno;
    };
    EXPECT_EQ(refused(nullptr), EINVAL);
    EXPECT_EQ(refused(""), EINVAL);
    EXPECT_EQ(refused(" "), EINVAL);
    EXPECT_EQ(refused(" leading"), EINVAL);
    EXPECT_EQ(refused("trailing "), EINVAL);
    EXPECT_EQ(refused((std::string(79, 'n') + " ").c_str()), EINVAL) << "which is not cut";
    EXPECT_EQ(refused("two\nlines"), EINVAL);
    EXPECT_EQ(refused("a\ttab"), EINVAL);
    EXPECT_EQ(refused("\x7f"), EINVAL);
    const std::string many(200, 'n'), blank_at_the_cut = std::string(79, 'n') + " and more";
    const auto accepted = [&](const std::string &name, const std::string &as) {
        char *shm = make(name, 8);
        const std::string label = label_of(shm);
        EXPECT_EQ(label, identifier_of(label) + " " + as);
        char *again = asf_shm_open(shm);
        EXPECT_NE(again, nullptr) << asf_shm_why();
        EXPECT_EQ(asf_shm_close(again), 0);
        EXPECT_EQ(asf_shm_close(shm), 0);
    };
    accepted("x", "x");
    accepted("of several words", "of several words");
    accepted("../../etc/passwd %s%n", "../../etc/passwd %s%n");
    accepted("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    accepted(many, many.substr(0, ASF_SHM_NAME));
    accepted(blank_at_the_cut, std::string(79, 'n'));
}

TEST_P(Segments, OnlyLabelsAreTaken) {
    const std::string good = made_by_another(8), id = identifier_of(good);
    const std::string words = "not a label";
    for (const std::string bad : {"",
                                  "\n",
                                  " ",
                                  "name alone",
                                  " 1 x",
                                  "-1 x",
                                  "+1 x",
                                  "0x10 x",
                                  "1.0 x",
                                  "01 x",
                                  "12345678901234567890 x",
                                  "4294967296 x",
                                  "2147483648 x",
                                  "1/../1 x",
                                  "../1 x",
                                  "p x",
                                  "p1 x",
                                  "p1. x",
                                  "p1.0123456789a x",
                                  "p1.0123456789abc x",
                                  "p1.0123456789AB x",
                                  "p01.0123456789ab x",
                                  "p-1.0123456789ab x",
                                  "p1./../../etc/ x",
                                  "p12345678901.0123456789ab x",
                                  "m x",
                                  "m1 x",
                                  "m1.2 x",
                                  "m1.2. x",
                                  "m1.2.0123456 x",
                                  "m1.2.012345678 x",
                                  "m1.02.01234567 x",
                                  "m01.2.01234567 x",
                                  "m1./2.01234567 x",
                                  "m1.-1.01234567 x",
                                  "1  x",
                                  "1 x ",
                                  "1 x\ty",
                                  "1 x\n\n"})
        expect_refused(bad, EINVAL, words);
    expect_refused("1 " + std::string(200, 'x'), EINVAL, words);
    expect_refused(id, EINVAL, "lacks the name");
    expect_refused(id + "\n", EINVAL, "lacks the name");
    errno = 0;
    EXPECT_EQ(asf_shm_open(nullptr), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_P(Segments, AnotherNameIsStale) {
    const std::string good = made_by_another(8), id = identifier_of(good);
    for (const char *name : {"x", "another'", "another's!", "ANOTHER'S", "another's another's"})
        expect_refused(id + " " + name, ESTALE, "stale or forged");
}

TEST_P(Segments, RemovedIsGone) {
    const std::string label = made_by_another(8);
    EXPECT_EQ(remove(label), 0) << asf_shm_why();
    expect_refused(label, ENOENT, "no such segment");
    EXPECT_EQ(asf_shm_remove(label.c_str()), -ENOENT);
    expect_refused(posix()  ? std::string("p1.0123456789ab x")
                   : sysv() ? std::string("2147483647 x")
                            : "m" + std::to_string(getpid()) + ".0.01234567 x",
                   ENOENT, "no such segment");
}

TEST_P(Segments, RemovedUnderAReaderItStays) {
    const std::string label = made_by_another(5000);
    char *shm = asf_shm_open(label.c_str());
    ASSERT_NE(shm, nullptr);
    EXPECT_EQ(remove(label), 0);
    EXPECT_TRUE(is_filled(shm, 5000));
    expect_refused(label, ENOENT, sysv() ? "has been removed" : "no such segment");
    EXPECT_EQ(find(all(), label), nullptr);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, WrongNamesRemoveNothing) {
    const std::string label = made_by_another(8), id = identifier_of(label);
    EXPECT_EQ(asf_shm_remove((id + " other").c_str()), -ESTALE);
    EXPECT_EQ(asf_shm_remove(id.c_str()), -EINVAL) << "a whole one has a name";
    EXPECT_EQ(asf_shm_remove("nonsense"), -EINVAL);
    EXPECT_EQ(asf_shm_remove(nullptr), -EINVAL);
    EXPECT_NE(find(all(), label), nullptr);
}

TEST_P(Segments, ClosesOnlyWhatIsAttached) {
    const auto refused = [](char *p) {
        errno = 0;
        EXPECT_EQ(asf_shm_close(p), -1);
        return errno;
    };
    char *shm = make("closed", 8);
    char local[ASF_SHM_HEAD + 8] = "";
    EXPECT_EQ(refused(nullptr), EINVAL);
    EXPECT_EQ(refused(local), EINVAL);
    EXPECT_EQ(refused(shm + 1), EINVAL);
    EXPECT_EQ(asf_shm_size(local), 0U);
    EXPECT_EQ(asf_shm_size(nullptr), 0U);
    EXPECT_EQ(asf_shm_close(shm), 0);
    EXPECT_EQ(refused(shm), EINVAL) << "twice";
}

TEST_P(Segments, AttachedTwiceIsTwoPlaces) {
    char *shm = make("twice", 8), *one = asf_shm_open(shm), *two = asf_shm_open(shm);
    ASSERT_TRUE(one && two);
    EXPECT_NE(one, two);
    EXPECT_EQ(asf_shm_close(one), 0);
    EXPECT_EQ(two[ASF_SHM_HEAD], 0) << "still there";
    EXPECT_EQ(asf_shm_close(two), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, AForkedChildHasIt) {
    char *shm = make("forked", 100);
    fill(shm);
    EXPECT_EQ(in_child([&] {
                  if (!is_filled(shm, 100))
                      return 1;
                  shm[ASF_SHM_HEAD] = 'c';
                  return asf_shm_close(shm);
              }),
              0);
    EXPECT_EQ(shm[ASF_SHM_HEAD], 'c');
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, ThreadsMakeAndCloseThem) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the runtime does not see that memory and descriptors are given back";
#endif
    std::vector<std::thread> threads;
    std::vector<int> failures(4);
    for (int &failed : failures)
        threads.emplace_back([&] {
            for (int i = 0; i < 100; i++) {
                char *shm = asf_shm_create_on(GetParam(), "thread's", 0600, 1000);
                const std::string label = shm ? label_of(shm) : "";
                if (shm)
                    fill(shm);
                char *again = asf_shm_open(label.c_str());
                failed += !again || !is_filled(again, 1000) || asf_shm_close(again) != 0;
                failed += asf_shm_close(shm) != 0 || asf_shm_remove(label.c_str()) != 0;
            }
        });
    for (std::thread &t : threads)
        t.join();
    for (int failed : failures)
        EXPECT_EQ(failed, 0);
}

TEST_P(Segments, AForkAmongThreadsFindsTheListWhole) {
    char *shm = make("kept", 8);
    std::atomic<bool> stop = false;
    std::thread other([&] {
        while (!stop) {
            char *again = asf_shm_open(shm);
            asf_shm_close(again);
        }
    });
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(in_child([&] {
                      alarm(20);
                      char *again = asf_shm_open(shm);
                      return again && asf_shm_close(again) == 0 && asf_shm_close(shm) == 0 ? 0 : 1;
                  }),
                  0);
    stop = true;
    other.join();
    EXPECT_EQ(asf_shm_close(shm), 0);
}

TEST_P(Segments, DescriptorsStandAtTheData) {
    const std::string label = made_by_another(3000);
    const int fd = asf_shm_fd(label.c_str(), O_RDONLY);
    if (sysv()) {
        EXPECT_EQ(fd, -EOPNOTSUPP);
        return;
    }
    ASSERT_GE(fd, 0) << asf_shm_why();
    std::string data(4000, '\0');
    ASSERT_EQ(read(fd, data.data(), data.size()), 3000);
    for (size_t i = 0; i < 3000; i++)
        ASSERT_EQ(static_cast<unsigned char>(data[i]), pattern_at(i));
    EXPECT_EQ(write(fd, "x", 1), -1) << "opened to read";
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(close(fd), 0);
    const int update = asf_shm_fd(label.c_str(), O_RDWR);
    ASSERT_GE(update, 0);
    EXPECT_EQ(write(update, "new", 3), 3);
    EXPECT_EQ(close(update), 0);
    char *shm = asf_shm_open(label.c_str());
    EXPECT_EQ(memcmp(shm + ASF_SHM_HEAD, "new", 3), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
    EXPECT_EQ(asf_shm_fd(label.c_str(), O_WRONLY), -EINVAL);
    EXPECT_EQ(asf_shm_fd(label.c_str(), O_RDONLY | O_CREAT), -EINVAL);
    EXPECT_EQ(asf_shm_fd((identifier_of(label) + " x").c_str(), O_RDONLY), -ESTALE);
}

TEST_P(Segments, AreAttachedByDescriptor) {
    const std::string label = made_by_another(3000);
    if (sysv())
        GTEST_SKIP() << "which have none";
    const int fd = asf_shm_fd(label.c_str(), O_RDONLY), update = asf_shm_fd(label.c_str(), O_RDWR);
    EXPECT_EQ(remove(label), 0) << "no name is needed";
    char *shm = asf_shm_open_fd(fd, O_RDONLY), *own = asf_shm_open_fd(update, O_RDWR);
    ASSERT_TRUE(shm && own) << asf_shm_why();
    EXPECT_EQ(label_of(shm), label);
    EXPECT_TRUE(is_filled(shm, 3000));
    EXPECT_EQ(asf_shm_open_fd(fd, O_RDWR), nullptr);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(asf_shm_open_fd(fd, O_WRONLY), nullptr);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(close(fd) | close(update), 0);
    own[ASF_SHM_HEAD] = 'x';
    EXPECT_EQ(shm[ASF_SHM_HEAD], 'x');
    EXPECT_EQ(asf_shm_close(shm) | asf_shm_close(own), 0);
}

TEST_P(Segments, ErrnoIsLeftAloneOnSuccess) {
    errno = 4711;
    char *shm = make("errno", 8);
    char *again = asf_shm_open(shm);
    EXPECT_EQ(asf_shm_close(again), 0);
    all();
    EXPECT_EQ(asf_shm_close(shm), 0);
    EXPECT_EQ(errno, 4711);
}

ASF_ON_EACH_BACKEND(Segments);

TEST(Descriptors, OnOtherThingsAreRefused) {
    const auto refused = [](int fd) {
        errno = 0;
        EXPECT_EQ(asf_shm_open_fd(fd, O_RDONLY), nullptr);
        return errno;
    };
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
              null = open("/dev/null", O_RDWR | O_CLOEXEC);
    EXPECT_EQ(refused(-1), EBADF);
    EXPECT_EQ(refused(ends[0]), ESPIPE);
    EXPECT_EQ(refused(file), ESTALE);
    EXPECT_EQ(refused(null), ESTALE);
    for (const int fd : {ends[0], ends[1], file, null})
        close(fd);
}

TEST(Backends, AreChosenByName) {
    errno = 0;
    EXPECT_EQ(asf_shm_create_on("floppy", "x", 0600, 8), nullptr);
    EXPECT_EQ(errno, EINVAL);
    char *shm = asf_shm_create("by default", 0600, 8);
    ASSERT_NE(shm, nullptr) << asf_shm_why();
    EXPECT_EQ(shm[0], 'p');
    EXPECT_EQ(asf_shm_remove(label_of(shm).c_str()), 0);
    EXPECT_EQ(asf_shm_close(shm), 0);
}

} // namespace
} // namespace shm
