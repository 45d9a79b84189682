// SPDX-License-Identifier: MIT
//
// record_random.h - random pairs of formats: the first is a writer's on some machine, the second is this
// program's. Also random records of the first, and their expected values in the second, computed field by
// field.
//
// The descriptions and the records are encoded here, not by the library.
#ifndef ASF_RECORD_RANDOM_H
#define ASF_RECORD_RANDOM_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <asf/record.h>

namespace record {

struct Type;

struct Field {
    std::string name;
    asf_record_kind kind = ASF_RECORD_INT;
    asf_record_shape shape = ASF_RECORD_SINGLE;
    size_t size = 4, count = 1, offset = 0; // size: of one number, or of a pointer
    std::string counter;                    // the field that counts a dynamic array
    std::shared_ptr<Type> sub;
    std::string fallback; // the default value's bytes, or empty
    unsigned wishes = 0;
};

struct Type {
    std::string name;
    std::vector<Field> fields;
    size_t size = 0, alignment = 1;
    const Field *find(const std::string &wanted) const {
        for (const Field &f : fields)
            if (f.name == wanted)
                return &f;
        return nullptr;
    }
};

struct Machine {
    bool big = false;
    size_t pointer = 8;
    size_t most_aligned = 8; // 1: all fields are packed
};

struct Value {
    uint64_t bits = 0; // an integer's 64 bits, or the bits of a float as a double
    std::optional<std::string> text;
    std::vector<Value> items; // an array's elements, or a struct's fields
};

class Random {
  public:
    explicit Random(uint64_t seed) : engine(seed) {}
    size_t below(size_t n) { return engine() % n; }
    bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
    uint64_t bits() { return engine(); }
    template <class T> T one_of(std::initializer_list<T> all) { return all.begin()[below(all.size())]; }
    std::mt19937_64 engine;
};

inline bool is_number(const Field &f) {
    return f.kind != ASF_RECORD_STRING && f.kind != ASF_RECORD_STRUCT;
}
inline bool is_signed(const Field &f) {
    return f.kind == ASF_RECORD_INT || f.kind == ASF_RECORD_ENUM;
}
inline size_t stride(const Field &f) {
    return f.sub ? f.sub->size : f.size;
}

// Prints a type in readable form, for messages.
inline std::string to_text(const Type &type, const std::string &indent = "  ") {
    std::string s;
    for (const Field &f : type.fields) {
        s += indent + f.name + " kind " + std::to_string(f.kind) + " shape " + std::to_string(f.shape) +
             " at " + std::to_string(f.offset) + " size " + std::to_string(stride(f)) + " count " +
             std::to_string(f.count) + " " + f.counter + "\n";
        if (f.sub)
            s += to_text(*f.sub, indent + "  ");
    }
    return s;
}

// --- types ---------------------------------------------------------------------------

class Types {
  public:
    Types(Random &random, int fields) : r(random), most(fields) {}

    // Makes a type with fields of every kind, without offsets.
    std::shared_ptr<Type> make(int depth = 0) {
        auto type = std::make_shared<Type>();
        type->name = "t" + std::to_string(depth);
        const size_t n = 1 + r.below(static_cast<size_t>(depth == 0 ? most : most / 2 + 1));
        for (size_t i = 0; i < n; i++)
            add(*type, "f" + std::to_string(i), depth);
        return type;
    }

