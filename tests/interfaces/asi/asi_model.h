// SPDX-License-Identifier: MIT
//
// asi_model.h - random calls of the Alloc Stream Interface, compared with a byte array: the expected state of
// a stream, and of the file, pipe or socket below it, after each call.
//   ASF_MODEL_SEED, ASF_MODEL_STEPS in the environment: the seed, and the number of calls
//   ASF_MODEL_CALLS                    how many of the last calls a failure shows
#ifndef ASF_TESTS_ASI_MODEL_H
#define ASF_TESTS_ASI_MODEL_H

#include <deque>
#include <thread>

#include "tests/interfaces/asi/asi_test.h"
#include "tests/random.h"

namespace asi {

using tests::from_environment;
using tests::Random;

// The kind of file below the stream.
enum class Kind { file, pipe, socket };

class Model {
  public:
    Model(Kind k, std::string p, uint64_t first) : Model(k, std::move(p), Random(first), first) {}
    Model(Kind k, std::string p, Random choices, uint64_t first = 0);
    ~Model();
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    void step();   // make one random call and check its result
    void finish(); // free all regions and write all output
    bool has_failed() const { return failed; }
    bool is_used_up() const { return random.is_used_up(); }

  private:
    struct Kept {
        char *p;
        size_t at;         // its offset
        std::string bytes; // the input's bytes, or the bytes to write
        bool output, filled;
        // Output has no gaps within a run, and waits only for the regions of its run with lower order.
        uint64_t order = 0, run = 0;
        bool apart = false; // input of a positional call
        bool holds_output() const { return output && !bytes.empty(); }
    };
    struct Got {
        char *p;
        ssize_t n;
    };
    struct Target {
        int64_t offset;
        int whence;
        int64_t at; // the absolute offset, or -EINVAL
    };

    // asi_model.cpp: the calls
    void do_salloc();
    void starve(ssize_t n);
    void do_Salloc();
    void do_sallocAt();
    void do_SallocAt();
    void do_sfree();
    void do_abandon();
    void do_srealloc();
    void do_sflush();
    void do_set_stream_mode();
    void do_copy();
    void do_copy_from();
    void do_reopen();
    void do_wrong();

    Got call_salloc(ssize_t n, bool some);
    Got call_Salloc(asf_mode m, ssize_t n);
    Got call_sallocAt(ssize_t n, const Target &t);
    Got call_SallocAt(asf_mode m, ssize_t n, const Target &t);
    Got call_srealloc(char *p, ssize_t n);
    int call_sfree(char *p);

    // asi_model.cpp: the expected results
    void allocated(const Got &got, ssize_t asked, bool some);
    void input(const Got &got, size_t asked, bool some);
    void output(const Got &got, size_t asked);
    bool refused(const Got &got, int error);
    int switching(asf_mode to) const;
    void switched(asf_mode to);
    void sought(const Target &t, const Got &got, ssize_t n);
    int seeking(const Target &t, const Got &got) const;
    bool refused_in_part(const Got &got, int seeking, int switching);
    bool may_be_written(asf_mode m, int64_t at, size_t n) const;
    void left_behind();
    void resized(Kept &kept, const Got &got, size_t asked);
    void resized_input(Kept &kept, const Got &got, size_t asked);
    void resized_output(Kept &kept, const Got &got, size_t asked);
    void give_back(size_t i);
    void complete(Kept kept);
    void apply(const Kept &kept);
    void apply_waiting();
    void left_out(const Kept &kept);
    bool is_free(size_t at, size_t n) const;
    bool is_behind(const Kept &kept) const;
    bool begins(const char *p) const;

    // asi_model_below.cpp: the file, pipe or socket
    void open();
    void open_file();
    void open_pipe();
    void open_socket();
    void close();
    void feed(size_t most);
    void start_draining(int fd);
    void check_below();
    void check_offset();
    static std::string read_all(const std::string &name);

    size_t length();
    size_t at_hand();
    bool has_stopped() { return in_at() == stop; }
    bool may_starve() const { return !seekable() && !fed_all && stop == nowhere; }
    Target target();
    Target far_target();
    size_t end() const;
    bool seekable() const { return kind == Kind::file; }
    bool has_output() const;
    bool has_output_here() const;
    bool has_places() const { return seekable() && !append; }
    std::string &in() { return seekable() ? file : fed; }
    size_t &in_at() { return seekable() ? pos : fed_pos; }
    size_t &out_at() { return !seekable() ? sent_end : append ? append_end : pos; }

    void note(const char *format, ...) __attribute__((format(printf, 2, 3)));
    void fail(const std::string &what);
    template <typename F> auto locked(F call) {
        lockAsfStream(s);
        auto result = call();
        unlockAsfStream(s);
        return result;
    }

    const Kind kind;
    const std::string path;
    const uint64_t seed;
    Random random;
    uint64_t steps = 0;
    bool failed = false;
    std::deque<std::string> journal;

    asf_cios *s = nullptr;
    int fd = -1; // the stream's descriptor, if known
    bool reads = false, writes = false, append = false;
    asf_mode mode = ASF_READ;

    std::string file;      // the expected contents, with all complete output
    size_t pos = 0;        // the stream's offset
    size_t append_end = 0; // the file's end, with incomplete output
    std::string fed, sent; // bytes sent to the stream, and by it, through a pipe or socket
    size_t fed_pos = 0, sent_end = 0;
    static constexpr size_t nowhere = SIZE_MAX;
    size_t stop = nowhere; // the offset in `fed` where a call found no more bytes; the next call there
                           // returns the error
    int feeder = -1;       // the other end; -1: none, or closed
    bool fed_all = true;
    int drained_fd = -1;
    std::thread drainer;
    std::string drained;

    std::vector<Kept> kept;
    std::vector<Kept> waiting;  // complete output after an unfreed region
    std::vector<Kept> buffered; // complete output that may be unwritten
    uint64_t order = 0, run = 0;
    char *latest = nullptr; // the region that srealloc may resize
    bool end_was_met = false;
};

} // namespace asi

#endif
