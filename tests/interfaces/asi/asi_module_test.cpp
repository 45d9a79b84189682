// SPDX-License-Identifier: MIT
//
// asi_module_test.cpp - stream modules that a program defines, by asf/stream.h.
#include "asi_test.h"

#include <dlfcn.h>

#include <asf/stream.h>

namespace asi {
namespace {

// A string that the smallest possible module reads and writes.
struct Text {
    std::string data;
    size_t at = 0;
    size_t most = SIZE_MAX; // moves at most this many bytes a call
    int error = 0;          // if not 0, every call returns it
    int closed = 0;
};

Text &text_of(asf_cios *c) {
    return *static_cast<Text *>(asf_stream_data(c));
}

ssize_t text_get(asf_cios *c, void *buffer, size_t n) {
    Text &t = text_of(c);
    if (t.error)
        return t.error;
    n = std::min({n, t.most, t.data.size() - std::min(t.at, t.data.size())});
    memcpy(buffer, t.data.data() + t.at, n);
    t.at += n;
    return static_cast<ssize_t>(n);
}

ssize_t text_put(asf_cios *c, const void *buffer, size_t n) {
    Text &t = text_of(c);
    if (t.error)
        return t.error;
    n = std::min(n, t.most);
    if (t.data.size() < t.at + n)
        t.data.resize(t.at + n);
    memcpy(t.data.data() + t.at, buffer, n);
    t.at += n;
    return static_cast<ssize_t>(n);
}

off64_t text_seek(asf_cios *c, off64_t offset, int whence) {
    Text &t = text_of(c);
    const size_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? t.at : t.data.size();
    if (static_cast<off64_t>(base) + offset < 0)
        return -EINVAL;
    t.at = static_cast<size_t>(static_cast<off64_t>(base) + offset);
    return static_cast<off64_t>(t.at);
}

int text_close(asf_cios *c) {
    text_of(c).closed++;
    return text_of(c).error;
}

asf_stream_ops smallest(const char *name) {
    asf_stream_ops ops = {};
    ops.size = sizeof ops;
    ops.version = ASF_STREAM_VERSION;
    ops.name = name;
    return ops;
}

class OwnModule : public Asi {
  protected:
    asf_cios *open_text(int flags) {
        int error = 1;
        asf_cios *s = asf_sopen_with(&ops, &text, flags, &error);
        EXPECT_NE(s, nullptr);
        EXPECT_EQ(error, 0);
        return s;
    }
    asf_stream_ops ops = smallest("text");
    Text text;
};

TEST_F(OwnModule, Reads) {
    ops.get = text_get;
    text.data = pattern(300000);
    asf_cios *s = open_text(O_RDONLY);
    EXPECT_STREQ(asf_module_name(s), "text");
    EXPECT_EQ(asf_fileno(s), -EBADF);
    EXPECT_EQ(take(s, 10), pattern(10));
    EXPECT_EQ(take(s, 100000), pattern(100000, 10));
    EXPECT_EQ(take(s, 1000000), pattern(300000 - 100010, 100010));
    EXPECT_EQ(take(s, 1), "");
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(OwnModule, ReadsInSmallPieces) {
    ops.get = text_get;
    text.data = pattern(5000);
    text.most = 3;
    asf_cios *s = open_text(O_RDONLY);
    EXPECT_EQ(take(s, 1000), pattern(1000));
    EXPECT_EQ(take(s, 10000), pattern(4000, 1000));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(OwnModule, Writes) {
    ops.put = text_put;
    ops.close = text_close;
    asf_cios *s = open_text(O_WRONLY);
    const std::string all = pattern(300000);
    for (size_t at = 0; at < all.size(); at += 999)
        give(s, std::string_view(all).substr(at, 999));
    EXPECT_EQ(sclose(s), 0);
    EXPECT_TRUE(text.data == all);
    EXPECT_EQ(text.closed, 1);
}

// sclose returns -EBUSY only if it has closed nothing, so it replaces a module's -EBUSY by -EIO.
TEST_F(OwnModule, IsClosedOnceWhateverItSays) {
    ops.get = text_get;
    ops.close = text_close;
    text.data = "0123456789";
    asf_cios *s = open_text(O_RDONLY);
    ssize_t n = 1;
    void *p = salloc(s, &n);
    EXPECT_EQ(sclose(s), -EBUSY);
    EXPECT_EQ(text.closed, 0);
    EXPECT_EQ(sfree(s, p), 0);
    text.error = -EBUSY;
    EXPECT_EQ(sclose(s), -EIO);
    EXPECT_EQ(text.closed, 1);
}

TEST_F(OwnModule, WritesInSmallPieces) {
    ops.put = text_put;
    text.most = 7;
    asf_cios *s = open_text(O_WRONLY);
    give(s, pattern(1000));
    EXPECT_EQ(sflush(s), 0);
    EXPECT_TRUE(text.data == pattern(1000));
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(OwnModule, BothWaysWithSeeks) {
    ops.get = text_get;
    ops.put = text_put;
    ops.seek = text_seek;
    text.data = "0123456789";
    asf_cios *s = open_text(O_RDWR);
    EXPECT_EQ(take(s, 2), "01");
    ASSERT_EQ(set_stream_mode(s, ASF_WRITE), s);
    give(s, "ab");
    ssize_t n = 3;
    char *p = static_cast<char *>(SallocAt(s, ASF_READ, &n, -3, SEEK_END));
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(std::string(p, 3), "789");
    EXPECT_EQ(sfree(s, p), 0);
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(text.data, "01ab456789");
}

TEST_F(OwnModule, RefusesToSeekWithoutTheCall) {
    ops.get = text_get;
    text.data = "0123456789";
    asf_cios *s = open_text(O_RDONLY);
    ssize_t n = 1;
    void *p = sallocAt(s, &n, 5, SEEK_SET);
    expect_none(p, n, -ESPIPE);
    EXPECT_EQ(sclose(s), 0);
}

TEST_F(OwnModule, ErrorsArePassedOn) {
    ops.get = text_get;
    text.error = -EPERM;
    asf_cios *s = open_text(O_RDONLY);
    ssize_t n = 1;
    void *p = salloc(s, &n);
    expect_none(p, n, -EPERM);
    EXPECT_EQ(sclose(s), 0);
    ops.put = text_put;
    s = open_text(O_WRONLY);
    give(s, "text");
    EXPECT_EQ(sflush(s), -EPERM);
    sclose(s);
}

TEST_F(OwnModule, IncompleteTablesAreRefused) {
    const auto refused = [&](asf_stream_ops table, int flags) {
        int error = 0;
        EXPECT_EQ(asf_sopen_with(&table, &text, flags, &error), nullptr);
        return error;
    };
    ops.get = text_get;
    EXPECT_EQ(refused(ops, O_WRONLY), -EINVAL) << "no put";
    EXPECT_EQ(refused(ops, O_RDWR), -EINVAL) << "no put";
    asf_stream_ops other = ops;
    other.size = 8;
    EXPECT_EQ(refused(other, O_RDONLY), -EINVAL) << "another size";
    other = ops;
    other.version = ASF_STREAM_VERSION + 1;
    EXPECT_EQ(refused(other, O_RDONLY), -EINVAL) << "a later version";
    other = ops;
    other.name = nullptr;
    EXPECT_EQ(refused(other, O_RDONLY), -EINVAL) << "no name";
    other = ops;
    other.get = nullptr;
    EXPECT_EQ(refused(other, O_RDONLY), -EINVAL) << "no get";
    other = ops;
    other.put = text_put;
    EXPECT_EQ(refused(other, O_ACCMODE), -EINVAL) << "no mode";
    EXPECT_EQ(asf_sopen_with(nullptr, &text, O_RDONLY, nullptr), nullptr);
}

// The table as a later <asf/stream.h> might have it: with one more function.
struct LaterOps {
    asf_stream_ops known;
    int (*later)(asf_cios *c);
};

TEST_F(OwnModule, LongerTablesAreTakenIfTheyUseNoMore) {
    text.data = "text";
    LaterOps longer = {smallest("later"), nullptr};
    longer.known.size = sizeof longer;
    longer.known.get = text_get;
    asf_cios *s = asf_sopen_with(&longer.known, &text, O_RDONLY, nullptr);
    ASSERT_NE(s, nullptr);
    EXPECT_EQ(take(s, 10), "text");
    EXPECT_EQ(sclose(s), 0);

    int error = 0;
    longer.later = text_close;
    EXPECT_EQ(asf_sopen_with(&longer.known, &text, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EINVAL) << "a function that this library would not call";
    longer.later = nullptr;
    longer.known.size = SIZE_MAX;
    EXPECT_EQ(asf_sopen_with(&longer.known, &text, O_RDONLY, &error), nullptr);
    EXPECT_EQ(error, -EINVAL) << "no table is as long";
}

TEST_F(OwnModule, TheTableMayGoAfterOpening) {
    text.data = "text";
    auto *own = new asf_stream_ops(smallest("short-lived"));
    own->get = text_get;
    own->close = text_close;
    asf_cios *s = asf_sopen_with(own, &text, O_RDONLY, nullptr);
    memset(own, 0, sizeof *own);
    delete own;
    EXPECT_EQ(take(s, 10), "text");
    EXPECT_EQ(sclose(s), 0);
    EXPECT_EQ(text.closed, 1);
}

TEST_F(OwnModule, CompiledWithAnEarlierHeaderIsLoaded) {
    void *library = dlopen(MODULE_OF_BEFORE, RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    int error = 1;
    asf_cios *s = asf_sopen_with(static_cast<const asf_stream_ops *>(dlsym(library, "table_of_before")),
                                 nullptr, O_RDONLY, &error);
    ASSERT_NE(s, nullptr) << error;
    EXPECT_STREQ(asf_module_name(s), "before");
    EXPECT_EQ(take(s, 8), "a module");
    ssize_t n = 16;
    const char *p = static_cast<char *>(sallocAt(s, &n, 2, SEEK_SET));
    ASSERT_NE(p, nullptr) << n;
    EXPECT_EQ(std::string(p, 16), "module of before");
    EXPECT_EQ(sfree(s, const_cast<char *>(p)), 0);
    EXPECT_EQ(sclose(s), 0);
    dlclose(library);
}

} // namespace
} // namespace asi