    // Makes another program's version of the type: with removed, added and resized fields.
    std::shared_ptr<Type> vary(const Type &type, int depth = 0) {
        auto other = std::make_shared<Type>();
        other->name = type.name;
        for (const Field &f : type.fields) {
            const bool counts = std::any_of(type.fields.begin(), type.fields.end(),
                                            [&](const Field &g) { return g.counter == f.name; });
            if (!counts && r.chance(10))
                continue;
            other->fields.push_back(f);
            Field &g = other->fields.back();
            if (is_number(g) && r.chance(25))
                resize(g);
            if (g.kind == ASF_RECORD_INT && r.chance(5))
                g.kind = r.one_of({ASF_RECORD_UINT, ASF_RECORD_ENUM});
            else if (g.kind == ASF_RECORD_UINT && r.chance(5))
                g.kind = ASF_RECORD_INT;
            if (counts && g.kind == ASF_RECORD_ENUM)
                g.kind = ASF_RECORD_INT;
            if (!counts && r.chance(10))
                take_any_number(g);
            if (g.shape == ASF_RECORD_ARRAY && r.chance(10))
                g.count = 1 + r.below(g.count + 3);
            if (g.sub)
                g.sub = vary(*g.sub, depth + 1);
        }
        for (size_t extra = r.below(3); extra > 0 || other->fields.empty(); extra -= extra > 0)
            add(*other, "x" + std::to_string(other->fields.size()), depth);
        return other;
    }

    // Gives the fields offsets, in order as a compiler does, or shuffled.
    void lay_out(Type &type, const Machine &m) {
        std::vector<size_t> order(type.fields.size());
        for (size_t i = 0; i < order.size(); i++)
            order[i] = i;
        if (r.chance(30))
            std::shuffle(order.begin(), order.end(), r.engine);
        type.size = 0;
        type.alignment = 1;
        for (const size_t i : order) {
            Field &f = type.fields[i];
            if (f.sub)
                lay_out(*f.sub, m);
            if (f.kind == ASF_RECORD_STRING)
                f.size = m.pointer;
            const bool slot = f.shape == ASF_RECORD_DYNAMIC;
            const size_t natural = slot ? m.pointer : f.sub ? f.sub->alignment : f.size;
            const size_t align = std::min(natural, m.most_aligned);
            type.alignment = std::max(type.alignment, align);
            type.size = (type.size + align - 1) / align * align;
            if (r.chance(5))
                type.size += align * r.below(5);
            f.offset = type.size;
            type.size += slot ? m.pointer : stride(f) * f.count;
        }
        type.size = (type.size + type.alignment - 1) / type.alignment * type.alignment;
    }

  private:
    Random &r;
    int most;

    void resize(Field &f) {
        if (f.kind == ASF_RECORD_FLOAT)
            f.size = r.one_of({4, 8});
        else if (f.kind != ASF_RECORD_CHAR)
            f.size = r.one_of({1, 2, 4, 8});
        if (!f.fallback.empty())
            f.fallback.clear();
    }

    // Turns an integer field into a float, or a float into an integer.
    void take_any_number(Field &f) {
        if (f.kind != ASF_RECORD_INT && f.kind != ASF_RECORD_UINT && f.kind != ASF_RECORD_FLOAT)
            return;
        f.kind = f.kind == ASF_RECORD_FLOAT ? r.one_of({ASF_RECORD_INT, ASF_RECORD_UINT}) : ASF_RECORD_FLOAT;
        f.wishes = ASF_RECORD_ANY_NUMBER;
        resize(f);
    }

    void add(Type &type, const std::string &name, int depth) {
        Field f;
        f.name = name;
        f.kind = r.one_of({ASF_RECORD_INT, ASF_RECORD_UINT, ASF_RECORD_INT, ASF_RECORD_UINT, ASF_RECORD_FLOAT,
                           ASF_RECORD_FLOAT, ASF_RECORD_CHAR, ASF_RECORD_BOOL, ASF_RECORD_ENUM,
                           ASF_RECORD_STRING, ASF_RECORD_STRUCT});
        if (f.kind == ASF_RECORD_STRUCT && depth == 2)
            f.kind = ASF_RECORD_FLOAT;
        f.size = r.one_of({1, 2, 4, 8});
        if (f.kind == ASF_RECORD_FLOAT)
            f.size = r.one_of({4, 8});
        if (f.kind == ASF_RECORD_CHAR)
            f.size = 1;
        if (f.kind == ASF_RECORD_STRUCT)
            f.sub = make(depth + 1);
        f.shape = r.one_of({ASF_RECORD_SINGLE, ASF_RECORD_SINGLE, ASF_RECORD_ARRAY, ASF_RECORD_DYNAMIC});
        if (f.shape == ASF_RECORD_ARRAY)
            f.count = r.chance(10) ? 1 + r.below(200) : 1 + r.below(6);
        if (f.shape == ASF_RECORD_DYNAMIC)
            f.counter = counter_for(type, name);
        type.fields.push_back(f);
    }

