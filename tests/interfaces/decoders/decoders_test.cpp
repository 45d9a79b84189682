// SPDX-License-Identifier: MIT
//
// decoders_test.cpp - streams of decoded bytes. Each format is compared with its own tool: complete, in
// chunks, truncated and damaged. Also threads, forks and closing.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <asf/decode.h>
#include <asf/stream.h>

#include "tests/asleep.h"
#include "tests/one_processor.h"

namespace {

struct Format {
    const char *name, *encode, *decode;
    const asf_decoder *(*decoder)();
};

const Format formats[] = {
    {"zstd", "zstd -qc", "zstd -qdc", asf_decoder_zstd},
    {"gzip", "gzip -nc", "gzip -dc", asf_decoder_gzip},
    {"lz4", "lz4 -qc", "lz4 -qdc", asf_decoder_lz4},
    {"xz", "xz -0 -c", "xz -dc", asf_decoder_xz},
};

// Returns a command's output for this input, and whether the command succeeded.
std::pair<std::string, bool> tool(const std::string &command, const std::string &input) {
    char name[] = "/tmp/decoders.XXXXXX";
    int fd = mkstemp(name);
    EXPECT_EQ(static_cast<ssize_t>(input.size()), write(fd, input.data(), input.size()));
    close(fd);
    std::string out;
    FILE *f = popen((command + " 2>/dev/null <" + name).c_str(), "r");
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        out.append(part, n);
    bool well = pclose(f) == 0;
    unlink(name);
    return {out, well};
}

// From 1.10 on, lz4 outputs fewer bytes before an error, and rejects a frame of -l after another frame.
bool lz4_decodes_by_threads() {
    static const bool does = tool("lz4 --version", "").first.find("multithread") != std::string::npos;
    return does;
}

std::string text(size_t n) {
    std::string s;
    unsigned x = 1;
    while (s.size() < n) {
        x = x * 1103515245 + 12345;
        s += std::to_string(x >> 16) + (x >> 30 ? "\tsome words that come again\n" : "\n");
    }
    s.resize(n);
    return s;
}

// A program-defined stream that returns at most `most` bytes a call.
struct Source {
    std::string bytes;
    size_t most, at = 0;
    int closed = 0;
};

ssize_t source_get(asf_cios *c, void *buf, size_t n) {
    auto *s = static_cast<Source *>(asf_stream_data(c));
    n = std::min({n, s->most, s->bytes.size() - s->at});
    memcpy(buf, s->bytes.data() + s->at, n);
    s->at += n;
    return static_cast<ssize_t>(n);
}

int source_close(asf_cios *c) {
    static_cast<Source *>(asf_stream_data(c))->closed++;
    return 0;
}

asf_cios *open_source(Source *s) {
    static asf_stream_ops ops;
    ops.size = sizeof ops;
    ops.version = ASF_STREAM_VERSION;
    ops.name = "source";
    ops.get = source_get;
    ops.close = source_close;
    return asf_sopen_with(&ops, s, O_RDONLY, nullptr);
}

struct Read {
    std::string bytes;
    ssize_t error;
};

// Reads all bytes in regions of these sizes in turn.
Read read_all(asf_cios *c, const std::vector<ssize_t> &sizes = {65536}) {
    Read r{"", 0};
    for (size_t i = 0;; i++) {
        ssize_t n = sizes[i % sizes.size()];
        void *p = i % 2 ? asf_salloc(c, &n) : asf_salloc_some(c, &n);
        if (!p) {
            r.error = n;
            return r;
        }
        r.bytes.append(static_cast<char *>(p), static_cast<size_t>(n));
        EXPECT_EQ(0, asf_sfree(c, p));
    }
}

class Decoders : public testing::TestWithParam<Format> {
  protected:
    const Format &format = GetParam();

    std::string encode(const std::string &plain) { return tool(format.encode, plain).first; }

