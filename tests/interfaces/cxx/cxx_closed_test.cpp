// SPDX-License-Identifier: MIT
//
// cxx_closed_test.cpp - each call on objects that were never opened, could not be opened, were closed or were
// moved from. Objects of <asf/streams.hpp> behave like those of <fstream>, and objects of <asf/asf.hpp> fail
// with EBADF.
#include "tests/interfaces/cxx/cxx_test.h"

#include <asf/asf.hpp>
#include <asf/streams.hpp>

#include <fstream>
#include <functional>
#include <iomanip>
#include <memory>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace cxx;
using std::ios_base;

#ifdef __GLIBCXX__ // tested against libstdc++; other libraries differ in offsets and states

template <class Stream> constexpr bool reads = std::is_base_of_v<std::istream, Stream>;
template <class Stream> constexpr bool writes = std::is_base_of_v<std::ostream, Stream>;

// `stream` is not open; `target` receives its former contents if it is moved from.
template <class Stream> struct Object { Stream stream, target; };

template <class Stream> struct State {
    const char *name;
    std::function<void(Object<Stream> &, const fs::path &)> reach;
};

template <class Stream> void use(Stream &stream) {
    if constexpr (reads<Stream>)
        stream.get();
    if constexpr (writes<Stream>)
        stream << 12 << " and some text";
}

template <class Stream> std::vector<State<Stream>> states() {
    using O = Object<Stream>;
    const auto open = [](O &o, const fs::path &path) { o.stream.open(path); };
    return {
        {"never opened", [](O &, const fs::path &) {}},
        {"not there", [](O &o, const fs::path &path) { o.stream.open(path / "no such"); }},
        {"closed", [=](O &o, const fs::path &path) { open(o, path), o.stream.close(); }},
        {"used and closed",
         [=](O &o, const fs::path &path) { open(o, path), use(o.stream), o.stream.close(); }},
        {"closed twice",
         [=](O &o, const fs::path &path) { open(o, path), o.stream.close(), o.stream.close(); }},
        {"moved from", [=](O &o, const fs::path &path) { open(o, path), o.target = std::move(o.stream); }},
        {"used and moved from",
         [=](O &o, const fs::path &path) { open(o, path), use(o.stream), o.target = std::move(o.stream); }},
        {"moved from by a constructor",
         [=](O &o, const fs::path &path) { open(o, path), use(o.stream), Stream(std::move(o.stream)); }},
        {"a closed one was moved here",
         [=](O &o, const fs::path &path) {
             open(o, path), use(o.stream), o.target.open(path), o.target.close();
             o.stream = std::move(o.target);
         }},
    };
}

template <class Stream> struct Call {
    const char *name;
    std::function<void(Stream &, std::ostream &)> make;
};

