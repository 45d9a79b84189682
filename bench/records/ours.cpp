// SPDX-License-Identifier: MIT
//
// ours.cpp - memcpy, and records by asf.
#include <cstring>
#include <memory>

#include <asf/record_store.h>

#include "foreign.h"
#include "workload.h"

namespace {

double sum_of(const Head *h, const Item *items) {
    return h->time + (h->count ? items[h->count - 1].value : 0);
}

[[noreturn]] void give_up() {
    fprintf(stderr, "records: %s\n", asf_record_why());
    exit(1);
}

struct Side {
    asf_record_format *format = nullptr, *foreign = nullptr;
    asf_record_reader *reader = nullptr;
    Head head = {};
    std::vector<char> room = std::vector<char>(300000), back = std::vector<char>(300000);
    char *message = nullptr;
    size_t length = 0;
    // A store that knows two formats.
    static ssize_t load(void *data, const unsigned char *hash, void *to, size_t) {
        auto *s = static_cast<Side *>(data);
        const asf_record_format *f =
            memcmp(hash, asf_record_hash(s->format), 16) == 0 ? s->format : s->foreign;
        size_t n;
        const void *d = asf_record_describe(f, &n);
        memcpy(to, d, n);
        return static_cast<ssize_t>(n);
    }
    static int save(void *, const unsigned char *, const void *, size_t) { return 0; }
    Side() {
        message = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(room.data()) + 63) / 64 * 64);
        if (asf_record_declare(&head_type, &format) < 0)
            give_up();
        const std::string d = foreign_description(format);
        if (asf_record_parse(d.data(), d.size(), &foreign) < 0)
            give_up();
        static const asf_record_store_ops ops = {sizeof ops, ASF_RECORD_STORE_VERSION, "bench", load, save,
                                                 nullptr};
        asf_record_options o = {};
        o.size = sizeof o;
        if (asf_record_store_with(&ops, this, &o.store) < 0 ||
            asf_record_reader_new(nullptr, &o, &reader) < 0)
            give_up();
    }
    double receive(const void *m, size_t n) {
        asf_record *record;
        const void *view;
        if (asf_record_take(reader, m, n, &record) != 1 || asf_record_view(record, format, &view) < 0)
            give_up();
        const auto *h = static_cast<const Head *>(view);
        return sum_of(h, static_cast<const Item *>(asf_record_at(h, h->items)));
    }
    void encode() {
        const ssize_t n = asf_record_encode(format, &head, message, 290000);
        if (n < 0)
            give_up();
        length = static_cast<size_t>(n);
    }
};

void add_memcpy(std::vector<Way> &all) {
    auto s = std::make_shared<Side>();
    Way w;
    w.name = "memcpy";
    w.moves = "the bytes, once";
    const auto copy = [s](char *to, const char *from) {
        memcpy(to, from, s->length);
        asm volatile("" : : "r"(to) : "memory");
    };
    w.prepare = [s](const Head &h) {
        s->head = h;
        s->length = sizeof h + h.count * sizeof(Item);
    };
    w.encode = [s, copy] {
        copy(s->message, s->back.data());
        return s->length;
    };
    w.decode = [s, copy] {
        copy(s->back.data(), s->message);
        return 0.0;
    };
    w.bytes = [s](size_t &n) {
        n = s->length;
        return s->message;
    };
    w.receive = [s](const void *m, size_t n) {
        memcpy(s->back.data(), m, n);
        asm volatile("" : : "r"(s->back.data()) : "memory");
        return 0.0;
    };
    all.push_back(w);
}

// What the tables' own calls cost.
void add_nothing(std::vector<Way> &all) {
    Way w;
    w.name = "nothing";
    w.moves = "nothing: the cost of measuring";
    w.prepare = [](const Head &) {};
    w.view = [] { return 0.0; };
    w.bytes = [](size_t &n) {
        n = 0;
        return nullptr;
    };
    all.push_back(w);
}

void add_native(std::vector<Way> &all) {
    auto s = std::make_shared<Side>();
    Way w;
    w.name = "asf, same machine";
    w.moves = "encode: the bytes, once; view: nothing";
    w.prepare = [s](const Head &h) {
        s->head = h;
        s->encode();
    };
    w.encode = [s] {
        s->encode();
        return s->length;
    };
    w.view = [s] { return s->receive(s->message, s->length); };
    w.decode = [s] {
        asf_record *record;
        Head own;
        void *parts;
        if (asf_record_take(s->reader, s->message, s->length, &record) != 1 ||
            asf_record_into(record, s->format, &own, &parts) < 0)
            give_up();
        const double sum = sum_of(&own, own.items);
        free(parts);
        return sum;
    };
    w.bytes = [s](size_t &n) {
        n = s->length;
        return s->message;
    };
    w.receive = [s](const void *m, size_t n) { return s->receive(m, n); };
    all.push_back(w);
}

void add_foreign(std::vector<Way> &all, const char *engine) {
    auto s = std::make_shared<Side>();
    Way w;
    if (asf_record_use(engine) < 0)
        return;
    w.name = std::string("asf, other byte order, ") + engine;
    w.moves = "decode: the bytes, once, each turned";
    w.prepare = [s, e = std::string(engine)](const Head &h) {
        asf_record_use(e.c_str());
        s->head = h;
        s->encode();
        make_foreign(s->message, s->length, s->foreign);
        s->receive(s->message, s->length);
    };
    w.decode = [s] { return s->receive(s->message, s->length); };
    w.bytes = [s](size_t &n) {
        n = s->length;
        return s->message;
    };
    w.receive = [s](const void *m, size_t n) { return s->receive(m, n); };
    all.push_back(w);
}

} // namespace

void add_asf(std::vector<Way> &all) {
    add_nothing(all);
    add_memcpy(all);
    add_native(all);
    for (const char *const *e = asf_record_engines(); *e; e++)
        add_foreign(all, *e);
    asf_record_use(nullptr);
}