    Read decode(const std::string &packed, size_t most = 1 << 30,
                const std::vector<ssize_t> &sizes = {65536}) {
        Source s{packed, most};
        int error = 1;
        asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), &error);
        EXPECT_EQ(0, error);
        Read r = read_all(c, sizes);
        EXPECT_EQ(0, asf_sclose(c));
        EXPECT_EQ(1, s.closed);
        return r;
    }

    void expect_plain(const std::string &plain, const Read &r) {
        EXPECT_EQ(0, r.error);
        EXPECT_TRUE(plain == r.bytes) << r.bytes.size() << " bytes of " << plain.size();
    }

    // Expects an error exactly if the tool fails; otherwise the tool's bytes.
    void expect_as_tool(const std::string &packed, const char *what, size_t place) {
        auto [plain, well] = tool(format.decode, packed);
        Read r = decode(packed);
        EXPECT_EQ(well, r.error == 0) << what << " at " << place << ": " << r.error;
        EXPECT_TRUE(r.error == 0 || r.error == -EIO || r.error == -EBADMSG || r.error == -ENOMEM) << r.error;
        EXPECT_TRUE(!well || plain == r.bytes) << what << " at " << place;
    }
};

INSTANTIATE_TEST_SUITE_P(Each, Decoders, testing::ValuesIn(formats),
                         [](const auto &one) { return one.param.name; });

TEST_P(Decoders, DecodeWhatTheToolEncodes) {
    for (size_t n : {0, 1, 100, 65536, 300000, 5000000}) {
        std::string plain = text(n), packed = encode(plain);
        expect_plain(plain, decode(packed));
        expect_plain(plain, decode(packed, 4096, {1, 3, 70000, 17}));
    }
    expect_plain(text(3000), decode(encode(text(3000)), 1, {7}));
    expect_plain(std::string(9000000, 'a'), decode(encode(std::string(9000000, 'a')), 1000, {1 << 20, 5}));
}

// On one processor no second thread decodes ahead.
TEST_P(Decoders, OnOneProcessor) {
    const OneProcessor alone;
    std::string plain = text(5000000), packed = encode(plain);
    expect_plain(plain, decode(packed));
    expect_plain(plain, decode(packed, 4096, {1, 3, 70000, 17}));
}

TEST_P(Decoders, FramesThatFollowOneAnotherAreOneStream) {
    std::string a = text(100), b = text(700000), packed = encode(a) + encode("") + encode(b) + encode(a);
    expect_plain(a + b + a, decode(packed));
    expect_plain(a + b + a, decode(packed, 1, {100}));
}

TEST_P(Decoders, InputThatIsCutOffIsAnError) {
    std::string plain = text(300), packed = encode(plain), first = encode(text(50));
    for (size_t n = 0; n < packed.size(); n++) {
        Read r = decode(packed.substr(0, n));
        EXPECT_EQ(-EIO, r.error) << n;
        EXPECT_EQ(0, plain.compare(0, r.bytes.size(), r.bytes)) << n;
        EXPECT_EQ(n ? -EIO : 0, decode(first + packed.substr(0, n)).error) << n;
    }
    std::string large = text(3000000), many = encode(large);
    for (size_t n = 1; n < many.size(); n += many.size() / 29) {
        Read r = decode(many.substr(0, n));
        EXPECT_EQ(-EIO, r.error) << n;
        EXPECT_EQ(0, large.compare(0, r.bytes.size(), r.bytes)) << n;
    }
}

TEST_P(Decoders, DamagedInputIsAnErrorWhereTheToolHasOne) {
    std::string packed = encode(text(2000));
    for (size_t i = 0; i < packed.size(); i += packed.size() / 67 + 1) {
        std::string damaged = packed;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        expect_as_tool(damaged, "a bit that is wrong", i);
    }
    std::string large = encode(text(3000000));
    large[large.size() / 2] = static_cast<char>(large[large.size() / 2] ^ 1);
    EXPECT_EQ(-EBADMSG, decode(large).error);
}

