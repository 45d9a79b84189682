// SPDX-License-Identifier: MIT
//
// record_engines_test.cpp - every engine converts a record as a simple field-by-field conversion does, for
// random pairs of formats. Before and after every buffer there is a page that cannot be accessed.
// ASF_RECORD_PAIRS and ASF_RECORD_SEED in the environment set the number of pairs and the seed.
#include <chrono>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ASF_TEST_XBYAK
#include <asf/record_xbyak.h>
extern "C" const asf_record_generator *asf_test_xbyak_generator(void);
#endif

#include "record_random.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" // the public structs have hidden fields
extern "C" {
#include "interfaces/record/record_plan.h"
}
#pragma GCC diagnostic pop

namespace record {
namespace {

// Memory that ends at the end of a page; the next page is not mapped.
class Guarded {
  public:
    Guarded() {
        base = static_cast<unsigned char *>(
            mmap(nullptr, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base + PAGE, ROOM, PROT_READ | PROT_WRITE);
    }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;
    ~Guarded() { munmap(base, ROOM + 2 * PAGE); }
    unsigned char *last(size_t bytes) const { return base + PAGE + ROOM - bytes; }
    unsigned char *first() const { return base + PAGE; }
    bool holds(size_t bytes) const { return bytes <= ROOM; }

  private:
    static constexpr size_t PAGE = 4096, ROOM = 8 << 20;
    unsigned char *base;
};

// The program's own format, declared with all its fallbacks.
class Declared {
  public:
    explicit Declared(const Type &type) { declared = asf_record_declare(make(type), &format); }
    Declared(const Declared &) = delete;
    Declared &operator=(const Declared &) = delete;
    ~Declared() { asf_record_format_free(format); }
    int declared;
    asf_record_format *format = nullptr;

  private:
    struct Made {
        asf_record_type type;
        std::vector<asf_record_field> fields;
    };
    std::vector<std::unique_ptr<Made>> made;

    const asf_record_type *make(const Type &type) {
        auto m = std::make_unique<Made>();
        for (const Field &f : type.fields)
            m->fields.push_back({f.name.c_str(), f.kind, f.shape, f.offset, stride(f), f.count,
                                 f.counter.empty() ? nullptr : f.counter.c_str(),
                                 f.sub ? make(*f.sub) : nullptr,
                                 f.fallback.empty() ? nullptr : f.fallback.data(), f.wishes});
        m->type = {type.name.c_str(), type.size, type.alignment, m->fields.data(), m->fields.size()};
        made.push_back(std::move(m));
        return &made.back()->type;
    }
};

void add_fallbacks(Random &r, Type &type) {
    for (Field &f : type.fields) {
        const bool counts = std::any_of(type.fields.begin(), type.fields.end(),
                                        [&](const Field &g) { return g.counter == f.name; });
        if (f.name[0] == 'x' && f.shape == ASF_RECORD_SINGLE && is_number(f) && f.kind != ASF_RECORD_BOOL &&
            !counts)
            for (size_t i = 0; i < f.size; i++)
                f.fallback += static_cast<char>(r.bits());
        if (f.sub)
            add_fallbacks(r, *f.sub);
    }
}

// A pair of formats and a record of the first one.
class Pair {
  public:
    explicit Pair(uint64_t seed) : r(seed), types(r, r.chance(5) ? 40 : 9) {
        machine.big = r.chance(50);
        machine.pointer = r.one_of({4, 8});
        machine.most_aligned = r.one_of({1, 2, 4, 8, 8, 8});
        wire = types.make();
        native = r.chance(15) ? copy(*wire) : types.vary(*wire);
        types.lay_out(*wire, machine);
        Machine own;
        own.most_aligned = r.one_of({1, 8, 8, 8});
        types.lay_out(*native, own);
        add_fallbacks(r, *native);
    }

    struct Seen {
        size_t in_place, turned, misfits;
    };

