// SPDX-License-Identifier: MIT
//
// record_store_test.cpp - formats by their hash, in a directory and in the program's own store. A format that
// a store returns is checked.
#include <map>
#include <thread>

#include "record_test.h"

namespace record {
namespace {

class Directory {
  public:
    Directory() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;
    ~Directory() { EXPECT_EQ(system(("rm -r " + path_).c_str()), 0); }
    const std::string &path() const { return path_; }
    asf_record_store *open() const {
        asf_record_store *s = nullptr;
        EXPECT_EQ(asf_record_store_directory(path_.c_str(), &s), 0) << asf_record_why();
        return s;
    }
    std::string file_of(const asf_record_format *f) const {
        std::string name = path_ + "/";
        for (int i = 0; i < 16; i++) {
            char hex[3];
            snprintf(hex, sizeof hex, "%02x", asf_record_hash(f)[i]);
            name += hex;
        }
        return name + ".format";
    }

  private:
    std::string path_ = "/tmp/asf-store-XXXXXX";
};

TEST(RecordStore, one_process_finds_what_another_has_put) {
    const Directory d;
    const Format f(sample_type);
    asf_record_store *a = d.open(), *b = d.open();
    Format found;
    EXPECT_EQ(asf_record_store_get(b, asf_record_hash(f), found.out()), -ENOENT);
    ASSERT_EQ(asf_record_store_put(a, f), 0) << asf_record_why();
    ASSERT_EQ(asf_record_store_put(b, f), 0); // stores the format a second time
    asf_record_store_free(b);
    b = d.open();
    ASSERT_EQ(asf_record_store_get(b, asf_record_hash(f), found.out()), 0) << asf_record_why();
    EXPECT_EQ(found.description(), f.description());
    asf_record_store_free(a);
    asf_record_store_free(b);
}

TEST(RecordStore, a_file_that_is_not_what_its_name_says_is_refused) {
    const Directory d;
    const Format f(sample_type), other(point_type);
    asf_record_store *s = d.open();
    Format found;
    for (const std::string &contents : {other.description(), std::string(), std::string("nonsense"),
                                        f.description().substr(1), std::string(100000, 'x')}) {
        FILE *out = fopen(d.file_of(f).c_str(), "we");
        fwrite(contents.data(), 1, contents.size(), out);
        fclose(out);
        EXPECT_EQ(asf_record_store_get(s, asf_record_hash(f), found.out()), -EBADMSG) << asf_record_why();
        EXPECT_EQ(found, nullptr);
    }
    asf_record_store_free(s);
}

// Files of these names may be from a killed process, or from a thread with the same number on another
// machine.
TEST(RecordStore, names_that_others_have_taken_are_passed_over) {
    const Directory d;
    const Format f(sample_type);
    const std::string file = d.file_of(f);
    const size_t name = file.rfind('/') + 1;
    for (int i = 0; i < 40; i++) {
        const std::string taken = file.substr(0, name) + "." + file.substr(name, 8) + "." +
                                  std::to_string(gettid()) + "." + std::to_string(i);
        fclose(fopen(taken.c_str(), "we"));
    }
    asf_record_store *s = d.open();
    Format found;
    EXPECT_EQ(asf_record_store_put(s, f), 0) << asf_record_why();
    asf_record_store_free(s);
    s = d.open();
    EXPECT_EQ(asf_record_store_get(s, asf_record_hash(f), found.out()), 0) << asf_record_why();
    asf_record_store_free(s);
}

TEST(RecordStore, a_directory_that_cannot_be_used) {
    asf_record_store *s;
    EXPECT_EQ(asf_record_store_directory("/proc/no/such", &s), -ENOENT);
    EXPECT_EQ(asf_record_store_directory((std::string(5000, 'x')).c_str(), &s), -ENAMETOOLONG);
    const File file;
    EXPECT_EQ(asf_record_store_directory(file.path(), &s), -ENOTDIR);
    EXPECT_NE(strstr(asf_record_why(), file.path()), nullptr);
    EXPECT_EQ(s, nullptr);
}

TEST(RecordStore, records_with_a_hash_need_no_format_in_their_stream) {
    const Directory d;
    const Format f(sample_type);
    const File file;
    asf_record_options o = options();
    o.hashed = 1;
    o.store = d.open();
    {
        Writer w(file, &o);
        for (int i = 0; i < 100; i++) {
            const sample s = make_sample(i);
            ASSERT_EQ(asf_record_write(w, f, &s), 0) << asf_record_why();
        }
    }
    EXPECT_EQ(file.contents().find("track_count"), std::string::npos);
    {
        Reader r(file, &o);
        const void *view;
        for (int i = 0; i < 100; i++) {
            ASSERT_EQ(asf_record_view(r.next(), f, &view), ASF_RECORD_IN_PLACE);
            EXPECT_EQ(static_cast<const sample *>(view)->id, i);
        }
    }
    asf_record_store_free(o.store);
    Reader r(file); // this reader has no store
    asf_record *record;
    EXPECT_EQ(asf_record_next(r, &record), -ENOENT);
}

// --- a store of the program's own ---------------------------------------------------------

struct Own {
    std::map<std::string, std::string> formats;
    int loads = 0, saves = 0, closes = 0;
};

ssize_t own_load(void *data, const unsigned char *hash, void *description, size_t room) {
    auto *own = static_cast<Own *>(data);
    own->loads++;
    const auto found = own->formats.find(std::string(reinterpret_cast<const char *>(hash), 16));
    if (found == own->formats.end())
        return -ENOENT;
    memcpy(description, found->second.data(), std::min(room, found->second.size()));
    return static_cast<ssize_t>(found->second.size());
}

int own_save(void *data, const unsigned char *hash, const void *description, size_t length) {
    auto *own = static_cast<Own *>(data);
    own->saves++;
    own->formats[std::string(reinterpret_cast<const char *>(hash), 16)] =
        std::string(static_cast<const char *>(description), length);
    return 0;
}

void own_close(void *data) {
    static_cast<Own *>(data)->closes++;
}

asf_record_store_ops own_ops() {
    return {sizeof(asf_record_store_ops), ASF_RECORD_STORE_VERSION, "own", own_load, own_save, own_close};
}

TEST(RecordStore, of_a_program_is_asked_once) {
    Own own;
    const asf_record_store_ops ops = own_ops();
    asf_record_store *s;
    ASSERT_EQ(asf_record_store_with(&ops, &own, &s), 0);
    const Format f(sample_type);
    for (int i = 0; i < 10; i++)
        ASSERT_EQ(asf_record_store_put(s, f), 0);
    for (int i = 0; i < 10; i++) {
        Format found;
        ASSERT_EQ(asf_record_store_get(s, asf_record_hash(f), found.out()), 0);
    }
    EXPECT_EQ(own.saves, 1);
    EXPECT_EQ(own.loads, 0);
    asf_record_store_free(s);
    EXPECT_EQ(own.closes, 1);
}

TEST(RecordStore, of_a_program_must_be_whole) {
    asf_record_store *s;
    asf_record_store_ops ops = own_ops();
    EXPECT_EQ(asf_record_store_with(nullptr, nullptr, &s), -EINVAL);
    ops.version++;
    EXPECT_EQ(asf_record_store_with(&ops, nullptr, &s), -EINVAL);
    ops = own_ops();
    ops.load = nullptr;
    EXPECT_EQ(asf_record_store_with(&ops, nullptr, &s), -EINVAL);
}

TEST(RecordStore, serves_several_threads) {
    const Directory d;
    asf_record_store *s = d.open();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([s] {
            const Format a(sample_type), b(point_type);
            for (int i = 0; i < 200; i++) {
                Format found;
                EXPECT_EQ(asf_record_store_put(s, i % 2 ? a : b), 0);
                EXPECT_EQ(asf_record_store_get(s, asf_record_hash(i % 2 ? a : b), found.out()), 0);
            }
        });
    for (std::thread &t : threads)
        t.join();
    asf_record_store_free(s);
}

} // namespace
} // namespace record