// The bytes before an error do not depend on the sizes of the input's chunks, and are at least those of the
// tool. zstd's tool drops the output of the call that failed, and so does lz4's with threads.
TEST_P(Decoders, WhatComesBeforeDamageIsAlwaysTheSame) {
    for (size_t n : {1000, 200000, 1179648, 3000000}) {
        std::string packed = encode(text(n));
        for (size_t place :
             {packed.size() - (format.name == std::string("gzip") ? 6 : 3), packed.size() / 2}) {
            std::string damaged = packed;
            damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
            std::string given = tool(format.decode, damaged).first;
            Read all = decode(damaged);
            EXPECT_EQ(-EBADMSG, all.error);
            EXPECT_EQ(0, all.bytes.compare(0, given.size(), given)) << n << " at " << place;
            EXPECT_TRUE(given.size() == all.bytes.size() || format.name == std::string("zstd") ||
                        (format.name == std::string("lz4") && lz4_decodes_by_threads()))
                << n << " at " << place << ": " << all.bytes.size() << " bytes, not " << given.size();
            for (size_t most : {1, 7, 1000, 30011, 65536, 200000}) {
                if (packed.size() / most > 20000)
                    continue;
                Read r = decode(damaged, most, {4096, 100000});
                EXPECT_EQ(-EBADMSG, r.error);
                EXPECT_TRUE(all.bytes == r.bytes)
                    << most << " bytes a call: " << r.bytes.size() << " bytes, not " << all.bytes.size();
            }
        }
    }
}

TEST_P(Decoders, WhatFollowsTheLastFrameIsAnError) {
    std::string packed = encode(text(500));
    EXPECT_EQ(-EBADMSG, decode(packed + "something else, and long enough").error);
    Read r = decode(packed + std::string(512, '\0'));
    bool may = format.name == std::string("gzip") || format.name == std::string("xz");
    EXPECT_EQ(may ? 0 : -EBADMSG, r.error);
    EXPECT_TRUE(r.bytes == text(500));
}

TEST_P(Decoders, ErrorsStay) {
    Source s{encode(text(500)).substr(0, 40), 1 << 20};
    asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
    EXPECT_EQ(-EIO, read_all(c).error);
    EXPECT_EQ(-EIO, read_all(c).error);
    EXPECT_EQ(0, asf_sclose(c));
}

TEST_P(Decoders, TheFormatIsKnownByItsFirstBytes) {
    Source s{encode(text(500000)), 1};
    int error = 1;
    asf_cios *below = open_source(&s), *c = asf_decode(below, &error);
    EXPECT_EQ(0, error);
    ASSERT_NE(below, c);
    EXPECT_STREQ(format.name, asf_module_why(c));
    expect_plain(text(500000), read_all(c));
    EXPECT_EQ(0, asf_sclose(c));
    EXPECT_EQ(1, s.closed);
}

// A non-blocking descriptor returns EAGAIN before the format is known; no byte is lost.
TEST_P(Decoders, TheFormatIsNotGuessed) {
    std::string packed = encode(text(500));
    for (size_t first : {1, 2}) {
        int ends[2], error = 1;
        ASSERT_EQ(0, pipe2(ends, O_NONBLOCK));
        asf_cios *below = asf_sopen_fd(ends[0], O_RDONLY, nullptr), *c = nullptr;
        for (size_t n : {size_t{0}, first}) {
            ASSERT_EQ(static_cast<ssize_t>(n), write(ends[1], packed.data(), n));
            for (int i = 0; i < 2; i++) {
                EXPECT_EQ(nullptr, asf_decode(below, &error));
                EXPECT_EQ(-EAGAIN, error);
            }
        }
        ASSERT_LT(0, write(ends[1], packed.data() + first, packed.size() - first));
        close(ends[1]);
        ASSERT_NE(nullptr, c = asf_decode(below, &error));
        EXPECT_NE(below, c);
        expect_plain(text(500), read_all(c));
        EXPECT_EQ(0, asf_sclose(c));
    }
}

