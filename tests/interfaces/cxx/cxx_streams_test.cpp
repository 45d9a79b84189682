// SPDX-License-Identifier: MIT
//
// cxx_streams_test.cpp - compares <asf/streams.hpp> with <fstream>: the same random calls on equal files give
// the same transcript and equal files.
#include "tests/interfaces/cxx/cxx_test.h"

#include <asf/streams.hpp>

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

namespace {

using std::ios_base;
using namespace cxx;

#ifdef __GLIBCXX__ // tested against libstdc++; other libraries differ in offsets and modes

// Formats numbers with grouping and a comma, as many locales do; no such locale needs to be installed.
class Grouped : public std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

using Random = std::mt19937;

// Valid and invalid numbers, words, blanks and bytes; sometimes longer than the buffer.
std::string some_text(Random &random) {
    static const char *const pieces[] = {
        "0",          "7",         "-12",         "+5",    "99999999999999999999",
        "2147483648", "1.5",       "-.25",        "1e5",   "1e",
        "1e999",      "0x1F",      "017",         "-",     "+",
        "1-2",        "12abc",     "1.2.3",       "nan",   "inf",
        "a",          "long word", "1.234.567,5", "true",  "4e-320",
        "65536",      "-32769",    "5.",          "00012", "1+1"};
    static const char *const blanks[] = {" ", "\n", "\t", "  \n", "\r\n", "\v", "\f ", ",", ""};
    std::string text;
    std::size_t size = random() % 4 == 0 ? random() % 200000 : random() % 300;
    while (text.size() < size) {
        if (random() % 50 == 0)
            text.append(random() % (random() % 20 == 0 ? 100000 : 100), 'x');
        text += pieces[random() % std::size(pieces)];
        text += blanks[random() % std::size(blanks)];
        if (random() % 100 == 0)
            text += static_cast<char>(random());
    }
    return text;
}

// Adds the stream's state to the transcript.
template <class Stream> void tell(std::ostream &out, Stream &stream) {
    out << " [" << stream.rdstate() << ']';
}

template <class Value, class Stream> void extract(std::ostream &out, Stream &in) {
    Value value = {};
    in >> value;
    out << value;
}

template <class Stream> void read_something(std::ostream &out, Stream &in, Random &random) {
    static char block[200000];
    std::string text;
    switch (auto call = random() % 25; call) {
    case 0:
        return extract<int>(out << "int ", in);
    case 1:
        return extract<unsigned>(out << "unsigned ", in);
    case 2:
        return extract<short>(out << "short ", in);
    case 3:
        return extract<unsigned short>(out << "ushort ", in);
    case 4:
        return extract<long>(out << "long ", in);
    case 5:
        return extract<unsigned long long>(out << "ullong ", in);
    case 6:
        return extract<double>(out << "double ", in);
    case 7:
        return extract<float>(out << "float ", in);
    case 8:
        return extract<std::string>(out << "string ", in);
    case 9:
        return extract<char>(out << "char ", in);
    case 10:
        return extract<bool>(out << "bool ", in);
    case 11:
        out << "get " << in.get();
        return;
    case 12:
        out << "peek " << in.peek();
        return;
    case 13:
        out << "unget " << in.get(); // after some read calls, libstdc++'s unget does nothing
        out << "unget" << static_cast<bool>(in.unget());
        return;
    case 14: { // puts back a byte that differs from the one read, and reads it again
        char other = "x7 "[random() % 3];
        if (in.get() == EOF || !in.putback(other))
            return;
        if (other == '7')
            extract<int>(out << "putback ", in);
        else
            out << "putback " << in.get();
        out << in.get(); // before this get, libstdc++ may return a wrong offset
        return;
    }
    case 15:
        out << "getline " << static_cast<bool>(std::getline(in, text)) << text;
        return;
    case 23: // asf has its own getline for a single-character delimiter
        text = "before";
        out << "getline " << static_cast<bool>(getline(in, text, " \nx"[random() % 3])) << text;
        return;
    case 16:
    case 17: {
        auto n = static_cast<std::streamsize>(random() % (call == 16 ? 20 : sizeof block));
        in.read(block, n);
        out << "read " << in.gcount() << ' ' << std::string(block, static_cast<std::size_t>(in.gcount()));
        return;
    }
    case 18:
        in.ignore(random() % 100, random() % 2 ? '\n' : -1);
        out << "ignore " << in.gcount();
        return;
    case 19:
        in >> std::ws;
        out << "ws";
        return;
    case 20:
        in.flags(random() % 3 == 0 ? ios_base::hex | ios_base::skipws
                 : random() % 2    ? ios_base::fmtflags{}
                                   : ios_base::dec | ios_base::skipws);
        out << "flags";
        return;
    case 21:
        in.imbue(random() % 2 ? std::locale(std::locale::classic(), new Grouped) : std::locale::classic());
        out << "imbue";
        return;
    case 22:
        in.width(random() % 4);
        out << "width";
        return;
    default:
        out << "tellg " << in.tellg();
        return;
    }
}

template <class Stream> void write_something(std::ostream &out, Stream &to, Random &random) {
    switch (random() % 20) {
    case 0:
        to << static_cast<int>(random());
        return;
    case 1:
        to << static_cast<unsigned short>(random()) << ' ';
        return;
    case 2:
        to << static_cast<double>(random()) / 1000 << '\n';
        return;
    case 3:
        to << static_cast<float>(random()) / 7;
        return;
    case 4:
        to << "text " << static_cast<long>(random()) * -1;
        return;
    case 5:
        to << std::string(random() % (random() % 10 == 0 ? 200000 : 50), 'y');
        return;
    case 6:
        to << std::string_view("view") << 'c';
        return;
    case 7:
        to.put('p');
        return;
    case 8:
        to.write("abcdefgh", static_cast<std::streamsize>(random() % 8));
        return;
    case 9:
        to.flush();
        return;
    case 10:
        to << std::endl;
        return;
    case 11:
        to.flags(random() % 3 == 0 ? ios_base::hex | ios_base::showbase
                 : random() % 2    ? ios_base::dec | ios_base::skipws
                                   : ios_base::fixed | ios_base::left);
        return;
    case 12:
        to.width(random() % 10);
        return;
    case 13:
        to.precision(random() % 12);
        return;
    case 14:
        to.imbue(random() % 2 ? std::locale(std::locale::classic(), new Grouped) : std::locale::classic());
        return;
    case 15:
        to << true << static_cast<void *>(nullptr) << std::unitbuf;
        return;
    case 16:
        to << std::nounitbuf << 1e300 << -0.0 << 1e-7;
        return;
    case 17:
        to << static_cast<const char *>(random() % 20 ? "" : nullptr);
        return;
    default:
        to.flush(); // flush, since appended output gets its offset when it is written
        out << "tellp " << to.tellp();
        return;
    }
}

template <class Stream> void seek(std::ostream &out, Stream &stream, Random &random, bool put) {
    static constexpr ios_base::seekdir from[] = {ios_base::beg, ios_base::cur, ios_base::end};
    int which = static_cast<int>(random() % 3);
    std::streamoff offset = static_cast<std::streamoff>(random() % 1000) - (which == 0 ? 100 : 500);
    if (put)
        stream.rdbuf()->pubseekoff(0, ios_base::cur, ios_base::out);
    out << "seek "
        << std::streamoff(
               stream.rdbuf()->pubseekoff(offset, from[which], put ? ios_base::out : ios_base::in));
}

// Reads and writes in turn if the stream allows both, with a seek between them.
template <class Stream>
std::string transcript(const fs::path &path, unsigned seed, ios_base::openmode mode, unsigned calls) {
    Random random(seed);
    std::ostringstream out;
    Stream stream;
    if constexpr (requires { stream.tellp(); })
        if (random() % 10 == 0)
            stream.rdbuf()->pubsetbuf(nullptr, 0);
    stream.open(path, mode);
    out << stream.is_open();
    bool writing = false;
    for (unsigned i = 0; i < calls; i++) {
        if constexpr (requires {
                          stream.tellg();
                          stream.tellp();
                      }) {
            if (random() % 8 == 0) {
                writing = !writing;
                seek(out, stream, random, writing);
            }
            writing ? write_something(out, stream, random) : read_something(out, stream, random);
        } else if constexpr (requires { stream.tellg(); }) {
            read_something(out, stream, random);
        } else {
            write_something(out, stream, random);
        }
        // an appending stream's offset is unspecified until the next write
        if (random() % 16 == 0 && !(mode & ios_base::app))
            seek(out, stream, random, writing);
        tell(out, stream);
        out << '\n';
        if (!stream.good() && random() % 4)
            stream.clear();
        if (random() % 500 == 0) {
            Stream moved(std::move(stream));
            stream = std::move(moved);
        }
    }
    stream.close();
    tell(out, stream);
    return out.str();
}

template <class Ours, class Theirs> void compare(ios_base::openmode mode, unsigned rounds) {
    Directory directory;
    fs::path ours = directory / "ours", theirs = directory / "theirs";
    for (unsigned seed = 0; seed < rounds; seed++) {
        Random random(seed);
        std::string text = some_text(random);
        make(ours, text);
        make(theirs, text);
        unsigned calls = 1 + static_cast<unsigned>(random() % 200);
        std::string expected = transcript<Theirs>(theirs, seed, mode, calls);
        ASSERT_EQ(transcript<Ours>(ours, seed, mode, calls), expected) << "seed " << seed;
        ASSERT_TRUE(contents(ours) == contents(theirs)) << "seed " << seed;
    }
}

constexpr unsigned rounds = 100;

TEST(CxxStreams, ReadAsThoseOfTheStandardLibrary) {
    compare<asf::istream, std::ifstream>(ios_base::in, rounds);
    compare<asf::istream, std::ifstream>(ios_base::in | ios_base::binary | ios_base::ate, rounds / 10);
}

TEST(CxxStreams, WriteAsThoseOfTheStandardLibrary) {
    compare<asf::ostream, std::ofstream>(ios_base::out, rounds);
    compare<asf::ostream, std::ofstream>(ios_base::app, rounds / 4);
    compare<asf::ostream, std::ofstream>(ios_base::out | ios_base::in, rounds / 4);
}

TEST(CxxStreams, UpdateAsThoseOfTheStandardLibrary) {
    compare<asf::iostream, std::fstream>(ios_base::in | ios_base::out, rounds);
    compare<asf::iostream, std::fstream>(ios_base::in | ios_base::out | ios_base::trunc, rounds / 4);
}

// Opens existing and missing files in every mode.
TEST(CxxStreams, OpeningAsThoseOfTheStandardLibrary) {
    Directory directory;
    const ios_base::openmode letters[] = {ios_base::in,  ios_base::out, ios_base::trunc,
                                          ios_base::app, ios_base::ate, ios_base::binary};
    for (unsigned bits = 0; bits < 64; bits++)
        for (bool there : {false, true}) {
            ios_base::openmode mode = {};
            for (unsigned i = 0; i < 6; i++)
                if (bits >> i & 1)
                    mode |= letters[i];
            auto look = [&](auto &&stream) {
                fs::path path = directory / "file";
                fs::remove(path);
                if (there)
                    make(path, "old text");
                stream.open(path, mode);
                std::ostringstream out;
                out << stream.is_open() << stream.rdstate() << ' ' << stream.tellp() << ' ' << stream.tellg()
                    << ' ' << (stream << "new").rdstate();
                stream.close();
                return out.str() + ' ' + contents(path);
            };
            EXPECT_EQ(look(asf::iostream()), look(std::fstream())) << "mode " << mode << ", there: " << there;
        }
    EXPECT_TRUE(asf::istream(directory / "no such").fail());
    EXPECT_TRUE(asf::istream("/").is_open()); // opens, but cannot be read
    EXPECT_EQ(asf::istream("/").get(), EOF);
    EXPECT_TRUE(asf::ostream(directory / "no/such").fail());
}

#endif

TEST(CxxStreams, AFullDeviceIsToldOf) {
    asf::ostream out("/dev/full");
    out << "text" << std::flush;
    EXPECT_TRUE(out.bad());
    asf::ostream late("/dev/full");
    late << "text";
    EXPECT_TRUE(late.good());
    late.close();
    EXPECT_TRUE(late.fail());
}

TEST(CxxStreams, APipeIsReadAsItComes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    asf::istream in("/dev/fd/" + std::to_string(ends[0]));
    std::string word;
    for (const char *line : {"one \n", "two \n"}) {
        ASSERT_EQ(write(ends[1], line, 5), 5);
        in >> word;
        EXPECT_EQ(word, std::string(line, 3));
    }
    EXPECT_EQ(in.tellg(), -1);
    close(ends[0]);
    close(ends[1]);
}

TEST(CxxStreams, ExceptionsAreThrownWhereTheyAreAskedFor) {
    asf::istream in("/");
    in.exceptions(ios_base::badbit);
    EXPECT_THROW(in.get(), ios_base::failure);
}

class Shouting : public std::codecvt<char, char, std::mbstate_t> {
    bool do_always_noconv() const noexcept override { return false; }
};

TEST(CxxStreams, ALocaleThatConvertsBytesIsRefused) {
    Directory directory;
    asf::istream in(make(directory / "file", "text"));
    in.imbue(std::locale(std::locale::classic(), new Shouting));
    EXPECT_EQ(in.get(), EOF);
    EXPECT_TRUE(in.bad());
    asf::ostream out(directory / "out");
    out.imbue(std::locale(std::locale::classic(), new Shouting));
    EXPECT_TRUE((out << 'x').bad());
}

} // namespace
