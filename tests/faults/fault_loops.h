// SPDX-License-Identifier: MIT
//
// fault_loops.h - scenarios that run while the n-th call of one kind fails, once or from then on, for
// every n until none fails: system calls by the table of lib/sys/syscalls.h and by number, memory and
// mappings by the linker's --wrap.  Whatever fails, nothing crashes, no descriptor stays open, and wrong or
// missing bytes are reported.
#ifndef ASF_TESTS_FAULT_LOOPS_H
#define ASF_TESTS_FAULT_LOOPS_H

#include <cstdint>
#include <functional>
#include <ostream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/streams/private_headers.h"

#include <asf/asf.h>

namespace faults {

// The text that each scenario moves.
extern const std::string content;

// The text that a scenario has read, and the first error that was reported to it.
struct Outcome {
    std::string text;
    int error = 0;
    void told(int64_t rc) {
        if (rc < 0 && !error)
            error = (int)rc;
    }
};

struct Scenario {
    const char *name;
    std::function<Outcome()> run;
    bool input;                             // the text read is a beginning of the content, whatever failed
    std::function<void()> after = nullptr;  // without faults: check the files that are left, and remove them
    std::function<void()> before = nullptr; // once, for all faults
    std::set<int> usual = {};               // errors that are no failure in this scenario
};
inline std::ostream &operator<<(std::ostream &out, const Scenario &s) {
    return out << s.name;
}
inline std::string name_of(const testing::TestParamInfo<Scenario> &scenario) {
    return scenario.param.name;
}

// Ends the faults of this scenario, before its results are checked.
void end_faults();

std::string read_file(const char *name);
asf_cios *open_stream(const char *name, int flags, Outcome &o);
void close_stream(asf_cios *s, Outcome &o);
// A failed step is tried again, as programs do.
enum { TRIES = 3 };
void read_to_end(asf_cios *s, ssize_t chunk, Outcome &o);
bool put(asf_cios *s, const char *from, size_t n, Outcome &o);

// In a directory with the content in "in".
class FaultLoops : public testing::TestWithParam<Scenario> {
  protected:
    FaultLoops();
    ~FaultLoops() override;
    std::string folder;
};

} // namespace faults

#endif