TEST_P(Decoders, StreamsCannotSeek) {
    Source s{encode(text(500)), 1 << 20};
    asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
    ssize_t n = 1;
    EXPECT_EQ(nullptr, asf_sallocAt(c, &n, 0, SEEK_SET));
    EXPECT_EQ(-ESPIPE, n);
    EXPECT_EQ(0, asf_sclose(c));
}

TEST_P(Decoders, AreClosedInTheMiddle) {
    std::string packed = encode(text(4000000));
    for (size_t taken = 0; taken < 2500000; taken += 130001) {
        Source s{packed, 1 << 20};
        asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
        ssize_t n = static_cast<ssize_t>(taken);
        void *p = taken ? asf_salloc(c, &n) : nullptr;
        if (p) {
            EXPECT_TRUE(memcmp(p, text(taken).data(), taken) == 0);
            EXPECT_EQ(-EBUSY, asf_sclose(c));
            EXPECT_EQ(0, asf_sfree(c, p));
        }
        EXPECT_EQ(0, asf_sclose(c));
        EXPECT_EQ(1, s.closed);
    }
}

TEST_P(Decoders, RegionsStayWhateverIsRead) {
    std::string plain = text(3000000);
    Source s{encode(plain), 100000};
    asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
    std::vector<std::pair<char *, ssize_t>> regions;
    for (ssize_t n = 50000; char *p = static_cast<char *>(asf_salloc(c, &n)); n = 50000)
        regions.emplace_back(p, n);
    size_t at = 0;
    for (auto [p, n] : regions) {
        EXPECT_EQ(0, plain.compare(at, static_cast<size_t>(n), p, static_cast<size_t>(n)));
        at += static_cast<size_t>(n);
        EXPECT_EQ(0, asf_sfree(c, p));
    }
    EXPECT_EQ(plain.size(), at);
    EXPECT_EQ(0, asf_sclose(c));
}