    // Returns the counter of an earlier array, or makes a new one.
    std::string counter_for(Type &type, const std::string &name) {
        for (const Field &f : type.fields)
            if (!f.counter.empty() && r.chance(30))
                return f.counter;
        Field counter;
        counter.name = name + "n";
        counter.kind = r.one_of({ASF_RECORD_INT, ASF_RECORD_UINT});
        counter.size = r.one_of({1, 2, 4, 8});
        type.fields.push_back(counter);
        return counter.name;
    }
};

// --- values ----------------------------------------------------------------------------

class Values {
  public:
    Values(Random &random, bool many) : r(random), large(many) {}

    Value make(const Type &type, int depth = 0) {
        Value v;
        v.items.resize(type.fields.size());
        for (size_t i = 0; i < type.fields.size(); i++)
            if (type.fields[i].counter.empty())
                v.items[i] = of_field(type.fields[i], type.fields[i].count, depth);
        for (size_t i = 0; i < type.fields.size(); i++) {
            const Field &f = type.fields[i];
            const auto counter = std::find_if(type.fields.begin(), type.fields.end(),
                                              [&](const Field &g) { return g.name == f.counter; });
            if (counter == type.fields.end())
                continue;
            Value &c = v.items[static_cast<size_t>(counter - type.fields.begin())];
            if (c.text != "counted") {
                c.bits = r.below(r.chance(20) && depth == 0 && large ? 120 : 5);
                c.text = "counted";
            }
            v.items[i] = of_field(f, c.bits, depth);
        }
        return v;
    }

  private:
    Random &r;
    bool large;

    Value of_field(const Field &f, size_t count, int depth) {
        if (f.shape == ASF_RECORD_SINGLE)
            return one(f, depth);
        Value v;
        for (size_t i = 0; i < count; i++)
            v.items.push_back(one(f, depth));
        return v;
    }

    Value one(const Field &f, int depth) {
        Value v;
        if (f.sub)
            return make(*f.sub, depth + 1);
        if (f.kind == ASF_RECORD_STRING && r.chance(80))
            v.text = std::string(r.below(r.chance(10) ? 100 : 8), 'a' + static_cast<char>(r.below(26)));
        if (f.kind == ASF_RECORD_FLOAT)
            return real(f);
        const size_t bits = 8 * f.size;
        v.bits =
            // as a float: rounded by way of a double, it gives the next one
            r.chance(2) ? 0x4000004000000001 : r.bits();
        if (f.kind == ASF_RECORD_BOOL)
            v.bits &= 1;
        else if (f.kind == ASF_RECORD_CHAR || large)
            v.bits &= 0xff >> (f.kind != ASF_RECORD_CHAR);
        if (large && f.kind != ASF_RECORD_BOOL && r.chance(1))
            v.bits = r.bits();
        v.bits <<= 64 - bits;
        v.bits = is_signed(f) ? static_cast<uint64_t>(static_cast<int64_t>(v.bits) >> (64 - bits))
                              : v.bits >> (64 - bits);
        return v;
    }

