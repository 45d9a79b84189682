// SPDX-License-Identifier: MIT
//
// main.cpp - the evaluation of the paper, repeated: encoding, decoding, looking
// at a record where it lies, round trips, the making of a conversion, and the
// cost of a field that nobody expects.
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "foreign.h"
#include "workload.h"

namespace {

volatile double sink;

void row_of(const char *name, const std::function<double(size_t)> &ns, const std::string &moves) {
    printf("| %-36s |", name);
    for (const size_t size : sizes)
        printf(" %9.1f |", ns(size));
    printf(" %s |\n", moves.c_str());
}

void table(const char *title) {
    printf("\n### %s, ns\n\n| %-36s |", title, "");
    for (const size_t size : sizes)
        printf(" %7zu B |", size);
    printf(" moves |\n| --- | --- | --- | --- | --- | --- |\n");
}

void table_of(const char *title, std::vector<Way> &all,
              const std::function<std::function<void()>(Way &)> &call) {
    table(title);
    for (Way &w : all)
        if (call(w))
            row_of(
                w.name.c_str(),
                [&](size_t size) {
                    w.prepare(make_head(items_of(size)));
                    return measure(call(w));
                },
                w.moves);
}

// --- round trips --------------------------------------------------------------------

void write_all(int fd, const void *p, size_t n) {
    for (size_t done = 0; done < n;) {
        const ssize_t got = write(fd, static_cast<const char *>(p) + done, n - done);
        if (got <= 0)
            _exit(1);
        done += static_cast<size_t>(got);
    }
}

bool read_all(int fd, void *p, size_t n) {
    for (size_t done = 0; done < n;) {
        const ssize_t got = read(fd, static_cast<char *>(p) + done, n - done);
        if (got <= 0)
            return false;
        done += static_cast<size_t>(got);
    }
    return true;
}

// There and back over a Unix socket, encoded and decoded at both ends.
double round_trip(Way &w, size_t size) {
    int fds[2];
    w.prepare(make_head(items_of(size)));
    size_t n;
    if (w.encode)
        w.encode();
    w.bytes(n);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return 0;
    std::vector<char> room(n + 64);
    char *in = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(room.data()) + 63) / 64 * 64);
    const pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        while (read_all(fds[1], in, n)) {
            sink = w.receive(in, n);
            size_t m;
            if (w.encode)
                w.encode();
            const void *p = w.bytes(m);
            write_all(fds[1], p, m);
        }
        _exit(0);
    }
    close(fds[1]);
    const double ns = measure(
        [&] {
            size_t m;
            if (w.encode)
                w.encode();
            const void *p = w.bytes(m);
            write_all(fds[0], p, m);
            if (read_all(fds[0], in, n))
                sink = w.receive(in, n);
        },
        0.3);
    close(fds[0]);
    return ns;
}

// --- formats ---------------------------------------------------------------------------

// A struct of 30 numbers, and the same with a field before them.
struct Thirty {
    std::vector<std::string> names;
    std::vector<asf_record_field> fields;
    asf_record_type type = {};
    asf_record_format *format = nullptr;
    explicit Thirty(bool unexpected) {
        for (int i = unexpected ? -1 : 0; i < 30; i++)
            names.push_back(i < 0 ? "unexpected" : "field" + std::to_string(i));
        for (size_t i = 0; i < names.size(); i++)
            fields.push_back({names[i].c_str(), (i + unexpected) % 2 ? ASF_RECORD_INT : ASF_RECORD_FLOAT,
                              ASF_RECORD_SINGLE, 8 * i, 8, 1, nullptr, nullptr, nullptr, 0});
        type = {"thirty", 8 * names.size(), 8, fields.data(), fields.size()};
        if (asf_record_declare(&type, &format) < 0)
            exit(1);
    }
};

void formats_table() {
    Thirty wire(true), native(false);
    const std::string d = foreign_description(wire.format);
    asf_record_format *foreign;
    if (asf_record_parse(d.data(), d.size(), &foreign) < 0)
        exit(1);
    printf("\n### Making a conversion of 30 fields, ns\n\n| | |\n| --- | --- |\n");
    printf("| declare a format | %.0f |\n", measure([&] {
               asf_record_format *f;
               asf_record_declare(&native.type, &f);
               asf_record_format_free(f);
           }));
    printf("| parse a description | %.0f |\n", measure([&] {
               asf_record_format *f;
               asf_record_parse(d.data(), d.size(), &f);
               asf_record_format_free(f);
           }));
    for (const char *const *e = asf_record_engines(); *e; e++)
        if (asf_record_use(*e) == 0)
            printf("| match and plan, %s | %.0f |\n", *e, measure([&] {
                       asf_record_reader *r;
                       asf_record_reader_new(nullptr, nullptr, &r);
                       if (asf_record_match(r, foreign, native.format, nullptr) < 0)
                           exit(1);
                       asf_record_reader_free(r);
                   }));
    asf_record_use(nullptr);
    asf_record_format_free(foreign);
}

// --- an unexpected field ------------------------------------------------------------------

struct ItemMore {
    int64_t unexpected;
    Item item;
};
struct HeadMore {
    int64_t unexpected;
    Head head;
};

} // namespace

int main() {
    std::vector<Way> all;
    add_asf(all);
    add_peers(all);
    printf("## Records\n\nA head of 64 bytes and structs of 32 bytes with mixed fields; medians.\n");
    table_of("Encoding (Figure 7)", all, [](Way &w) -> std::function<void()> {
        if (!w.encode)
            return nullptr;
        return [&w] { sink = static_cast<double>(w.encode()); };
    });
    table_of("Decoding (Figures 8 to 10)", all, [](Way &w) -> std::function<void()> {
        if (!w.decode)
            return nullptr;
        return [&w] { sink = w.decode(); };
    });
    table_of("Looking at it where it lies, checked", all, [](Way &w) -> std::function<void()> {
        if (!w.view)
            return nullptr;
        return [&w] { sink = w.view(); };
    });
    table("Round trip over a Unix socket (Figure 11, Table 1)");
    for (Way &w : all)
        if (w.receive)
            row_of(
                w.name.c_str(), [&](size_t size) { return round_trip(w, size); }, w.moves);
    formats_table();
    return 0;
}
