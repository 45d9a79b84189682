// SPDX-License-Identifier: MIT
//
// ours.cpp - memcpy, and records by asf.
#include "ours.h"

#include <cstring>

#include <asf/record_store.h>

#include "foreign.h"

// --- formats ---------------------------------------------------------------------------

static std::vector<asf_record_format *> known;

static ssize_t load(void *, const unsigned char *hash, void *to, size_t) {
    for (const asf_record_format *f : known) {
        size_t n;
        const void *d = asf_record_describe(f, &n);
        if (memcmp(hash, asf_record_hash(f), 16) == 0)
            return memcpy(to, d, n), static_cast<ssize_t>(n);
    }
    return -1;
}

static int save(void *, const unsigned char *, const void *, size_t) {
    return 0;
}

asf_record_format *declare(const asf_record_type &type) {
    asf_record_format *f;
    if (asf_record_declare(&type, &f) < 0)
        give_up("declare");
    known.push_back(f);
    return f;
}

asf_record_format *foreign_of(const asf_record_format *f) {
    const std::string d = foreign_description(f);
    asf_record_format *foreign;
    if (asf_record_parse(d.data(), d.size(), &foreign) < 0)
        give_up("parse");
    known.push_back(foreign);
    return foreign;
}

// --- the record ------------------------------------------------------------------------

Ours::Ours() : format(declare(head_type)) {
    static const asf_record_store_ops ops = {sizeof ops, ASF_RECORD_STORE_VERSION, "bench", load, save,
                                             nullptr};
    asf_record_options o = {};
    o.size = sizeof o;
    if (asf_record_store_with(&ops, nullptr, &o.store) < 0 || asf_record_reader_new(nullptr, &o, &reader) < 0)
        give_up("reader");
}

size_t Ours::encode_as(asf_record_format *f, const void *data) {
    const ssize_t n = asf_record_encode(f, data, message(), ROOM);
    if (n < 0)
        give_up("encode");
    return static_cast<size_t>(n);
}

asf_record *Ours::take(const void *m, size_t n) {
    asf_record *record;
    if (asf_record_take(reader, m, n, &record) != 1)
        give_up("take");
    return record;
}

double Ours::view_of(asf_record *record) {
    const void *data;
    if (asf_record_view(record, format, &data) < 0)
        give_up("view");
    const auto *h = static_cast<const Head *>(data);
    return sum_of(h, static_cast<const Item *>(asf_record_at(h, h->items)));
}

namespace {

struct Native : Ours {
    asf_record_writer *writer = nullptr;
    asf_record_reader *incoming = nullptr;

    size_t encode() { return encode_as(format, &head); }
    const Pieces &gather() {
        pieces.resize(4);
        const int n = asf_record_gather(format, &head, message(), ROOM, pieces.data(), pieces.size());
        if (n < 0)
            give_up("gather");
        pieces.resize(static_cast<size_t>(n));
        return pieces;
    }
    double receive(const void *m, size_t n) {
        Head own;
        void *parts;
        if (asf_record_into(take(m, n), format, &own, &parts) < 0)
            give_up("into");
        const double sum = sum_of(&own, own.items);
        free(parts);
        return sum;
    }
    void put(asf_cios *stream) {
        if ((!writer && asf_record_writer_new(stream, nullptr, &writer) < 0) ||
            asf_record_write(writer, format, &head) < 0 || asf_sflush(stream) < 0)
            give_up("write");
    }
    double get(asf_cios *stream) {
        asf_record *record;
        if ((!incoming && asf_record_reader_new(stream, nullptr, &incoming) < 0) ||
            asf_record_next(incoming, &record) != 1)
            give_up("next");
        return view_of(record);
    }
    void leave() {
        asf_record_writer_close(writer);
        asf_record_reader_free(incoming);
        writer = nullptr;
        incoming = nullptr;
    }
};

// The message of a machine of the other byte order.  Making it is no part of the measurement; sending it is.
struct Foreign : Ours {
    asf_record_format *wire = foreign_of(format);
    std::string engine;

