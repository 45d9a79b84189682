// SPDX-License-Identifier: MIT
//
// raced_cxx.cpp - threads on the objects of <asf/asf.hpp>, <asf/streams.hpp> and <asf/record.hpp>, and on
// decoded streams, whose decoding thread belongs to the library.
#include "raced.h"

#include <asf/asf.hpp>
#include <asf/decode.h>
#include <asf/record.hpp>
#include <asf/streams.hpp>

#include <string>

struct point {
    int x;
    double y;
};
template <>
inline constexpr auto asf::record::fields<point> = asf::record::list("point",
                                                                     asf::record::field<&point::x>("x"),
                                                                     asf::record::field<&point::y>("y"));

static void *with_streams_of_its_own(void *name) {
    const std::string path = static_cast<char *>(name);
    for (int i = 0; i < rounds; i++) {
        asf::ostream out(path);
        for (int j = 0; j < 300; j++)
            out << j << ' ' << 1.5 * j << " text\n";
        out.close();
        asf::istream in(path);
        std::string word;
        double half = 0;
        long sum = 0;
        for (int j = 0; in >> j >> half >> word;)
            sum += j;
        OK(sum == 44850);
        asf::stream stream(path);
        for (std::string_view line : stream.lines())
            for (std::string_view field : asf::fields(line, ' '))
                sum += static_cast<long>(field.size());
        asf::iostream both(path);
        both.seekg(0);
        OK(both.get() == '0');
        both.seekp(0);
        both << 5;
    }
    return nullptr;
}

static void *with_records(void *name) {
    const std::string path = static_cast<char *>(name);
    for (int i = 0; i < rounds; i++) {
        asf::stream out(path, O_WRONLY | O_CREAT | O_TRUNC), in;
        asf::record::writer writer(out.get());
        for (int j = 0; j < 100; j++)
            writer.write(point{j, 2.5});
        writer.close();
        out.close();
        in = asf::stream(path);
        asf::record::reader reader(in.get());
        int n = 0;
        while (auto record = reader.next())
            n += record->view<point>()->x == n;
        OK(n == 100);
    }
    return nullptr;
}

// The last user of a format frees it.
static asf_record_format *format;

static void *with_a_shared_format(void *) {
    asf::stream out("/dev/null", O_WRONLY);
    asf_record_options options = {};
    options.size = sizeof options;
    asf_record_writer *writer = nullptr;
    OK(asf_record_writer_new(out.get(), &options, &writer) == 0);
    const point one = {1, 2.5};
    OK(asf_record_write(writer, format, &one) == 0);
    static pthread_barrier_t *const barrier = [] {
        static pthread_barrier_t made;
        pthread_barrier_init(&made, nullptr, THREADS);
        return &made;
    }();
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        asf_record_format_free(format);
    OK(asf_record_write(writer, asf::record::format_of<point>(), &one) == 0);
    OK(asf_record_writer_close(writer) == 0);
    return nullptr;
}

static void read_all(asf_cios *stream) {
    ssize_t n = 5000;
    for (void *p; (p = asf_salloc(stream, &n)); n = 5000) {
        OK(*static_cast<char *>(p) != 'x');
        OK(asf_sfree(stream, p) == 0);
    }
    OK(n == 0);
}

static asf_cios *shared;

static asf_cios *open_decoded(const char *path) {
    asf_cios *stream = asf_decode(asf_sopen(path, O_RDONLY, 0, nullptr), nullptr);
    OK(stream);
    return stream;
}

static void *with_decoded_streams(void *name) {
    for (int i = 0; i < 3; i++) {
        asf_cios *stream = open_decoded(*static_cast<char *>(name) % 2 ? "numbers.gz" : "numbers.zst");
        read_all(stream);
        OK(asf_sclose(stream) == 0);
    }
    read_all(shared);
    return nullptr;
}

int main(int argc, char **argv) {
    begin(argc, argv);
    together(with_streams_of_its_own);
    together(with_records);
    for (int i = 0; i < rounds; i++) {
        OK(asf_record_declare(asf::record::detail::described<point>(), &format) == 0);
        together(with_a_shared_format);
    }
    if (system("seq 1 300000 >numbers && gzip -k numbers && zstd -q numbers") == 0) {
        shared = open_decoded("numbers.gz");
        together(with_decoded_streams);
        OK(asf_sclose(shared) == 0);
    }
    return end();
}