int in_child(const std::function<int()> &what) {
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(what());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

TEST_P(Decoders, ForkedBeforeAWorkerTheChildGoesOn) {
    std::string plain = text(100000);
    Source s{encode(plain), 100};
    asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
    ssize_t n = 1000;
    asf_sfree(c, asf_salloc(c, &n));
    EXPECT_EQ(0, in_child([&] {
                  Read r = read_all(c);
                  return r.error != 0 || r.bytes != plain.substr(1000) || asf_sclose(c) != 0;
              }));
    EXPECT_TRUE(read_all(c).bytes == plain.substr(1000));
    EXPECT_EQ(0, asf_sclose(c));
}

TEST_P(Decoders, ForkedBesideAWorkerTheChildIsTold) {
    std::string plain = text(5000000);
    Source s{encode(plain), 1 << 20};
    asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
    ssize_t n = 1000000;
    asf_sfree(c, asf_salloc(c, &n));
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(0, in_child([&] {
                      Read r = read_all(c);
                      return r.error != -ECANCELED || plain.compare(1000000, r.bytes.size(), r.bytes) != 0 ||
                             asf_sclose(c) != 0;
                  }));
    EXPECT_TRUE(read_all(c).bytes == plain.substr(1000000));
    EXPECT_EQ(0, asf_sclose(c));
}

TEST_P(Decoders, ExitLeavesAWorkerBehind) {
    std::string packed = encode(text(5000000));
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(3, in_child([&] {
                      Source s{packed, 1 << 20};
                      asf_cios *c = asf_decode_with(open_source(&s), format.decoder(), nullptr);
                      ssize_t n = 600000;
                      asf_salloc(c, &n);
                      exit(3);
                      return 0;
                  }));
}

void write_all(int fd, const std::string &bytes) {
    for (size_t at = 0; at < bytes.size();) {
        ssize_t n = write(fd, bytes.data() + at, std::min<size_t>(bytes.size() - at, 5000));
        if (n <= 0)
            break;
        at += static_cast<size_t>(n);
    }
    close(fd);
}

// The available bytes of a pipe are decoded at once.
TEST_P(Decoders, APipeIsNotWaitedForWithoutNeed) {
    std::string a = text(1000), b = text(3000000), first = encode(a), second = encode(b);
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    asf_cios *c = asf_decode_with(asf_sopen_fd(ends[0], O_RDONLY, nullptr), format.decoder(), nullptr);
    ASSERT_EQ(static_cast<ssize_t>(first.size()), write(ends[1], first.data(), first.size()));
    std::string got;
    for (ssize_t n = 100000; got.size() < a.size() - (format.name == std::string("xz")); n = 100000) {
        char *p = static_cast<char *>(asf_salloc_some(c, &n));
        ASSERT_NE(nullptr, p);
        got.append(p, static_cast<size_t>(n));
        asf_sfree(c, p);
    }
    std::thread writer([&] { write_all(ends[1], second); });
    got += read_all(c).bytes;
    writer.join();
    EXPECT_TRUE(got == a + b);
    EXPECT_EQ(0, asf_sclose(c));
}

// The thread is cancelled while it waits in read(), before the decoding thread exists and while it runs.
TEST_P(Decoders, AThreadIsCancelledWhileItWaits) {
    std::string plain = text(2000000), packed = encode(plain);
    for (size_t sent : {size_t{20}, packed.size() - 20}) {
        int ends[2];
        ASSERT_EQ(0, pipe(ends));
        asf_cios *c = asf_decode_with(asf_sopen_fd(ends[0], O_RDONLY, nullptr), format.decoder(), nullptr);
        std::thread reader([&] { // NOLINT
            try {
                read_all(c);
            } catch (...) { // rethrow: the exception is the cancellation
                throw;
            }
        });
        for (size_t at = 0; at < sent;) {
            ssize_t n = write(ends[1], packed.data() + at, sent - at);
            ASSERT_GT(n, 0);
            at += static_cast<size_t>(n);
        }
        asi::wait_until_asleep(getpid());
        pthread_cancel(reader.native_handle());
        reader.join();
        std::thread writer([&] { write_all(ends[1], packed.substr(sent)); });
        EXPECT_EQ(0, read_all(c).error);
        writer.join();
        EXPECT_EQ(0, asf_sclose(c));
    }
}

TEST_P(Decoders, ADescriptorThatDoesNotWaitSaysSo) {
    std::string plain = text(2000000), packed = encode(plain);
    int ends[2];
    ASSERT_EQ(0, pipe2(ends, O_NONBLOCK));
    asf_cios *c = asf_decode_with(asf_sopen_fd(ends[0], O_RDONLY, nullptr), format.decoder(), nullptr);
    std::string got;
    for (size_t at = 0;;) {
        ssize_t n = write(ends[1], packed.data() + at, std::min<size_t>(packed.size() - at, 10000));
        at += n > 0 ? static_cast<size_t>(n) : 0;
        Read r = read_all(c);
        got += r.bytes;
        ASSERT_EQ(-EAGAIN, r.error);
        if (at == packed.size())
            break;
    }
    close(ends[1]);
    got += read_all(c).bytes;
    EXPECT_TRUE(got == plain);
    EXPECT_EQ(0, asf_sclose(c));
}

TEST(Decode, PlainBytesAreLeftAsTheyAre) {
    for (const char *plain : {"", "(", "(\xb5", "(\xb5/", "\x1f\x8b", "\x02!L", "_*M", "some text\n",
                              "\xfd"
                              "7zXY."}) {
        Source s{plain, 1};
        int error = 1;
        asf_cios *below = open_source(&s);
        EXPECT_EQ(below, asf_decode(below, &error));
        EXPECT_EQ(0, error);
        EXPECT_EQ(plain, read_all(below).bytes);
        EXPECT_EQ(0, asf_sclose(below));
    }
}

TEST(Decode, ASkippableFrameIsZstds) {
    std::string skipped("\x51\x2a\x4d\x18\x05\0\0\0hello", 13), packed = tool("zstd -qc", "text").first;
    Source s{skipped + packed + skipped, 3};
    asf_cios *c = asf_decode(open_source(&s), nullptr);
    EXPECT_EQ("text", read_all(c).bytes);
    EXPECT_EQ(0, asf_sclose(c));
    Source cut{packed + skipped.substr(0, 10), 3};
    c = asf_decode(open_source(&cut), nullptr);
    EXPECT_EQ(-EIO, read_all(c).error);
    EXPECT_EQ(0, asf_sclose(c));
}

// Frames of "lz4 -l", which end only at the end of the input or at the next magic number.
class Lz4Legacy : public testing::Test {
  protected:
    static std::string encode(const std::string &plain) { return tool("lz4 -lqc", plain).first; }

    static void expect_as_tool(const std::string &packed, size_t most, const char *what, size_t place = 0) {
        auto [plain, well] = tool("lz4 -qdc", packed);
        Source s{packed, most};
        int error = 1;
        asf_cios *below = open_source(&s), *c = asf_decode(below, &error);
        EXPECT_EQ(0, error);
        ASSERT_NE(below, c) << what << ": left as it is";
        Read r = read_all(c, {65536, 7, 300000});
        const bool gives_less = !well && lz4_decodes_by_threads();
        EXPECT_TRUE(well == (r.error == 0) || gives_less) << what << " at " << place << ": " << r.error;
        EXPECT_TRUE(plain == (gives_less ? r.bytes.substr(0, plain.size()) : r.bytes))
            << what << " at " << place << ": " << r.bytes.size() << " bytes of " << plain.size();
        EXPECT_EQ(0, asf_sclose(c));
    }
};

TEST_F(Lz4Legacy, IsDecodedAsByTheTool) {
    const size_t block = 8 << 20;
    for (size_t n :
         {size_t{0}, size_t{1}, size_t{100}, size_t{300000}, block - 1, block, block + 1, 2 * block + 5})
        expect_as_tool(encode(text(n)), 1 << 30, "bytes", n);
    expect_as_tool(encode(std::string(20000000, 'a')), 1000, "one letter");
    expect_as_tool(encode(text(3000)), 1, "byte by byte");
}

TEST_F(Lz4Legacy, FramesOfEachKindFollowOneAnother) {
    const std::string old = encode(text(500)), large = encode(text(9000000)),
                      frame = tool("lz4 -qc", text(70000)).first,
                      skipped("\x5f\x2a\x4d\x18\x05\0\0\0hello", 13);
    for (const std::string &packed :
         {old + old, large + old, old + frame, frame + old + frame, old + skipped + old, old + "else",
          old + std::string(9, '\0'), frame + "more"})
        expect_as_tool(packed, packed.size() > 100000 ? 5000 : 1, "frames of", packed.size());
}

TEST_F(Lz4Legacy, IsCutOffAndDamagedAsForTheTool) {
    std::string packed = encode(text(300)), large = encode(text(17000000));
    for (size_t n = 4; n < packed.size(); n++)
        expect_as_tool(packed.substr(0, n), 1 << 20, "cut off", n);
    for (size_t n = 5; n < large.size(); n += large.size() / 7)
        expect_as_tool(large.substr(0, n), 1 << 20, "large, cut off", n);
    for (size_t i = 4; i < packed.size(); i++) {
        std::string damaged = packed;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
        expect_as_tool(damaged, 100, "damaged", i);
    }
    for (size_t i = 4; i < large.size(); i += large.size() / 7) {
        std::string damaged = large;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x40);
        expect_as_tool(damaged, 1 << 20, "large, damaged", i);
    }
}