    size_t encode() {
        asf_record_use(engine.c_str());
        const size_t n = encode_as(format, &head);
        make_foreign(message(), wire);
        view(message(), n); // the first view plans the conversion
        return n;
    }
    double receive(const void *m, size_t n) { return view(m, n); }
};

// The fastest copy for code that examines the bytes.  A large memcpy is one instruction of the processor,
// which need not read the memory that it overwrites.
__attribute__((optimize("no-tree-loop-distribute-patterns"),
               target_clones("avx512f", "avx2", "default"))) void *
copy_by_vectors(void *to, const void *from, size_t n) {
    typedef char Vector __attribute__((vector_size(64), aligned(1), may_alias));
    size_t i = 0;
    for (; i + sizeof(Vector) <= n; i += sizeof(Vector))
        *reinterpret_cast<Vector *>(static_cast<char *>(to) + i) =
            *reinterpret_cast<const Vector *>(static_cast<const char *>(from) + i);
    return memcpy(static_cast<char *>(to) + i, static_cast<const char *>(from) + i, n - i);
}

// Copies the record, head and items, as one block: shows the cost of memory alone.
struct Copy : Base {
    using Function = void *(void *, const void *, size_t);
    Function *function;
    Memory record{ROOM}, wire{ROOM}, back{ROOM};

    explicit Copy(Function *f) : function(f) {}
    void copy(char *to, const char *from, size_t n) const {
        function(to, from, n);
        asm volatile("" : : "r"(to) : "memory");
    }
    size_t encode() {
        const size_t items = head.count * sizeof(Item);
        char *block = record.start();
        if (length != sizeof head + items) {
            memcpy(block, &head, sizeof head);
            memcpy(block + sizeof head, head.items, items);
        }
        copy(wire.start(), block, sizeof head + items);
        return sizeof head + items;
    }
    char *message() { return wire.start(); }
    double receive(const void *m, size_t n) {
        char *to = back.start();
        copy(to, static_cast<const char *>(m), n);
        return sum_of(reinterpret_cast<Head *>(to), reinterpret_cast<Item *>(to + sizeof(Head)));
    }
};

// Does no work: shows the cost of the calls that measure the other ways.
struct Nothing : Base {
    static size_t encode() { return 1; }
    const void *message() const { return &head; }
    double receive(const void *, size_t) { return sum_of(&head, head.items); }
    double view(const void *m, size_t n) { return receive(m, n); }
};

// Moves the bytes only: nothing is encoded or decoded.
struct Raw : Copy {
    using Copy::Copy;
    double receive(const void *, size_t) { return sum_of(&head, head.items); }
};

} // namespace

void add_asf(std::vector<Way> &all) {
    add_way(all, "nothing", {"", "", "nothing: the cost of measuring"}, std::make_shared<Nothing>());
    all.back().receive = all.back().look = nullptr;
    all.back().decode = nullptr;
    add_way(all, "the bytes alone", {}, std::make_shared<Raw>(memcpy));
    all.back().decode = nullptr;
    add_way(all, "memcpy", {"the bytes, once", "the bytes, once", ""}, std::make_shared<Copy>(memcpy));
    add_way(all, "copy by vectors", {"the bytes, once", "the bytes, once", ""},
            std::make_shared<Copy>(copy_by_vectors));
    add_way(all, "asf, same machine",
            {"the bytes, once", "the bytes, once, into new memory", "nothing", "the head"},
            std::make_shared<Native>());
    for (const char *const *e = asf_record_engines(); *e; e++) {
        if (asf_record_use(*e) < 0)
            continue;
        auto s = std::make_shared<Foreign>();
        s->engine = *e;
        add_way(all, std::string("asf, other byte order, ") + *e, {"", "the bytes, once, each turned", ""},
                s);
        all.back().view = nullptr;
        all.back().look = nullptr;
    }
    asf_record_use(nullptr);
}