    Value real(const Field &f) {
        Value v;
        double d = static_cast<double>(static_cast<int64_t>(r.bits())) / (r.chance(70) ? 0x1p16 : 0x1p57);
        if (r.chance(2))
            d = r.one_of<double>({INFINITY, -INFINITY, 0.0,    -0.0,    1e-40, 0x1.fffffefp127, NAN, -0.9,
                                  -1,       127.9,     128,    -128.9,  -129,  255.9,           256, 0x1p31,
                                  -0x1p31,  0x1p32,    0x1p63, -0x1p63, 0x1p64});
        if (f.size == 4)
            d = static_cast<double>(static_cast<float>(d));
        else if (r.chance(1))
            d = 1e300;
        memcpy(&v.bits, &d, sizeof d);
        return v;
    }
};

// --- encoding -----------------------------------------------------------------------------

inline void put_bytes(std::string &s, size_t at, uint64_t value, size_t size, bool big) {
    for (size_t i = 0; i < size; i++)
        s[at + (big ? size - 1 - i : i)] = static_cast<char>(value >> 8 * i);
}

inline uint64_t get_bytes(const unsigned char *p, size_t size) {
    uint64_t value = 0;
    memcpy(&value, p, size);
    return value;
}

// Encodes a record as it is in the writer's memory, with offsets instead of pointers.
class Encoder {
  public:
    explicit Encoder(const Machine &machine) : m(machine) {}

    std::string encode(const Type &type, const Value &v) {
        s.assign(type.size, '\x5a'); // padding may have any value
        put_struct(type, v, 0);
        return s;
    }

  private:
    const Machine &m;
    std::string s;

    void put_struct(const Type &type, const Value &v, size_t base) {
        for (size_t i = 0; i < type.fields.size(); i++) {
            const Field &f = type.fields[i];
            const Value &value = v.items[i];
            if (f.shape == ASF_RECORD_SINGLE)
                put_one(f, value, base + f.offset);
            else if (f.shape == ASF_RECORD_ARRAY)
                put_items(f, value, base + f.offset);
            else
                put_dynamic(f, value, base + f.offset);
        }
    }

    void put_items(const Field &f, const Value &v, size_t base) {
        for (size_t i = 0; i < v.items.size(); i++)
            put_one(f, v.items[i], base + i * stride(f));
    }

    void put_dynamic(const Field &f, const Value &v, size_t base) {
        size_t at = 0;
        if (!v.items.empty()) {
            at = (s.size() + 7) / 8 * 8;
            s.resize(at + v.items.size() * stride(f), '\x5a');
            put_items(f, v, at);
        }
        put_bytes(s, base, at, m.pointer, m.big);
    }

    void put_one(const Field &f, const Value &v, size_t base) {
        if (f.sub)
            return put_struct(*f.sub, v, base);
        if (f.kind == ASF_RECORD_STRING) {
            put_bytes(s, base, v.text ? s.size() : 0, m.pointer, m.big);
            if (v.text)
                s += *v.text + '\0';
            return;
        }
        uint64_t bits = v.bits;
        if (f.kind == ASF_RECORD_FLOAT && f.size == 4) {
            double d;
            memcpy(&d, &bits, sizeof d);
            const auto narrow = static_cast<float>(d);
            bits = 0;
            memcpy(&bits, &narrow, sizeof narrow);
        }
        put_bytes(s, base, bits, f.size, m.big);
    }
};

// Encodes the canonical description, as record_format.h specifies it.
class Describer {
  public:
    static std::string describe(const Type &type, const Machine &m) {
        Describer d;
        d.collect(type);
        size_t fields = 0;
        for (const Type *t : d.types)
            fields += t->fields.size();
        std::string entries;
        uint64_t first = 0;
        for (const Type *t : d.types) {
            d.name(entries, t->name);
            d.add(entries, t->size, 4);
            d.add(entries, first, 2);
            d.add(entries, t->fields.size(), 2);
            d.add(entries, t->alignment, 1);
            d.add(entries, 0, 3);
            first += t->fields.size();
        }
        for (const Type *t : d.types)
            for (const Field &f : t->fields)
                d.field(entries, *t, f);
        std::string head;
        d.add(head, 16 + entries.size() + d.names.size(), 4);
        d.add(head, 1, 1);
        d.add(head, m.big, 1);
        d.add(head, m.pointer, 1);
        d.add(head, 0, 1);
        d.add(head, d.types.size(), 2);
        d.add(head, fields, 2);
        d.add(head, d.names.size(), 4);
        return head + entries + d.names;
    }

  private:
    std::vector<const Type *> types;
    std::string names;

