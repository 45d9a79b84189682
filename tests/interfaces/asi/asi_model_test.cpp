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

} // namespace
} // namespace asi
