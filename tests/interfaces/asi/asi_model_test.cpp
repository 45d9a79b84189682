// SPDX-License-Identifier: MIT
//
// asi_model_test.cpp - random calls of the ASI against a byte array, by one thread and by
// several that take turns; and threads truly at once, of whose regions what must hold in
// each order of their calls is checked.
// Layer: tests.
#include <mutex>

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

// Threads that take turns: regions are given back by others than have taken them.
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

// --- what the model has found, call by call ---------------------------------------------------

class AsiFound : public Asi {
  protected:
    // A region of n bytes that is given back at once.
    static void pass(asf_cios *s, ssize_t n) {
        void *p = salloc(s, &n);
        EXPECT_EQ(sfree(s, p), 0);
    }
};

// Not from where input stopped beyond the buffer's end.
TEST_F(AsiFound, OutputAfterInputHasRoom) {
    if (!kNewRules)
        GTEST_SKIP() << "it has not";
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
    if (!kNewRules)
        GTEST_SKIP() << "the stream reads after it";
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
        EXPECT_TRUE(n == -ESPIPE || n == -EINVAL) << n;
        EXPECT_EQ(sclose(s), 0);
    }
    ::close(ends[0]);
}

} // namespace
} // namespace asi
