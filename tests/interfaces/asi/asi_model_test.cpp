// SPDX-License-Identifier: MIT
//
// asi_model_test.cpp - random calls of the ASI, compared with a byte array, by one thread and by several that
// take turns; and the errors that these tests have found.
#include <mutex>

#include "tests/asleep.h"
#include "tests/interfaces/asi/asi_model.h"

namespace asi {
namespace {

struct Where {
    const char *name;
    Kind kind;
    const char *directory;
    unsigned threads;
};

class AsiModel : public testing::TestWithParam<Where> {
  protected:
    void SetUp() override {
        directory = std::string(GetParam().directory) + "/asi_model.XXXXXX";
        if (!mkdtemp(directory.data()))
            GTEST_SKIP() << GetParam().directory << ": " << strerror(errno);
    }

    void TearDown() override { std::filesystem::remove_all(directory); }

    std::string directory;
};

// Threads take turns, so one thread may free another's region.
void play(Model &model, unsigned threads, uint64_t steps) {
    std::mutex turn;
    const auto take_turns = [&] {
        for (;;) {
            const std::lock_guard<std::mutex> mine(turn);
            if (steps == 0 || model.has_failed())
                return;
            steps--;
            model.step();
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; i++)
        others.emplace_back(take_turns);
    take_turns();
    for (std::thread &t : others)
        t.join();
}

TEST_P(AsiModel, GivesWhatTheModelGives) {
    const Where &where = GetParam();
    const uint64_t seed = from_environment("ASF_MODEL_SEED", 1);
    Model model(where.kind, directory + "/file", seed);
    play(model, where.threads, from_environment("ASF_MODEL_STEPS", 20000));
    if (!model.has_failed())
        model.finish();
}

INSTANTIATE_TEST_SUITE_P(
    All, AsiModel,
    testing::Values(Where{"disk", Kind::file, "/tmp", 1}, Where{"disk_3", Kind::file, "/tmp", 3},
                    Where{"memory", Kind::file, "/dev/shm", 1}, Where{"memory_3", Kind::file, "/dev/shm", 3},
                    Where{"pipe", Kind::pipe, "/tmp", 1}, Where{"pipe_3", Kind::pipe, "/tmp", 3},
                    Where{"socket", Kind::socket, "/tmp", 1}, Where{"socket_3", Kind::socket, "/tmp", 3}),
    [](const auto &one) { return one.param.name; });

// --- errors that the model has found, call by call ---------------------------------------------------

class AsiFound : public Asi {
  protected:
    // Allocates a region of n bytes and frees it at once.
    static void pass(asf_cios *s, ssize_t n) {
        void *p = salloc(s, &n);
        EXPECT_EQ(sfree(s, p), 0);
    }

    static char *place(asf_cios *s, std::string_view text, int64_t at, int whence = SEEK_SET) {
        auto n = static_cast<ssize_t>(text.size());
        auto *p = static_cast<char *>(SallocAt(s, ASF_WRITE, &n, at, whence));
        EXPECT_NE(p, nullptr) << n;
        return p ? static_cast<char *>(memcpy(p, text.data(), text.size())) : p;
    }

    static char *read_at(asf_cios *s, ssize_t n, int64_t at) {
        auto *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, at, SEEK_SET));
        EXPECT_NE(p, nullptr) << n;
        return p;
    }
};

// Output has room in the buffer even if input stopped at an offset beyond the buffer's end.
TEST_F(AsiFound, OutputAfterInputHasRoom) {
    asf_cios *s = must_open(put_pattern("file", 300000), O_RDWR);
    pass(s, 131000);
    ssize_t n = 1000;
    void *p = Salloc(s, ASF_WRITE, &n);
    ASSERT_NE(p, nullptr);
    memset(p, 'x', 1000);
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(contents("file") == pattern(131000) + std::string(1000, 'x') + pattern(168000, 132000));
}

TEST_F(AsiFound, ASallocAtThatFailsLeavesTheMode) {
    asf_cios *s = must_open(put("file", "0123456789"), O_RDWR);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    ssize_t n = 1;
    void *p = sallocAt(s, &n, -1, SEEK_SET);
    expect_none(p, n, -EINVAL);
    give(s, "abcd");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "abcd456789");
}