// Makes a gzip member with stored data, whose header has the optional fields that `flags` selects.
std::string gzip_member(unsigned char flags, const std::string &plain) {
    const auto little = [](uint32_t x, int bytes) {
        std::string text;
        for (int i = 0; i < bytes; i++)
            text += static_cast<char>(x >> 8 * i);
        return text;
    };
    const auto crc = [](const std::string &text) {
        uint32_t c = ~0U;
        for (unsigned char byte : text) {
            c ^= byte;
            for (int bit = 0; bit < 8; bit++)
                c = c >> 1 ^ (c & 1 ? 0xedb88320 : 0);
        }
        return ~c;
    };
    std::string head = std::string("\x1f\x8b\x08", 3) + static_cast<char>(flags) + std::string(6, '\0');
    if (flags & 4)
        head += little(300, 2) + std::string(300, 'x');
    if (flags & 8)
        head += std::string("name", 5);
    if (flags & 16)
        head += std::string("comment", 8);
    if (flags & 2)
        head += little(crc(head), 2);
    const auto size = static_cast<uint32_t>(plain.size());
    return head + '\1' + little(size, 2) + little(~size, 2) + plain + little(crc(plain), 4) + little(size, 4);
}

TEST(Decode, HeadsOfGzipAreReadAsByTheTool) {
    const auto expect_as_tool = [](const std::string &packed, size_t most, unsigned flags, size_t place) {
        auto [plain, well] = tool("gzip -dc", packed);
        Source s{packed, most};
        int error = 1;
        asf_cios *c = asf_decode_with(open_source(&s), asf_decoder_gzip(), &error);
        Read r = read_all(c);
        EXPECT_EQ(well, r.error == 0) << "flags " << flags << ", place " << place << ": " << r.error;
        EXPECT_TRUE(!well || plain == r.bytes) << "flags " << flags << ", place " << place;
        EXPECT_EQ(0, asf_sclose(c));
    };
    for (unsigned flags = 0; flags < 32; flags += 2) {
        const std::string one = gzip_member(static_cast<unsigned char>(flags), "text"), two = one + one;
        expect_as_tool(two, 1, flags, 0);
        expect_as_tool(two, 1000, flags, 0);
        for (size_t n = 1; n < one.size(); n += n < 20 || n > 305 ? 1 : 50)
            expect_as_tool(one.substr(0, n), 1000, flags, n);
    }
    std::string wrong = gzip_member(2, "text");
    wrong[10] = static_cast<char>(wrong[10] ^ 1);
    expect_as_tool(wrong, 1000, 2, 10);
    for (unsigned reserved : {0x20U, 0x40U, 0x80U})
        expect_as_tool(gzip_member(static_cast<unsigned char>(reserved), "text"), 1000, reserved, 3);
}