    void try_it(const Guarded &in, const Guarded &out, Seen &seen) {
        const std::string description = Describer::describe(*wire, machine);
        const Declared declared(*native);
        if (declared.declared == -E2BIG) // too many elements: nested arrays of strings
            return;
        ASSERT_EQ(declared.declared, 0) << asf_record_why();
        asf_record_format *parsed = nullptr;
        const int rc = asf_record_parse(description.data(), description.size(), &parsed);
        if (rc == -E2BIG)
            return;
        ASSERT_EQ(rc, 0) << asf_record_why();
        const Value value = Values(r, r.chance(70)).make(*wire);
        const std::string record = Encoder(machine).encode(*wire, value);
        if (in.holds(record.size() + 64))
            for (const char *const *engine = asf_record_engines(); *engine; engine++)
                if (asf_record_use(*engine) == 0) {
                    ASSERT_STREQ(asf_record_engine(), *engine);
                    ASSERT_NO_FATAL_FAILURE(
                        with_engine(parsed, declared.format, record, value, in, out, seen))
                        << *engine;
                }
        asf_record_format_free(parsed);
    }

  private:
    Random r;
    Types types;
    Machine machine;
    std::shared_ptr<Type> wire, native;

    static std::shared_ptr<Type> copy(const Type &type) {
        auto other = std::make_shared<Type>(type);
        for (Field &f : other->fields)
            if (f.sub)
                f.sub = copy(*f.sub);
        return other;
    }

    void with_engine(asf_record_format *w, asf_record_format *n, const std::string &record,
                     const Value &value, const Guarded &in, const Guarded &out, Seen &seen) {
        asf__plan *plan = nullptr;
        const int made = asf__plan_make(w, n, &plan);
        if (made == -EPROTOTYPE && strstr(asf_record_why(), "in common"))
            return;
        ASSERT_EQ(made, 0) << asf_record_why();
        for (const bool at_end : {true, false}) {
            ASSERT_NO_FATAL_FAILURE(convert(plan, w, record, value, in, out, at_end, seen.misfits));
            if (plan->in_place) {
                ASSERT_NO_FATAL_FAILURE(turn(plan, record, value, in, at_end));
            }
        }
        seen.in_place += plan->how != ASF_RECORD_CONVERTED;
        seen.turned += plan->in_place;
        asf__plan_free(plan);
    }

    // Swaps the byte order in place. The check must find the same parts of the record before and afterwards.
    void turn(const asf__plan *plan, const std::string &record, const Value &value, const Guarded &in,
              bool at_end) {
        unsigned char *p = at_end ? in.last(record.size()) : in.first();
        memcpy(p, record.data(), record.size());
        asf__parts before = {}, after = {};
        ASSERT_EQ(asf__check_record(plan->wire, p, record.size(), &before), 0) << asf_record_why();
        ASSERT_TRUE(asf__plan_swap_in_place(plan, p, record.size(), &before));
        ASSERT_EQ(asf__check_record(plan->native, p, record.size(), &after), 0) << asf_record_why();
        ASSERT_EQ(before.count, after.count);
        for (size_t i = 0; i < after.count; i++) {
            EXPECT_EQ(before.all[i].count, after.all[i].count);
            if (after.all[i].count > 0) {
                EXPECT_EQ(before.all[i].at, after.all[i].at);
            }
        }
        Checker checker(p, record.size());
        checker.check(*wire, *native, &value, 0);
        EXPECT_EQ(checker.wrong, "") << to_text(*wire);
        free(before.all);
        free(after.all);
    }