TEST_F(AsiFound, ASallocAtThatFailsLeavesThePlace) {
    for (const int whence : {SEEK_SET, SEEK_CUR, SEEK_END}) {
        asf_cios *s = must_open(put_pattern("file", 300000), O_RDONLY);
        pass(s, 1000);
        ssize_t n = 5;
        void *p = sallocAt(s, &n, -1000000, whence);
        expect_none(p, n, -EINVAL);
        EXPECT_EQ(take(s, 10), pattern(10, 1000)) << "whence " << whence;
        EXPECT_EQ(sclose(s), 0);
    }
}

TEST_F(AsiFound, TheLatestRegionNeedNotLieLast) {
    asf_cios *s = must_open(put_pattern("file", 300000), O_RDWR);
    pass(s, 1000);
    ssize_t n = 100, few = 10, fewer = 5;
    void *after = salloc(s, &n), *before = sallocAt(s, &few, 0, SEEK_SET);
    EXPECT_EQ(srealloc(s, before, &fewer), before) << fewer;
    EXPECT_EQ(take(s, 5), pattern(5, 5));
    EXPECT_EQ(sfree(s, before), 0);
    EXPECT_EQ(sfree(s, after), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(AsiFound, ANegativePlaceIsNoErrorsNumber) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    for (asf_cios *s :
         {asf_sopen_fd(ends[1], O_WRONLY, nullptr), must_open(path("file"), O_WRONLY | O_CREAT | O_APPEND)}) {
        ssize_t n = 5;
        EXPECT_EQ(sallocAt(s, &n, -1, SEEK_SET), nullptr);
        EXPECT_EQ(n, asf_module_name(s) == std::string_view("pipe") ? -ESPIPE : -EINVAL);
        EXPECT_EQ(sclose(s), 0);
    }
    ::close(ends[0]);
}

TEST_F(AsiFound, InputSeesTheOutputThatWasLeftBehind) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDWR);
    char *kept = place(s, "kept", 1000);
    ssize_t n = 10;
    EXPECT_EQ(sfree(s, SallocAt(s, ASF_READ, &n, 0, SEEK_SET)), 0);
    EXPECT_EQ(take(s, 90), pattern(90, 10));
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(take(s, 904), pattern(900, 100) + "kept");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(AsiFound, AbandonedOutputMovesNoPlace) {
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT);
    give(s, "0123");
    ssize_t n = 100;
    EXPECT_EQ(sabandon(s, salloc(s, &n)), 0);
    for (const int whence : {SEEK_CUR, SEEK_END})
        EXPECT_EQ(sfree(s, place(s, "45", 0, whence)), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "01234545");
}

TEST_F(AsiFound, TheEndIsNotWhereNothingIsPending) {
    asf_cios *s = must_open(put("file", "0123"), O_WRONLY);
    char *far = place(s, "far", 1000);
    ssize_t n = 0;
    EXPECT_EQ(sfree(s, srealloc(s, far, &n)), 0);
    EXPECT_EQ(sfree(s, place(s, "45", 0, SEEK_END)), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "012345");
}

TEST_F(AsiFound, APlaceAfterInputIsFromWhereItStopped) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDWR);
    pass(s, 10);
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    EXPECT_EQ(sfree(s, place(s, "x", 5, SEEK_CUR)), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file").substr(0, 20), pattern(15) + "x" + pattern(4, 16));
}

TEST_F(AsiFound, ASallocAtToReadLeavesAStreamThatCannot) {
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT);
    ssize_t n = 4, some = 10;
    void *kept = salloc(s, &n), *none = SallocAt(s, ASF_READ, &some, 0, SEEK_SET);
    expect_none(none, some, -EBADF);
    memcpy(kept, "kept", 4);
    give(s, " on");
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file"), "kept on");
}

TEST_F(AsiFound, SflushSetsTheOffsetBesideAPlace) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDWR);
    char *kept = place(s, "kept", 1000);
    ssize_t n = 10;
    EXPECT_EQ(sfree(s, SallocAt(s, ASF_READ, &n, 0, SEEK_SET)), 0);
    pass(s, 5);
    EXPECT_EQ(sflush(s), -EBUSY);
    EXPECT_EQ(lseek(asf_fileno(s), 0, SEEK_CUR), 15);
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sclose(s), 0);
}