    void collect(const Type &type) {
        for (const Field &f : type.fields)
            if (f.sub && std::find(types.begin(), types.end(), f.sub.get()) == types.end())
                collect(*f.sub);
        types.push_back(&type);
    }
    static void add(std::string &s, uint64_t value, size_t size) {
        s.resize(s.size() + size);
        put_bytes(s, s.size() - size, value, size, false);
    }
    void name(std::string &s, const std::string &text) {
        add(s, names.size(), 4);
        names += text + '\0';
    }
    void field(std::string &s, const Type &t, const Field &f) {
        size_t sub = 0xffff, counter = 0xffff;
        if (f.sub)
            sub = static_cast<size_t>(std::find(types.begin(), types.end(), f.sub.get()) - types.begin());
        for (size_t i = 0; !f.counter.empty() && i < t.fields.size(); i++)
            if (t.fields[i].name == f.counter)
                counter = i;
        name(s, f.name);
        add(s, f.offset, 4);
        add(s, f.count, 4);
        add(s, sub, 2);
        add(s, counter, 2);
        add(s, f.kind, 1);
        add(s, f.sub ? 0 : f.size, 1);
        add(s, f.shape, 1);
        add(s, 0, 1);
    }
};

// --- what is expected ------------------------------------------------------------------------

// Compares a converted record, which contains offsets, with the original values.
class Checker {
  public:
    Checker(const unsigned char *bytes, size_t n) : record(bytes), length(n) {}

    // Returns whether every value of a field that both types have fits the native field.
    static bool fits(const Type &wire, const Type &native, const Value &v) {
        for (const Field &n : native.fields) {
            const Field *w = wire.find(n.name);
            if (!w)
                continue;
            const Value &value = v.items[static_cast<size_t>(w - wire.fields.data())];
            size_t most = n.shape == ASF_RECORD_ARRAY ? n.count : value.items.size();
            if (n.shape == ASF_RECORD_SINGLE && !fits_one(*w, n, value))
                return false;
            for (size_t i = 0; n.shape != ASF_RECORD_SINGLE && i < std::min(most, value.items.size()); i++)
                if (!fits_one(*w, n, value.items[i]))
                    return false;
        }
        return true;
    }

    void check(const Type &wire, const Type &native, const Value *v, size_t base) {
        for (const Field &n : native.fields) {
            const Field *w = v ? wire.find(n.name) : nullptr;
            const Value *value = w ? &v->items[static_cast<size_t>(w - wire.fields.data())] : nullptr;
            const bool counts = std::any_of(native.fields.begin(), native.fields.end(),
                                            [&](const Field &f) { return f.counter == n.name; });
            if (counts) {
                value = counted(wire, native, v, n);
                expect_number(n, base + n.offset, value ? value->items.size() : 0);
            } else if (n.shape == ASF_RECORD_SINGLE) {
                check_one(w, n, value, base + n.offset);
            } else if (n.shape == ASF_RECORD_ARRAY) {
                for (size_t i = 0; i < n.count; i++)
                    check_one(w, n, value && i < value->items.size() ? &value->items[i] : nullptr,
                              base + n.offset + i * stride(n));
            } else {
                check_dynamic(wire, native, v, w, n, value, base + n.offset);
            }
        }
    }

    std::string wrong; // the first field that is wrong; empty: none

  private:
    const unsigned char *record;
    size_t length;

    static bool fits_one(const Field &w, const Field &n, const Value &v) {
        if (n.sub)
            return fits(*w.sub, *n.sub, v);
        if (n.kind == ASF_RECORD_STRING)
            return true;
        double d;
        memcpy(&d, &v.bits, sizeof d);
        if (w.kind == ASF_RECORD_FLOAT && n.kind != ASF_RECORD_FLOAT) {
            const double most = std::ldexp(1, static_cast<int>(8 * n.size) - is_signed(n));
            return std::trunc(d) >= (is_signed(n) ? -most : 0) && std::trunc(d) < most;
        }
        if (n.kind == ASF_RECORD_FLOAT && w.kind != ASF_RECORD_FLOAT)
            return true;
        if (n.kind == ASF_RECORD_FLOAT) {
            return n.size == 8 || w.size == 4 || !std::isfinite(d) || std::isfinite(static_cast<float>(d));
        }
        const auto s = static_cast<int64_t>(v.bits);
        const auto bits = static_cast<int>(8 * n.size);
        if (is_signed(w) && s < 0)
            return is_signed(n) && static_cast<__int128>(s) >= -(static_cast<__int128>(1) << (bits - 1));
        return static_cast<__int128>(v.bits) < static_cast<__int128>(1) << (bits - is_signed(n));
    }