template <class Stream> void add_input(std::vector<Call<Stream>> &calls) {
    using S = Stream;
    static char block[100];
    const std::vector<Call<S>> all = {
        {"get", [](S &s, std::ostream &out) { out << s.get(); }},
        {"get a char", [](S &s, std::ostream &) { s.get(*block); }},
        {"get a line", [](S &s, std::ostream &) { s.get(block, 10); }},
        {"get to a streambuf", [](S &s, std::ostream &out) { s.get(*out.rdbuf()); }},
        {"getline", [](S &s, std::ostream &) { s.getline(block, 10); }},
        {"std::getline", [](S &s, std::ostream &) { std::string text; std::getline(s, text); }},
        {"peek", [](S &s, std::ostream &out) { out << s.peek(); }},
        {"unget", [](S &s, std::ostream &) { s.unget(); }},
        {"putback", [](S &s, std::ostream &) { s.putback('x'); }},
        {"read", [](S &s, std::ostream &out) { out << s.read(block, 10).gcount(); }},
        {"readsome", [](S &s, std::ostream &out) { out << s.readsome(block, 10); }},
        {"ignore", [](S &s, std::ostream &out) { out << s.ignore(10).gcount(); }},
        {">> int", [](S &s, std::ostream &out) { int v = 5; s >> v; out << v; }},
        {">> long", [](S &s, std::ostream &out) { long v = 5; s >> v; out << v; }},
        {">> double", [](S &s, std::ostream &out) { double v = 5; s >> v; out << v; }},
        {">> bool", [](S &s, std::ostream &out) { bool v = true; s >> v; out << v; }},
        {">> string", [](S &s, std::ostream &out) { std::string v = "old"; s >> v; out << v; }},
        {">> char", [](S &s, std::ostream &out) { char v = 'o'; s >> v; out << v; }},
        {">> ws", [](S &s, std::ostream &) { s >> std::ws; }},
        {">> streambuf", [](S &s, std::ostream &out) { std::ostringstream to; s >> to.rdbuf(); out << to.str(); }},
        {"tellg", [](S &s, std::ostream &out) { out << s.tellg(); }},
        {"seekg", [](S &s, std::ostream &) { s.seekg(1); }},
        {"seekg to the end", [](S &s, std::ostream &) { s.seekg(0, ios_base::end); }},
        {"sync", [](S &s, std::ostream &out) { out << s.sync(); }},
        {"sgetc", [](S &s, std::ostream &out) { out << s.rdbuf()->sgetc(); }},
        {"sbumpc", [](S &s, std::ostream &out) { out << s.rdbuf()->sbumpc(); }},
        {"snextc", [](S &s, std::ostream &out) { out << s.rdbuf()->snextc(); }},
        {"sgetn", [](S &s, std::ostream &out) { out << s.rdbuf()->sgetn(block, 10); }},
        {"sgetn of much",
         [](S &s, std::ostream &out) {
             std::vector<char> much(200000);
             out << s.rdbuf()->sgetn(much.data(), 200000);
         }},
        {"sungetc", [](S &s, std::ostream &out) { out << s.rdbuf()->sungetc(); }},
        {"sputbackc", [](S &s, std::ostream &out) { out << s.rdbuf()->sputbackc('x'); }},
        {"in_avail", [](S &s, std::ostream &out) { out << s.rdbuf()->in_avail(); }},
    };
    calls.insert(calls.end(), all.begin(), all.end());
}

template <class Stream> void add_output(std::vector<Call<Stream>> &calls) {
    using S = Stream;
    static const std::string much(200000, 'x');
    const std::vector<Call<S>> all = {
        {"put", [](S &s, std::ostream &) { s.put('x'); }},
        {"write", [](S &s, std::ostream &) { s.write("text", 4); }},
        {"write nothing", [](S &s, std::ostream &) { s.write("", 0); }},
        {"write much", [](S &s, std::ostream &) { s.write(much.data(), 200000); }},
        {"<< int", [](S &s, std::ostream &) { s << 1; }},
        {"<< long long", [](S &s, std::ostream &) { s << 1LL; }},
        {"<< double", [](S &s, std::ostream &) { s << 2.5; }},
        {"<< bool", [](S &s, std::ostream &) { s << true; }},
        {"<< char", [](S &s, std::ostream &) { s << 'c'; }},
        {"<< text", [](S &s, std::ostream &) { s << "text"; }},
        {"<< string", [](S &s, std::ostream &) { s << std::string("text"); }},
        {"<< string_view", [](S &s, std::ostream &) { s << std::string_view("text"); }},
        {"<< nothing", [](S &s, std::ostream &) { s << ""; }},
        {"<< pointer", [](S &s, std::ostream &) { s << static_cast<const void *>(nullptr); }},
        {"<< setw", [](S &s, std::ostream &) { s << std::setw(7) << 1; }},
        {"<< streambuf",
         [](S &s, std::ostream &) {
             std::istringstream from("text");
             s << from.rdbuf();
         }},
        {"endl", [](S &s, std::ostream &) { s << std::endl; }},
        {"unitbuf", [](S &s, std::ostream &) { s << std::unitbuf << 1 << std::nounitbuf; }},
        {"flush", [](S &s, std::ostream &) { s.flush(); }},
        {"tellp", [](S &s, std::ostream &out) { out << s.tellp(); }},
        {"seekp", [](S &s, std::ostream &) { s.seekp(1); }},
        {"seekp to the end", [](S &s, std::ostream &) { s.seekp(0, ios_base::end); }},
        {"sputc", [](S &s, std::ostream &out) { out << s.rdbuf()->sputc('x'); }},
        {"sputn", [](S &s, std::ostream &out) { out << s.rdbuf()->sputn("text", 4); }},
        {"sputn of much", [](S &s, std::ostream &out) { out << s.rdbuf()->sputn(much.data(), 200000); }},
        {"unbuffered sputc",
         [](S &s, std::ostream &out) { s.rdbuf()->pubsetbuf(nullptr, 0), out << s.rdbuf()->sputc('x'); }},
    };
    calls.insert(calls.end(), all.begin(), all.end());
}