TEST(Decode, WhatIsWrongIsRefused) {
    Source s{"x", 1};
    int error = 0;
    asf_cios *below = open_source(&s);
    for (void (*spoil)(asf_decoder &) : {
             +[](asf_decoder &d) { d.version++; },
             +[](asf_decoder &d) { d.size--; },
             +[](asf_decoder &d) { d.name = nullptr; },
             +[](asf_decoder &d) { d.begin = nullptr; },
             +[](asf_decoder &d) { d.decode = nullptr; },
             +[](asf_decoder &d) { d.end = nullptr; },
         }) {
        asf_decoder bad = *asf_decoder_zstd();
        spoil(bad);
        EXPECT_EQ(nullptr, asf_decode_with(below, &bad, &error));
        EXPECT_EQ(-EINVAL, error);
    }
    EXPECT_EQ(nullptr, asf_decode_with(below, nullptr, &error));
    EXPECT_EQ(-EINVAL, error);
    EXPECT_EQ("x", read_all(below).bytes);
    EXPECT_EQ(0, asf_sclose(below));
    asf_cios *out = asf_sopen("/dev/null", O_WRONLY, 0, nullptr);
    EXPECT_EQ(nullptr, asf_decode_with(out, asf_decoder_zstd(), &error));
    EXPECT_EQ(-EBADF, error);
    EXPECT_EQ(nullptr, asf_decode(out, &error));
    EXPECT_EQ(-EBADF, error);
    EXPECT_EQ(0, asf_sclose(out));
}

