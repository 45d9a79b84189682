// SPDX-License-Identifier: MIT
//
// record_fuzz_streams.cpp - random streams of records for record_fuzz.cpp, some of them damaged.
#include <algorithm>

#include "../interfaces/record/record_random.h"
#include "fuzz.h"

namespace record {
namespace {

void add_frame(std::string &s, uint32_t token, int kind, const std::string &payload) {
    const size_t at = s.size();
    s.resize(at + 16);
    put_bytes(s, at, token, 4, false);
    put_bytes(s, at + 4, 1, 1, false);
    put_bytes(s, at + 5, static_cast<uint64_t>(kind), 1, false);
    put_bytes(s, at + 8, payload.size(), 8, false);
    s += payload;
    s.resize((s.size() + 15) / 16 * 16);
}

// A stream of one or two formats with some records of each.
std::string make_stream(Random &r) {
    std::string s;
    add_frame(s, 0x72667361, 0, "");
    const size_t formats = 1 + r.below(2);
    for (size_t i = 0; i < formats; i++) {
        Machine m;
        m.big = r.chance(50);
        m.pointer = r.one_of({4, 8});
        m.most_aligned = r.one_of({1, 4, 8, 8});
        Types types(r, 5);
        const auto type = types.make();
        types.lay_out(*type, m);
        add_frame(s, static_cast<uint32_t>(i), 1, Describer::describe(*type, m));
        for (size_t n = r.below(3) + 1; n > 0; n--)
            add_frame(s, static_cast<uint32_t>(i), 2, Encoder(m).encode(*type, Values(r, true).make(*type)));
    }
    return s;
}

void damage(Random &r, std::string &s) {
    for (size_t n = r.below(6); n > 0 && !s.empty(); n--) {
        const size_t at = r.below(s.size());
        switch (r.below(5)) {
        case 0:
            s[at] = static_cast<char>(r.bits());
            break;
        case 1:
            s[at] = static_cast<char>(s[at] ^ 1 << r.below(8));
            break;
        case 2:
            s.resize(at);
            break;
        case 3:
            put_bytes(s, at / 4 * 4, r.one_of<uint64_t>({0, 1, 0x7fffffff, 0xffffffff, 0x80000000, s.size()}),
                      std::min<size_t>(4, s.size() - at / 4 * 4), r.chance(50));
            break;
        default:
            s.insert(at, s.substr(r.below(s.size()), r.below(40)));
        }
    }
}

} // namespace
} // namespace record

std::string fuzz::make(Random &random) {
    record::Random r(random.bits());
    std::string s = record::make_stream(r);
    record::damage(r, s);
    return s;
}