template <class Stream> std::vector<Call<Stream>> calls() {
    using S = Stream;
    std::vector<Call<S>> calls = {
        {"is_open", [](S &s, std::ostream &out) { out << s.is_open(); }},
        {"close", [](S &s, std::ostream &) { s.close(); }},
        {"close of the buffer", [](S &s, std::ostream &out) { out << !s.rdbuf()->close(); }},
        {"open in vain", [](S &s, std::ostream &) { s.open("/no/such/file"); }},
        {"copyfmt", [](S &s, std::ostream &) { s.copyfmt(std::ostringstream()); }},
        {"imbue", [](S &s, std::ostream &) { s.imbue(std::locale::classic()); }},
        {"pubsync", [](S &s, std::ostream &out) { out << s.rdbuf()->pubsync(); }},
        {"pubseekoff", [](S &s, std::ostream &out) { out << s.rdbuf()->pubseekoff(0, ios_base::cur); }},
        {"pubseekpos", [](S &s, std::ostream &out) { out << s.rdbuf()->pubseekpos(3); }},
        {"move to itself",
         [](S &s, std::ostream &) {
             S other(std::move(s));
             s = std::move(other);
         }},
    };
    if constexpr (reads<S>)
        add_input(calls);
    if constexpr (writes<S>)
        add_output(calls);
    return calls;
}

// Makes a file for input streams. For output streams only removes it, since truncating an existing file
// causes a write to the disk.
template <class Stream> fs::path file(const fs::path &path) {
    fs::remove(path);
    return reads<Stream> ? make(path, "1 2 3 and some text\n") : path;
}

// Returns the results of two successive calls on an object in this state. The object must work again after it
// is opened.
template <class Stream>
std::string transcript(const Directory &directory, const State<Stream> &state, const Call<Stream> &first,
                       const Call<Stream> &second, bool cleared, bool throws) {
    Object<Stream> object;
    Stream &stream = object.stream;
    std::ostringstream out;
    state.reach(object, file<Stream>(directory / "file"));
    for (const auto *call : {&first, &second}) {
        if (cleared)
            stream.clear();
        try {
            if (throws)
                stream.exceptions(ios_base::badbit | ios_base::failbit);
            call->make(stream, out);
        } catch (const ios_base::failure &) {
            out << " thrown";
        }
        stream.exceptions(ios_base::goodbit);
        out << " [" << stream.rdstate() << "] ";
    }
    stream.close();
    stream.open(file<Stream>(directory / "again"));
    out << stream.is_open() << stream.rdstate();
    use(stream);
    stream.close();
    object.target.close();
    return out.str() + contents(directory / "file") + contents(directory / "again");
}

template <class Ours, class Theirs> void compare(bool cleared, bool throws) {
    const Directory directory;
    const auto our_states = states<Ours>();
    const auto their_states = states<Theirs>();
    const auto ours = calls<Ours>();
    const auto theirs = calls<Theirs>();
    for (size_t i = 0; i < ours.size(); i++)
        for (size_t state = 0; state < our_states.size(); state++) {
            const size_t j = (i * 7 + state) % ours.size();
            EXPECT_EQ(transcript(directory, their_states[state], theirs[i], theirs[j], cleared, throws),
                      transcript(directory, our_states[state], ours[i], ours[j], cleared, throws))
                << our_states[state].name << ": " << ours[i].name << ", " << ours[j].name;
        }
}

