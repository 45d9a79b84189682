// SPDX-License-Identifier: MIT
//
// Proves parts of compressed files. For files of the real tools, cut anywhere, the parts together are the
// decoded file, and each line or record is in one part. Damaged files fail as they do in asf_decode.
#include <asf/decode.h>
#include <asf/lines.h>
#include <asf/parts.h>

#include <atomic>
#include <functional>
#include <random>
#include <zlib.h>

#include "tests/interfaces/asi/asi_test.h"

namespace asi {
namespace {

using Random = std::mt19937;
using Parts = std::vector<asf_part>;
using Texts = std::vector<std::string>;

struct Read {
    std::string bytes;
    ssize_t error = 0;
};

Read read_all(asf_cios *stream) {
    Read r;
    for (ssize_t n = 5000;; n = 5000) {
        const auto *p = static_cast<const char *>(asf_salloc(stream, &n));
        if (!p) {
            r.error = n;
            return r;
        }
        r.bytes.append(p, static_cast<size_t>(n));
        asf_sfree(stream, const_cast<char *>(p));
    }
}

std::string number(uint32_t value, size_t bytes) {
    std::string text;
    for (; bytes > 0; bytes--, value >>= 8)
        text += static_cast<char>(value & 0xff);
    return text;
}

// Returns a gzip member as bgzip writes it.
std::string bgzf(const std::string &plain, int level = 6) {
    std::string packed(compressBound(plain.size()) + 100, '\0');
    z_stream z = {};
    deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    z.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(plain.data()));
    z.avail_in = static_cast<uInt>(plain.size());
    z.next_out = reinterpret_cast<Bytef *>(packed.data());
    z.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.resize(z.total_out);
    deflateEnd(&z);
    const auto check = static_cast<uint32_t>(
        crc32(0, reinterpret_cast<const Bytef *>(plain.data()), static_cast<uInt>(plain.size())));
    const auto size = static_cast<uint32_t>(packed.size() + 26);
    EXPECT_LE(size, 65536U);
    return std::string("\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0", 16) + number(size - 1, 2) + packed +
           number(check, 4) + number(static_cast<uint32_t>(plain.size()), 4);
}

// Cuts bytes into texts of random lengths from 1 to `most`; without `random`, of `most` bytes each.
Texts pieces(const std::string &plain, size_t most, Random *random = nullptr) {
    Texts all;
    for (size_t at = 0, n; at < plain.size(); at += n) {
        n = random ? 1 + (*random)() % most : most;
        all.push_back(plain.substr(at, n));
    }
    return all;
}

std::string joined(const Texts &texts) {
    std::string all;
    for (const std::string &text : texts)
        all += text;
    return all;
}

std::string lines_of(Random &random, size_t size, size_t longest) {
    std::string text;
    while (text.size() < size) {
        for (size_t n = random() % longest; n > 0; n--)
            text += static_cast<char>('a' + random() % 4);
        text += '\n';
    }
    return text;
}

class DecodedParts : public Asi {
  protected:
    // Returns the output of a shell command in this test's directory.
    std::string output(const std::string &command) const {
        EXPECT_EQ(system(("cd " + directory + " && { " + command + "; } >out").c_str()), 0) << command;
        return contents("out");
    }

    std::string contents(const std::string &name) const {
        std::string all(std::filesystem::file_size(path(name)), '\0');
        const int fd = open(path(name).c_str(), O_RDONLY);
        EXPECT_EQ(read(fd, all.data(), all.size()), static_cast<ssize_t>(all.size()));
        close(fd);
        return all;
    }

    // Makes a frame of each text by a tool that takes a file's name; if `tool` is empty, by bgzf().
    std::string frames(const std::string &tool, const Texts &texts) const {
        std::string all;
        if (tool.empty()) {
            for (const std::string &text : texts)
                all += bgzf(text);
            return all;
        }
        std::filesystem::create_directory(path("frames"));
        for (size_t i = 0; i < texts.size(); i++)
            put("frames/" + std::to_string(100000 + i), texts[i]);
        all = output("for f in frames/*; do " + tool + " $f || exit; done");
        std::filesystem::remove_all(path("frames"));
        return all;
    }