    void convert(const asf__plan *plan, asf_record_format *w, const std::string &record, const Value &value,
                 const Guarded &in, const Guarded &out, bool at_end, size_t &misfits) {
        unsigned char *src = at_end ? in.last(record.size()) : in.first();
        memcpy(src, record.data(), record.size());
        asf__parts parts = {};
        ASSERT_EQ(asf__check_record(w, src, record.size(), &parts), 0) << asf_record_why();
        size_t end = 0;
        int rc = asf__plan_size(plan, &parts, native->size, SIZE_MAX, &end);
        ASSERT_EQ(rc, 0) << asf_record_why();
        if (!out.holds(end))
            return free(parts.all);
        unsigned char *dst = at_end ? out.last(end) : out.first();
        asf__target target = {dst, dst, native->size, end - 1, false};
        ASSERT_LT(asf__plan_convert(plan, src, record.size(), &parts, &target), 0);
        target.room = end;
        memset(dst, 0xa5, end);
        rc = asf__plan_convert(plan, src, record.size(), &parts, &target);
        free(parts.all);
        const bool fits = Checker::fits(*wire, *native, value);
        misfits += !fits;
        ASSERT_EQ(rc, fits ? 0 : -ERANGE) << asf_record_why();
        Checker checker(dst, end);
        if (fits)
            checker.check(*wire, *native, &value, 0);
        ASSERT_EQ(checker.wrong, "") << "wire:\n" << to_text(*wire) << "native:\n" << to_text(*native);
    }
};

uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, nullptr, 10) : otherwise;
}

void try_pairs() {
    const uint64_t seed = from_environment("ASF_RECORD_SEED", 1),
                   pairs = from_environment("ASF_RECORD_PAIRS", 4000);
    const Guarded in, out;
    Pair::Seen seen = {};
    for (uint64_t i = 0; i < pairs; i++)
        ASSERT_NO_FATAL_FAILURE(Pair(seed * 1000000007 + i).try_it(in, out, seen)) << "pair " << i;
    asf_record_use(nullptr);
    printf(
        "%llu pairs; of all engines: %zu of one layout, %zu turned in place, %zu with a value that does not "
        "fit\n",
        static_cast<unsigned long long>(pairs), seen.in_place, seen.turned, seen.misfits);
    EXPECT_GT(seen.in_place, 0U);
    EXPECT_GT(seen.turned, 0U);
    EXPECT_GT(seen.misfits, 0U);
}

TEST(RecordEngines, make_of_records_what_the_plain_way_makes_of_them) {
    try_pairs();
}

#ifdef ASF_TEST_XBYAK
TEST(RecordEngines, generated_code_makes_the_same) {
    ASSERT_EQ(asf_record_generate_xbyak(), 0);
    try_pairs();
    asf_record_generate_with(nullptr);
}

// If the kernel lets no more memory become executable, records are still converted. The test runs in a child,
// since the setting is permanent.
TEST(RecordEngines, generated_code_may_be_refused_by_the_kernel) {
    constexpr int SET_MDWE = 65, REFUSE_EXEC_GAIN = 1; // PR_SET_MDWE, Linux 6.3
    const pid_t child = fork();
    if (child == 0) {
        if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
            _exit(77);
        asf_record_generate_xbyak();
        try_pairs();
        _exit(testing::Test::HasFailure());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        GTEST_SKIP() << "this kernel cannot refuse";
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// A generator that counts how often another one generates code.
size_t made;
asf_record_generator counted;

int count(const asf_record_element *element, asf_record_code *code, void **memory) {
    static const asf_record_generator *const xbyak = asf_test_xbyak_generator();
    const int rc = xbyak->make(element, code, memory);
    made += rc == 0;
    return rc;
}

TEST(RecordEngines, most_elements_get_code) {
    counted = *asf_test_xbyak_generator();
    counted.make = count;
    ASSERT_EQ(asf_record_generate_with(&counted), 0);
    try_pairs();
    asf_record_generate_with(nullptr);
    EXPECT_GT(made, from_environment("ASF_RECORD_PAIRS", 4000) / 4);
}

int refuse(const asf_record_element *, asf_record_code *, void **) {
    return -EACCES;
}

void never(void *) {
    abort();
}

TEST(RecordEngines, a_generator_that_refuses_is_not_missed) {
    static const asf_record_generator none = {sizeof none, ASF_RECORD_GENERATOR_VERSION, "none", refuse,
                                              never};
    ASSERT_EQ(asf_record_generate_with(&none), 0);
    try_pairs();
    asf_record_generate_with(nullptr);
}
#endif

} // namespace
} // namespace record