// The invariants hold while output waits after input that was read ahead.
TEST_F(AsiFound, ARefusedScloseBehindInput) {
    asf_cios *s = must_open(put_pattern("file", 10000), O_RDWR);
    pass(s, 1);
    ssize_t n = 4;
    void *kept = Salloc(s, ASF_WRITE, &n);
    memcpy(kept, "kept", 4);
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(sfree(s, kept), 0);
    ASSERT_EQ(set_stream_mode(s, ASF_READ), s);
    EXPECT_EQ(take(s, 3), pattern(3, 5));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(contents("file").substr(0, 6), pattern(1) + "kept" + pattern(1, 5));
}

// The stream's own writes do not change regions, either.
TEST_F(AsiFound, RegionsApartStayWhileTheFileIsWritten) {
    asf_cios *s = must_open(put_pattern("file", 300000), O_RDWR);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(sfree(s, read_at(s, 10, 1000 * i)), 0);
    char *kept = read_at(s, 10, 5000);
    EXPECT_EQ(sfree(s, place(s, "0123456789", 5000)), 0);
    EXPECT_EQ(sflush(s), 0);
    EXPECT_EQ(std::string(kept, 10), pattern(10, 5000));
    EXPECT_EQ(sfree(s, kept), 0);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(AsiFound, RegionsApartAreTheLatest) {
    asf_cios *s = must_open(put_pattern("file", 900000), O_RDONLY);
    for (int i = 0; i < 100; i++) // the later half reads from the map
        for (const ssize_t wanted : {20, 10, 300, 200000}) {
            char *beside = read_at(s, 5, 3010), *p = read_at(s, wanted / 2, 3000);
            EXPECT_EQ(sflush(s), 0);
            for (ssize_t n : {wanted, wanted + 1}) {
                p = static_cast<char *>(srealloc(s, p, &n));
                ASSERT_NE(p, nullptr) << n;
                ASSERT_EQ(first_wrong(p, static_cast<size_t>(n), 3000), static_cast<size_t>(n));
            }
            EXPECT_EQ(sfree(s, beside), 0);
            EXPECT_EQ(sfree(s, p), 0);
        }
    EXPECT_EQ(sclose(s), 0);
}

// Zero pages that replaced lost bytes are not read after the file has grown again.
TEST_F(AsiFound, AFileThatWasCutAndGrowsIsReadOn) {
    const std::string file = put_pattern("file", 300000);
    asf_cios *s = must_open(file, O_RDONLY);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(sfree(s, read_at(s, 10, 1000 * i)), 0);
    const volatile char *cut = read_at(s, 10, 200000);
    ASSERT_EQ(truncate(file.c_str(), 1000), 0);
    const bool mapped = cut[0] == '\0';
    EXPECT_EQ(sfree(s, const_cast<char *>(cut)), mapped ? -EIO : 0);
    put_pattern("file", 300000);
    char *p = read_at(s, 10, 200000);
    EXPECT_EQ(std::string(p, 10), pattern(10, 200000));
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
}

// A thread waits at the bound; `end` lets it continue.
template <typename F> void wait_at_bound(asf_cios *s, F end) {
    ssize_t n = 200000;
    void *kept = salloc(s, &n);
    asf_set_bound(s, 1000, 1);
    std::thread waiter([s] {
        ssize_t more = 300000;
        void *p = salloc(s, &more);
        EXPECT_NE(p, nullptr) << more;
        EXPECT_EQ(sabandon(s, p), 0);
    });
    wait_until_asleep(getpid());
    end(kept);
    waiter.join();
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(AsiFound, AWaitEndsWithTheOnlyRegion) {
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT);
    wait_at_bound(s, [s](void *kept) { EXPECT_EQ(sfree(s, kept), 0); });
}

TEST_F(AsiFound, AWaitEndsAtAnotherPlace) {
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT);
    wait_at_bound(s, [s](void *kept) {
        char *far = place(s, "far", 1000000);
        EXPECT_EQ(sfree(s, far), 0);
        wait_until_asleep(getpid());
        EXPECT_EQ(sfree(s, kept), 0);
    });
}

TEST_F(AsiFound, AWaitEndsWithAnotherBound) {
    asf_cios *s = must_open(path("file"), O_WRONLY | O_CREAT);
    wait_at_bound(s, [s](void *kept) {
        asf_set_bound(s, 0, 0);
        wait_until_asleep(getpid());
        EXPECT_EQ(sfree(s, kept), 0);
    });
}

} // namespace
} // namespace asi