    static ssize_t cut(const std::string &file, const asf_cut &how, Parts *found) {
        asf_part *parts = nullptr;
        const ssize_t count = asf_parts(file.c_str(), &how, &parts);
        found->assign(parts, parts + std::max<ssize_t>(count, 0));
        free(parts);
        return count;
    }

    static Parts parts_of(const std::string &file, const asf_cut &how) {
        Parts parts;
        EXPECT_GE(cut(file, how, &parts), 0);
        return parts;
    }

    static Read read_part(const std::string &file, const asf_part &part) {
        int error = 0;
        asf_cios *stream = asf_sopen_part(file.c_str(), &part, &error);
        if (!stream)
            return {"", error};
        Read r = read_all(stream);
        EXPECT_EQ(asf_sclose(stream), 0);
        return r;
    }

    // Expects that all parts together are the text, and that no part ends within a line or record. returns
    // the number of parts.
    static size_t expect_whole(const std::string &file, const asf_cut &how, const std::string &plain) {
        const Parts parts = parts_of(file, how);
        int64_t at = 0;
        std::string all;
        for (const asf_part &part : parts) {
            EXPECT_EQ(part.begin, at);
            at = part.end;
            const Read r = read_part(file, part);
            EXPECT_EQ(r.error, 0);
            all += r.bytes;
            if (!r.bytes.empty() && all.size() < plain.size()) {
                EXPECT_TRUE(how.record ? all.size() % static_cast<size_t>(how.record) == 0
                                       : all.back() == static_cast<char>(how.delimiter));
            }
        }
        EXPECT_TRUE(all == plain) << all.size() << " bytes of " << plain.size();
        return parts.size();
    }
};

struct Format {
    const char *name, *tool;
};

class DecodedPartsOf : public DecodedParts, public testing::WithParamInterface<Format> {
  protected:
    std::string frames(const Texts &texts) const { return DecodedParts::frames(GetParam().tool, texts); }
};

INSTANTIATE_TEST_SUITE_P(Each, DecodedPartsOf,
                         testing::Values(Format{"zstd", "zstd -qc"},
                                         Format{"zstd_stream", "zstd -qc --no-check <"},
                                         Format{"lz4", "lz4 -qc"},
                                         Format{"lz4_checks", "lz4 -qc -B4 -BX -BD --content-size"},
                                         Format{"lz4_legacy", "lz4 -qc -l"}, Format{"bgzf", ""}),
                         [](const auto &one) { return one.param.name; });

TEST_P(DecodedPartsOf, HaveEachLineOnce) {
    Random random(1);
    const std::string lines = lines_of(random, 150000, 60), hundred = [] {
        std::string all;
        for (int i = 0; i < 1500; i++)
            all += std::to_string(100000 + i) + std::string(93, 'x') + '\n';
        return all;
    }();
    const Texts cases[] = {
        pieces(lines, 6000),
        pieces(lines, 12000, &random),
        pieces(lines + "no end", 5000),
        pieces(hundred, 5000), // each frame ends with a delimiter
        pieces("\n" + hundred, 5000),
        pieces(hundred.substr(1), 5000),
        pieces(lines_of(random, 150000, 30000), 6000), // a line is longer than a frame
        pieces(std::string(100000, 'x'), 6000),
        pieces(std::string(3000, '\n'), 100),
        {"", "a\nb", "", "", "c\n", "", "d\n", ""},
        {"", "", "\n"},
    };
    for (const Texts &texts : cases) {
        const std::string file = put("packed", frames(texts)), plain = joined(texts);
        const auto size = static_cast<int64_t>(std::filesystem::file_size(file));
        for (int64_t bytes : {int64_t{1}, size / 40, size / 9, size / 2, int64_t{0}}) {
            const size_t count = expect_whole(file, {'\n', 0, bytes, true}, plain);
            EXPECT_TRUE(bytes == 0 ? count == 1 : count > 1 || size < 70000) << count << ", " << bytes;
        }
        expect_whole(file, {'x', 0, size / 20, true}, plain);
    }
}

TEST_P(DecodedPartsOf, AreTold) {
    Random random(2);
    const std::string lines = lines_of(random, 900000, 60);
    const std::string file = put("packed", frames(pieces(lines, 30000)));
    for (const asf_part &part : parts_of(file, {'\n', 0, 20000, true})) {
        EXPECT_EQ(part.form, ASF_PART_FRAMES);
        EXPECT_GT(part.count, 5);
    }
    EXPECT_EQ(parts_of(file, {'\n', 0, 0, true})[0].form, ASF_PART_WHOLE);
    EXPECT_EQ(parts_of(file, {'\n', 0, 20000, false})[0].form, ASF_PART_PLAIN);
    asf_cios *stream = asf_sopen_part(file.c_str(), &parts_of(file, {'\n', 0, 20000, true})[1], nullptr);
    ASSERT_NE(stream, nullptr);
    EXPECT_STREQ(asf_module_name(stream), "part");
    ssize_t n = 1;
    EXPECT_EQ(asf_sallocAt(stream, &n, 0, SEEK_SET), nullptr);
    EXPECT_EQ(n, -ESPIPE);
    EXPECT_EQ(asf_sclose(stream), 0);
}

// Changes, removes and inserts random bytes; the parts must fail or succeed as asf_decode does on the whole
// file.
TEST_P(DecodedPartsOf, FailAsTheWholeFileDoes) {
    Random random(3);
    const std::string packed = frames(pieces(lines_of(random, 400000, 60), 9000));
    for (int round = 0; round < 100; round++) {
        std::string damaged = packed;
        const size_t at = random() % packed.size(), n = 1 + random() % 8;
        if (round % 4 == 0)
            damaged.resize(at);
        else if (round % 4 == 1)
            damaged.erase(at, n);
        else
            for (size_t i = at; i < std::min(at + n, packed.size()); i++)
                damaged[i] = static_cast<char>(random());
        const std::string file = put("packed", damaged);
        asf_cios *stream = asf_decode(asf_sopen(file.c_str(), O_RDONLY, 0, nullptr), nullptr);
        ASSERT_NE(stream, nullptr);
        const Read expected = read_all(stream);
        asf_sclose(stream);
        Read got;
        for (const asf_part &part : parts_of(file, {'\n', round % 3 ? 0 : 10, 20000, true})) {
            const Read r = read_part(file, part);
            got.bytes += r.bytes;
            got.error = r.error;
            if (r.error)
                break;
        }
        EXPECT_EQ(got.error == 0, expected.error == 0)
            << round << ": " << got.error << ", " << expected.error;
        EXPECT_TRUE(got.error == 0 || got.error == -EBADMSG || got.error == -EIO || got.error == -ENOMEM);
        const size_t both = std::min(got.bytes.size(), expected.bytes.size());
        EXPECT_TRUE(got.bytes.substr(0, both) == expected.bytes.substr(0, both)) << round;
        EXPECT_TRUE(got.error || got.bytes.size() == expected.bytes.size()) << round;
    }
}

TEST_P(DecodedPartsOf, OfAFileThatChanges) {
    Random random(4);
    const std::string lines = lines_of(random, 400000, 60), packed = frames(pieces(lines, 9000));
    const std::string file = put("packed", packed), more = frames({"appended\n"});
    const Parts parts = parts_of(file, {'\n', 0, 20000, true});
    std::string all;
    const int fd = open(file.c_str(), O_WRONLY | O_APPEND);
    EXPECT_EQ(write(fd, more.data(), more.size()), static_cast<ssize_t>(more.size()));
    close(fd);
    for (const asf_part &part : parts)
        all += read_part(file, part).bytes;
    EXPECT_TRUE(all == lines);
    put("packed", packed.substr(1) + packed);
    EXPECT_EQ(read_part(file, parts[1]).error, -ESTALE);
    put("packed", packed.substr(0, 30000));
    EXPECT_EQ(read_part(file, parts[0]).error, -ESTALE);

    put("packed", packed);
    const asf_part large = parts_of(file, {'\n', 0, static_cast<int64_t>(packed.size()) - 100000, true})[0];
    asf_cios *stream = asf_sopen_part(file.c_str(), &large, nullptr);
    ASSERT_NE(stream, nullptr);
    ASSERT_EQ(truncate(file.c_str(), 1000), 0);
    EXPECT_EQ(read_all(stream).error, -EIO);
    EXPECT_EQ(asf_sclose(stream), 0);
}

// A part whose end is not the end of a frame.
TEST_P(DecodedPartsOf, WithAWrongEndIsRefused) {
    Random random(5);
    const std::string file = put("packed", frames(pieces(lines_of(random, 400000, 60), 9000)));
    asf_part part = parts_of(file, {'\n', 0, 20000, true})[1];
    part.end -= 20;
    const Read r = read_part(file, part);
    EXPECT_EQ(r.error, -EBADMSG);
    part.form = 9;
    EXPECT_EQ(read_part(file, part).error, -EINVAL);
}

class DecodedRecords : public DecodedPartsOf {};

INSTANTIATE_TEST_SUITE_P(Each, DecodedRecords,
                         testing::Values(Format{"zstd", "zstd -qc"}, Format{"bgzf", ""},
                                         Format{"lz4", "lz4 -qc --content-size"}),
                         [](const auto &one) { return one.param.name; });

TEST_P(DecodedRecords, AreWhole) {
    Random random(6);
    const std::string plain = pattern(150007);
    for (const Texts &texts : {pieces(plain, 7000), pieces(plain, 9000, &random)}) {
        const std::string file = put("packed", frames(texts));
        for (int64_t record : {1, 7, 100, 7000, 21000, 200000}) {
            const size_t count = expect_whole(file, {0, record, 15000, true}, plain);
            EXPECT_EQ(count > 1, record <= 21000) << record << ": " << count;
        }
    }
}

// These frames do not contain the size of their decoded data.
TEST_F(DecodedParts, RecordsOfUnknownPlacesAreOnePart) {
    const std::string plain = pattern(100000);
    for (const char *tool : {"zstd -qc <", "lz4 -qc <", "lz4 -qc -l"}) {
        const std::string file = put("packed", frames(tool, pieces(plain, 9000)));
        EXPECT_EQ(expect_whole(file, {0, 10, 9000, true}, plain), 1U) << tool;
        EXPECT_EQ(parts_of(file, {0, 10, 9000, true})[0].form, ASF_PART_WHOLE);
    }
}

TEST_F(DecodedParts, OfWhatHasNoFramesToCut) {
    Random random(7);
    const std::string lines = lines_of(random, 900000, 60);
    for (const char *tool : {"zstd -qc", "gzip -c", "lz4 -qc", "xz -0c"}) {
        const std::string file = put("packed", frames(tool, {lines}));
        EXPECT_EQ(expect_whole(file, {'\n', 0, 10000, true}, lines), 1U) << tool;
        EXPECT_EQ(parts_of(file, {'\n', 0, 10000, true})[0].form, ASF_PART_WHOLE) << tool;
    }
    const std::string gzip = put("packed", frames("gzip -c", pieces(lines, 100000)));
    EXPECT_EQ(expect_whole(gzip, {'\n', 0, 10000, true}, lines), 1U);
    const std::string plain = put("plain", lines);
    EXPECT_GT(expect_whole(plain, {'\n', 0, 10000, true}, lines), 50U);
    EXPECT_EQ(parts_of(plain, {'\n', 0, 10000, true})[0].form, ASF_PART_PLAIN);
    EXPECT_TRUE(parts_of(put("plain", ""), {'\n', 0, 0, true}).empty());
    EXPECT_EQ(read_part("/proc/self/status", parts_of("/proc/self/status", {'\n', 0, 0, true})[0]).error, 0);
}

// Gzip members with and without a size field, and zero bytes after the last one.
TEST_F(DecodedParts, OfGzipMembersOfAllKinds) {
    Random random(8);
    const std::string lines = lines_of(random, 600000, 60);
    std::string packed;
    size_t i = 0;
    for (const Texts &texts : {pieces(lines, 30000)})
        for (const std::string &text : texts)
            packed += i++ % 10 == 7 ? frames("gzip -c", {text}) : bgzf(text);
    const std::string file = put("packed", packed + std::string(100000, '\0'));
    expect_whole(file, {'\n', 0, 20000, true}, lines);
    expect_whole(file, {'\n', 10, 20000, true}, lines);
    expect_whole(file, {'\n', 0, 1, true}, lines); // must not read bytes again for every part
}

// A stored member contains other members as its data.
TEST_F(DecodedParts, OfMembersWithinMembers) {
    Random random(9);
    std::string inner;
    for (const std::string &text : pieces(lines_of(random, 3000000, 60), 6000))
        inner += bgzf(text);
    std::string outer;
    for (const std::string &bytes : pieces(inner, 60000))
        outer += bgzf(bytes, 0);
    EXPECT_GT(expect_whole(put("packed", outer), {'\n', 0, 90000, true}, inner), 3U);
}

// Impossible sizes, and headers without an end.
TEST_F(DecodedParts, OfHostileHeaders) {
    const std::string skippable("\x50\x2a\x4d\x18\xff\xff\xff\xff", 8), zstd("\x28\xb5\x2f\xfd\x00\x58", 6);
    const std::string lz4("\x04\x22\x4d\x18\x68\x40\xff\xff\xff\xff\xff\xff\xff\xff\0", 15);
    const std::string blocks(300000, '\0');
    for (const std::string &head : {skippable, skippable + skippable, zstd, lz4, zstd + blocks,
                                    std::string("\x02\x21\x4c\x18\0\0\0\0", 8) + blocks,
                                    std::string("\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xff", 12) + blocks})
        for (int64_t record : {0, 10}) {
            const std::string file = put("packed", head);
            const Parts parts = parts_of(file, {'\n', record, 5, true});
            EXPECT_EQ(parts.size(), 1U);
            EXPECT_NE(read_part(file, parts[0]).error, 0);
        }
}

TEST_F(DecodedParts, OfThePartsOfTools) {
    Random random(10);
    const std::string lines = lines_of(random, 12000000, 60);
    put("lines", lines);
    for (const char *tool : {"pzstd -1 -qc -p 2", "bgzip -l 1 -c"}) {
        const std::string name = std::string(tool).substr(0, 5);
        if (system(("command -v " + name + " >/dev/null").c_str()) == 0) {
            const std::string file = put("packed", output(std::string(tool) + " lines"));
            EXPECT_GT(expect_whole(file, {'\n', 0, 100000, true}, lines), 1U) << tool;
        }
    }
}

int count_lines(asf_cios *stream, const asf_part *, void *total) {
    asf_lines iterator;
    ssize_t n;
    int64_t lines = 0;
    asf_lines_begin(&iterator, stream, '\n', 0);
    while (asf_lines_next(&iterator, &n))
        lines++;
    asf_lines_end(&iterator);
    *static_cast<std::atomic<int64_t> *>(total) += lines;
    return static_cast<int>(n);
}

TEST_F(DecodedParts, AreReadByThreads) {
    Random random(11);
    const std::string lines = lines_of(random, 3000000, 60), packed = frames("", pieces(lines, 60000));
    const std::string file = put("packed", packed);
    const asf_cut how = {'\n', 0, 40000, true};
    for (unsigned threads : {1U, 3U}) {
        std::atomic<int64_t> total = 0;
        EXPECT_EQ(asf_each_part(file.c_str(), &how, threads, count_lines, nullptr, &total), 0);
        EXPECT_EQ(total, std::count(lines.begin(), lines.end(), '\n'));
    }
    std::atomic<int64_t> total = 0;
    put("packed", packed.substr(0, packed.size() - 5));
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, count_lines, nullptr, &total), -EIO);
    put("packed", frames("gzip -c", {lines}));
    EXPECT_EQ(asf_each_part(file.c_str(), &how, 3, count_lines, nullptr, &total), 0);
}

TEST_F(DecodedParts, ColumnsOfATable) {
    std::string table = "id;price\n";
    for (int i = 0; i < 300000; i++)
        table += std::to_string(i) + ";" + std::to_string(i % 1000) + ".5\n";
    for (const std::string &packed : {frames("", pieces(table, 20000)),
                                      frames("zstd -qc", pieces(table, 900000)), frames("xz -0c", {table})}) {
        asf_column columns[] = {{0, ASF_INT32, nullptr}, {1, ASF_DOUBLE, nullptr}};
        ASSERT_EQ(asf_read_columns(put("packed", packed).c_str(), ';', 1, columns, 2, 2), 300000);
        for (int i = 0; i < 300000; i++) {
            ASSERT_EQ(static_cast<int32_t *>(columns[0].values)[i], i);
            ASSERT_EQ(static_cast<double *>(columns[1].values)[i], i % 1000 + 0.5);
        }
        free(columns[0].values);
        free(columns[1].values);
    }
}

} // namespace
} // namespace asi