// A decoder of a program that was compiled with version 0.2's header.
TEST(Decode, ADecoderWithoutFrame) {
    Source s{tool("zstd -qc", "text").first, 100};
    asf_decoder old = *asf_decoder_zstd();
    old.size = offsetof(asf_decoder, frame);
    asf_cios *c = asf_decode_with(open_source(&s), &old, nullptr);
    ASSERT_NE(nullptr, c);
    EXPECT_EQ("text", read_all(c).bytes);
    EXPECT_EQ(0, asf_sclose(c));
}

// If a decoder misbehaves, the stream returns the decoded bytes and then an error.
TEST(Decode, DecodersThatMisbehave) {
    static int answer, taken;
    const asf_decoder lazy = {
        sizeof lazy,
        ASF_DECODER_VERSION,
        "lazy",
        [] { return malloc(1); },
        +[](void *, asf_decoding *d) {
            const size_t n = std::min<size_t>({1, d->in_size, static_cast<size_t>(taken)});
            if (n > 0)
                *d->out = *d->in;
            d->in += n, d->in_size -= n;
            d->out += n, d->out_size -= n;
            return answer;
        },
        free,
        nullptr};
    const struct {
        int answer, taken, error;
        const char *bytes;
    } cases[] = {{0, 0, -EBADMSG, ""},
                 {1, 0, -EBADMSG, ""},
                 {0, 1, -EIO, "text"},
                 {1, 1, 0, "text"},
                 {-ENOMEM, 1, -ENOMEM, "t"}};
    for (const auto &each : cases) {
        Source s{"text", 2};
        answer = each.answer, taken = each.taken;
        asf_cios *c = asf_decode_with(open_source(&s), &lazy, nullptr);
        const auto read = read_all(c);
        EXPECT_EQ(each.bytes, read.bytes);
        EXPECT_EQ(each.error, read.error);
        EXPECT_EQ(0, asf_sclose(c));
        EXPECT_EQ(1, s.closed);
    }
}

// The memory limit is that of zstd's tool, and our own for xz. The xz header is changed to require 4 GB.
TEST(Decode, HeadersThatWantMuchMemoryAreRefused) {
    Source z{tool("zstd -qc --long=28", text(100000)).first, 1 << 20};
    asf_cios *c = asf_decode(open_source(&z), nullptr);
    EXPECT_EQ(-ENOMEM, read_all(c).error);
    EXPECT_EQ(0, asf_sclose(c));

    std::string packed = tool("xz -0 -c", text(1000)).first;
    size_t size = (static_cast<size_t>(packed[12]) + 1) * 4, filter = packed.find("\x21\x01", 12);
    ASSERT_LT(filter, 12 + size);
    packed[filter + 2] = 40;
    uint32_t sum = 0xffffffff;
    for (size_t i = 12; i < 12 + size - 4; i++) {
        sum ^= static_cast<unsigned char>(packed[i]);
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
    }
    sum = ~sum;
    memcpy(&packed[12 + size - 4], &sum, 4);
    Source x{packed, 1 << 20};
    c = asf_decode(open_source(&x), nullptr);
    EXPECT_EQ(-ENOMEM, read_all(c).error);
    EXPECT_EQ(0, asf_sclose(c));
}

TEST(Decode, StreamsStackOnOneAnother) {
    std::string plain = text(2000000), packed = tool("zstd -qc | gzip -c | xz -0 -c", plain).first;
    Source s{packed, 10000};
    asf_cios *c = open_source(&s);
    for (int i = 0; i < 3; i++)
        c = asf_decode(c, nullptr);
    EXPECT_TRUE(read_all(c).bytes == plain);
    EXPECT_EQ(0, asf_sclose(c));
    EXPECT_EQ(1, s.closed);
}

} // namespace