TEST(CxxClosed, InputStreamsAreAsThoseOfTheStandardLibrary) {
    for (int i = 0; i < 4; i++)
        compare<asf::istream, std::ifstream>(i & 1, i & 2);
}

TEST(CxxClosed, OutputStreamsAreAsThoseOfTheStandardLibrary) {
    for (int i = 0; i < 4; i++)
        compare<asf::ostream, std::ofstream>(i & 1, i & 2);
}

TEST(CxxClosed, StreamsOfBothAreAsThoseOfTheStandardLibrary) {
    for (int i = 0; i < 4; i++)
        compare<asf::iostream, std::fstream>(i & 1, i & 2);
}

// After flush has reported an error, close reports it again; later calls do not.
TEST(CxxClosed, AFullDeviceIsToldOfByClose) {
    const auto states = [](auto stream) {
        std::ostringstream out;
        stream.open("/dev/full");
        stream << 1;
        stream.flush();
        out << stream.rdstate();
        stream.close();
        out << stream.rdstate();
        stream.clear();
        stream << 5;
        out << stream.rdstate();
        stream.open("/dev/null");
        out << stream.rdstate();
        stream.close();
        out << stream.rdstate();
        return out.str();
    };
    EXPECT_EQ(states(std::ofstream()), states(asf::ostream()));
}

#endif

// --- <asf/asf.hpp>: EBADF is thrown or stored; calls that report no error return an empty result ---

using Closed = std::function<asf::stream(const fs::path &)>;

const std::pair<const char *, Closed> closed[] = {
    {"never opened", [](const fs::path &) { return asf::stream(); }},
    {"not there",
     [](const fs::path &) {
         std::error_code error;
         return asf::stream("/no/such/file", O_RDONLY, 0, error);
     }},
    {"closed",
     [](const fs::path &path) {
         asf::stream s(path, O_RDWR);
         s.close();
         return s;
     }},
    {"moved from",
     [](const fs::path &path) {
         asf::stream s(path, O_RDWR), other(std::move(s));
         return s; // NOLINT
     }},
    {"given up",
     [](const fs::path &path) {
         asf::stream s(path, O_RDWR);
         asf_sclose(s.release());
         return s;
     }},
};

struct Refused {
    const char *name;
    std::function<void(asf::stream &, std::error_code &)> quiet;
    std::function<void(asf::stream &)> loud;
};

template <class Range> void walk(Range range) {
    for (std::string_view each : range)
        ADD_FAILURE() << each;
}

const Refused refused[] = {
    {"close", [](auto &s, auto &e) { s.close(e); }, [](auto &s) { s.close(); }},
    {"flush", [](auto &s, auto &e) { s.flush(e); }, [](auto &s) { s.flush(); }},
    {"read", [](auto &s, auto &e) { EXPECT_TRUE(s.read(3, e).empty()); }, [](auto &s) { s.read(3); }},
    {"read_some", [](auto &s, auto &e) { EXPECT_TRUE(s.read_some(3, e).empty()); },
     [](auto &s) { s.read_some(3); }},
    {"read_at", [](auto &s, auto &e) { EXPECT_TRUE(s.read_at(0, 3, e).empty()); },
     [](auto &s) { s.read_at(0, 3); }},
    {"read_line", [](auto &s, auto &e) { EXPECT_TRUE(s.read_line('.', 0, e).empty()); },
     [](auto &s) { s.read_line(); }},
    {"lines", [](auto &s, auto &e) { walk(s.lines('.', 0, e)); }, [](auto &s) { walk(s.lines()); }},
    {"records", [](auto &s, auto &e) { walk(s.records(3, e)); }, [](auto &s) { walk(s.records(3)); }},
    {"write", [](auto &s, auto &e) { EXPECT_TRUE(s.write(3, e).empty()); }, [](auto &s) { s.write(3); }},
    {"write_at", [](auto &s, auto &e) { EXPECT_TRUE(s.write_at(0, 3, e).empty()); },
     [](auto &s) { s.write_at(0, 3); }},
    {"put", [](auto &s, auto &e) { s.put("text", e); }, [](auto &s) { s.put("text"); }},
    {"advise", [](auto &s, auto &e) { s.advise(ASF_ONCE, e); }, [](auto &s) { s.advise(ASF_ONCE); }},
    {"copy from",
     [](auto &s, auto &e) {
         asf::stream to("/dev/null", O_WRONLY);
         EXPECT_EQ(0, copy(s, to, 3, e));
     },
     [](auto &s) {
         asf::stream to("/dev/null", O_WRONLY);
         copy(s, to);
     }},
    {"copy to",
     [](auto &s, auto &e) {
         asf::stream from("/dev/null");
         EXPECT_EQ(0, copy(from, s, 3, e));
     },
     [](auto &s) {
         asf::stream from("/dev/null");
         copy(from, s);
     }},
#ifdef __cpp_lib_format
    {"print", nullptr, [](auto &s) { s.print("{}", 1); }},
#endif
};

