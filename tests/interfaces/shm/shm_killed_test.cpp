// SPDX-License-Identifier: MIT
//
// shm_killed_test.cpp - writers and readers are killed at random points. All segments that they leave are
// listed and can be removed, nothing hangs, and no reader takes an unfinished segment for a complete one.
#include <algorithm>
#include <random>

#include "shm_test.h"

namespace shm {
namespace {

constexpr size_t size = 30000;

class Killed : public Segments {
  protected:
    // Makes segments for ever, and sends the label of each filled one through a pipe.
    void write_for_ever(int to) {
        for (;;) {
            char head[ASF_SHM_HEAD] = "";
            char *shm = asf_shm_create_on(GetParam(), "written", 0600, size);
            if (!shm)
                _exit(1);
            fill(shm);
            memcpy(head, shm, strlen(shm));
            if (write(to, head, sizeof head) != sizeof head || asf_shm_close(shm) != 0)
                _exit(2);
        }
    }

    // Reads and removes the segments whose labels arrive. Exit status 3: a segment was wrong.
    static void read_for_ever(int from) {
        char label[ASF_SHM_HEAD];
        for (ssize_t n; (n = read(from, label, sizeof label)) == sizeof label;) {
            char *shm = asf_shm_open(label);
            if (!shm || !is_filled(shm, size))
                _exit(3);
            if (asf_shm_remove(label) != 0 || asf_shm_close(shm) != 0)
                _exit(4);
        }
        _exit(0);
    }

    // Kills a process after a random pause.
    void kill_one(pid_t pid) {
        usleep(static_cast<useconds_t>(random() % 3000));
        kill(pid, SIGKILL);
    }

    static int wait_for(pid_t pid) {
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    }

    // Returns the segments left. A process's memory stays attached while another process reads its /proc
    // entries, possibly a moment after its end. So waits until all are marked as leaked.
    static std::vector<Seen> left_behind() {
        std::vector<Seen> segments = named();
        const auto leaked = [](const Seen &s) { return s.info.leaked != 0; };
        for (int i = 0; i < 100 && !std::all_of(segments.begin(), segments.end(), leaked); i++) {
            usleep(20000);
            segments = named();
        }
        return segments;
    }

    // Returns the segments except those of memfd: these are found by /proc, which also shows other tests'.
    static std::vector<Seen> named() {
        std::vector<Seen> segments = all();
        std::erase_if(segments, [](const Seen &s) { return s.backend == "memfd"; });
        return segments;
    }

    // Every segment is complete or unfinished, complete ones have the right bytes, and all can be removed.
    void clean_up() {
        for (const Seen &s : left_behind()) {
            if (s.info.state == ASF_SHM_WHOLE) {
                char *shm = asf_shm_open(s.label.c_str());
                ASSERT_NE(shm, nullptr) << s.label << ": " << asf_shm_why();
                EXPECT_EQ(asf_shm_size(shm), size);
                EXPECT_EQ(asf_shm_close(shm), 0);
            } else {
                EXPECT_EQ(s.info.state, ASF_SHM_UNFINISHED) << s.label;
                unfinished++;
            }
            EXPECT_TRUE(s.info.leaked) << s.label << ": it is a leak, whatever its state";
            EXPECT_EQ(asf_shm_remove(s.label.c_str()), 0) << s.label << ": " << asf_shm_why();
        }
        EXPECT_EQ(entries(), 0) << "something is there that was not listed";
    }

    // Returns how many objects the system has: those in /dev/shm and those of shmget.
    static int entries() {
        struct shm_info totals = {};
        shmctl(0, SHM_INFO, reinterpret_cast<shmid_ds *>(&totals));
        return totals.used_ids + system("test -z \"$(ls -A /dev/shm)\"");
    }

    void SetUp() override {
        if (!Isolated::isolated)
            GTEST_SKIP() << "counts all there is: in namespaces of the test's own only";
    }

    std::mt19937 random{7};
    int unfinished = 0;
};

TEST_P(Killed, EitherSideAtRandom) {
    for (int round = 0; round < rounds(200) && !HasFailure(); round++) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t writer = fork();
        if (writer == 0) {
            close(ends[0]);
            signal(SIGPIPE, SIG_DFL);
            write_for_ever(ends[1]);
        }
        const pid_t reader = fork();
        if (reader == 0) {
            close(ends[1]);
            read_for_ever(ends[0]);
        }
        close(ends[0]);
        close(ends[1]);
        kill_one(round % 2 ? writer : reader);
        const int wrote = wait_for(writer), read = wait_for(reader); // the other side ends by itself
        EXPECT_TRUE(wrote == -SIGKILL || wrote == -SIGPIPE) << wrote;
        EXPECT_TRUE(read == -SIGKILL || read == 0) << read;
        clean_up();
    }
    if (posix()) {
        EXPECT_EQ(unfinished, 0) << "named when they are whole";
    }
}

// Kills the process while it makes a segment, when most can be left behind.
TEST_P(Killed, WhileMaking) {
    for (int round = 0; round < rounds(200) && !HasFailure(); round++) {
        const pid_t maker = fork();
        if (maker == 0)
            for (;;) {
                char *shm = asf_shm_create_on(GetParam(), "made", 0600, size);
                if (!shm || asf_shm_remove(label_of(shm).c_str()) != 0 || asf_shm_close(shm) != 0)
                    _exit(1);
            }
        kill_one(maker);
        EXPECT_EQ(wait_for(maker), -SIGKILL);
        clean_up();
    }
}

ASF_ON_NAMED_BACKENDS(Killed);

} // namespace
} // namespace shm