    // Returns the first array with this counter that the record contains.
    static const Value *counted(const Type &wire, const Type &native, const Value *v, const Field &counter) {
        for (const Field &f : native.fields)
            if (const Field *w = v && f.counter == counter.name ? wire.find(f.name) : nullptr)
                return &v->items[static_cast<size_t>(w - wire.fields.data())];
        return nullptr;
    }

    void expect(const Field &n, bool right) {
        if (!right && wrong.empty())
            wrong = n.name;
    }

    void expect_number(const Field &n, size_t at, uint64_t wanted) {
        expect(n, get_bytes(record + at, n.size) == (wanted & UINT64_MAX >> (64 - 8 * n.size)));
    }

    void check_one(const Field *w, const Field &n, const Value *v, size_t at) {
        if (n.sub)
            return check(w ? *w->sub : *n.sub, *n.sub, v, at);
        if (n.kind == ASF_RECORD_STRING)
            return check_string(n, v, at);
        if (!v && !n.fallback.empty())
            return expect(n, memcmp(record + at, n.fallback.data(), n.size) == 0);
        if (!v)
            return expect_number(n, at, 0);
        expect_number(n, at, w->kind == ASF_RECORD_FLOAT ? of_float(n, v->bits) : of_integer(*w, n, v->bits));
    }

    static uint64_t of_float(const Field &n, uint64_t bits) {
        double d;
        memcpy(&d, &bits, sizeof d);
        if (n.kind != ASF_RECORD_FLOAT)
            return is_signed(n) ? static_cast<uint64_t>(static_cast<int64_t>(d)) : static_cast<uint64_t>(d);
        return n.size == 8 ? bits : bits_of(static_cast<float>(d));
    }

    static uint64_t of_integer(const Field &w, const Field &n, uint64_t bits) {
        const auto s = static_cast<int64_t>(bits);
        if (n.kind != ASF_RECORD_FLOAT)
            return bits;
        if (n.size == 8)
            return bits_of(is_signed(w) ? static_cast<double>(s) : static_cast<double>(bits));
        return bits_of(is_signed(w) ? static_cast<float>(s) : static_cast<float>(bits));
    }

    template <class Float> static uint64_t bits_of(Float f) {
        uint64_t bits = 0;
        memcpy(&bits, &f, sizeof f);
        return bits;
    }

    void check_string(const Field &n, const Value *v, size_t at) {
        const uint64_t offset = get_bytes(record + at, 8);
        if (!v || !v->text)
            return expect(n, offset == 0);
        const size_t bytes = v->text->size() + 1;
        expect(n,
               offset > 0 && offset + bytes <= length && !memcmp(record + offset, v->text->c_str(), bytes));
    }

    void check_dynamic(const Type &wire, const Type &native, const Value *v, const Field *w, const Field &n,
                       const Value *value, size_t at) {
        const uint64_t offset = get_bytes(record + at, 8);
        const Value *array = value ? value : counted(wire, native, v, *native.find(n.counter));
        const size_t count = array ? array->items.size() : 0;
        if (count == 0)
            return expect(n, offset == 0);
        expect(n, offset > 0 && offset % 8 == 0 && offset + count * stride(n) <= length);
        for (size_t i = 0; wrong.empty() && i < count; i++) {
            if (value)
                check_one(w, n, &value->items[i], offset + i * stride(n));
            else
                for (size_t j = 0; j < stride(n); j++)
                    expect(n, record[offset + i * stride(n) + j] == 0);
        }
    }
};

} // namespace record
#endif