TEST(CxxClosed, EachCallOnAStreamThatIsNotOpenIsRefused) {
    const Directory directory;
    const auto path = make(directory / "file", "1 2 3\n");
    for (const auto &[name, make_closed] : closed)
        for (const auto &call : refused) {
            asf::stream s = make_closed(path);
            std::error_code error;
            if (call.quiet) {
                call.quiet(s, error);
                EXPECT_EQ(EBADF, error.value()) << name << ": " << call.name;
            }
            try {
                call.loud(s);
                ADD_FAILURE() << name << ": " << call.name;
            } catch (const std::system_error &thrown) {
                EXPECT_EQ(EBADF, thrown.code().value()) << name << ": " << call.name;
            }
            EXPECT_FALSE(s);
            EXPECT_EQ(nullptr, s.get());
            EXPECT_EQ(nullptr, s.release());
            EXPECT_FALSE(s.mode(ASF_READ));
            s.put("", error);
            EXPECT_FALSE(error);
            s = asf::stream(path);
            EXPECT_EQ("1 2", s.read(3).text());
        }
}

TEST(CxxClosed, RangesOfAStreamThatIsNotOpenHaveNothing) {
    asf::stream s;
    std::error_code error;
    asf::lines lines = s.lines('.', 0, error), moved = std::move(lines);
    for (asf::lines *each : {&lines, &moved}) {
        EXPECT_FALSE(each->at_hand());
        EXPECT_TRUE(each->begin() == each->end());
        EXPECT_EQ(EBADF, error.value());
    }
    EXPECT_TRUE(asf::lines::iterator() == std::default_sentinel);
    EXPECT_TRUE(asf::fields::iterator() == std::default_sentinel);
    EXPECT_EQ(1, std::ranges::distance(asf::fields(std::string_view(), '.')));
}

template <class Region> void expect_empty(Region &region) {
    EXPECT_TRUE(region.empty());
    EXPECT_EQ(0U, region.size());
    EXPECT_EQ(nullptr, region.data());
    EXPECT_TRUE(region.bytes().empty());
    EXPECT_TRUE(region.text().empty());
    EXPECT_TRUE(region.begin() == region.end());
}

TEST(CxxClosed, RegionsThatAreGoneAreEmpty) {
    const Directory directory;
    asf::stream in(make(directory / "file", "1 2 3\n")), out(directory / "out", O_WRONLY | O_CREAT);
    std::error_code error;
    asf::region none, released = in.read(1), first = in.read(1), taken = std::move(first);
    released.release();
    for (asf::region *each : {&none, &released, &first}) {
        expect_empty(*each);
        each->release();
        each->release(error);
        EXPECT_FALSE(error);
    }
    asf::output_region nothing, abandoned = out.write(1), committed = out.write(1), second = out.write(1),
                                kept = std::move(second);
    abandoned.abandon();
    committed.commit();
    for (asf::output_region *each : {&nothing, &abandoned, &committed, &second}) {
        expect_empty(*each);
        each->abandon();
        each->commit();
        each->commit(1, error);
        EXPECT_EQ(EINVAL, error.value());
    }
    EXPECT_EQ(" ", taken.text());
    *kept.text().data() = 'k';
    kept.commit();
}

} // namespace
