// SPDX-License-Identifier: MIT
//
// asleep.h - waits until another thread or process sleeps, that is, waits for something.
#ifndef ASF_TESTS_ASLEEP_H
#define ASF_TESTS_ASLEEP_H

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/types.h>
#include <unistd.h>

namespace asi {

// Returns whether all threads of a process sleep, except the calling thread. In /proc/PID/stat, the state's
// letter follows the name in parentheses.
inline bool is_asleep(pid_t process) {
    const std::string self = std::to_string(gettid());
    std::error_code gone;
    std::filesystem::directory_iterator at("/proc/" + std::to_string(process) + "/task", gone), end;
    for (; !gone && at != end; at.increment(gone)) {
        std::string line;
        std::getline(std::ifstream(at->path() / "stat"), line);
        const size_t bracket = line.rfind(')');
        if (at->path().filename() != self && bracket != std::string::npos &&
            (line.at(bracket + 2) == 'R' || line.at(bracket + 2) == 'D'))
            return false;
    }
    return true;
}

// Requires three sightings, a millisecond apart, since the process may sleep for a moment before it reaches
// the wait.
inline void wait_until_asleep(pid_t process) {
    for (int seen = 0; seen < 3; seen = is_asleep(process) ? seen + 1 : 0)
        usleep(1000);
}

} // namespace asi

#endif
