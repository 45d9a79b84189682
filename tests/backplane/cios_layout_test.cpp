// SPDX-License-Identifier: MIT
//
// cios_layout_test.cpp - the leading members of the CIOS have the offsets of glibc's FILE; and the list finds
// streams.
#include <cstddef>
#include <cstdio>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/backplane/engine_test.h"

namespace {

#ifdef __GLIBC__
#define SAME_PLACE(ours, theirs)                                                                             \
    static_assert(offsetof(asf_cios, ours) == offsetof(FILE, theirs) &&                                      \
                  sizeof(asf_cios::ours) == sizeof(FILE::theirs))

SAME_PLACE(flags, _flags);
SAME_PLACE(read_ptr, _IO_read_ptr);
SAME_PLACE(read_end, _IO_read_end);
SAME_PLACE(read_base, _IO_read_base);
SAME_PLACE(write_base, _IO_write_base);
SAME_PLACE(write_ptr, _IO_write_ptr);
SAME_PLACE(write_end, _IO_write_end);
SAME_PLACE(buf_base, _IO_buf_base);
SAME_PLACE(buf_end, _IO_buf_end);
SAME_PLACE(save_base, _IO_save_base);
SAME_PLACE(backup_base, _IO_backup_base);
SAME_PLACE(save_end, _IO_save_end);
SAME_PLACE(markers, _markers);
SAME_PLACE(chain, _chain);
SAME_PLACE(fd, _fileno);
// Since glibc 2.41 a bit field of 24 bits, followed by a char.
static_assert(offsetof(asf_cios, flags2) == offsetof(FILE, _fileno) + sizeof(int));
static_assert(ASF_REOPENED < 1 << 24);
SAME_PLACE(old_offset, _old_offset);
SAME_PLACE(cur_column, _cur_column);
SAME_PLACE(lock, _lock);
SAME_PLACE(offset, _offset);
SAME_PLACE(wide_data, _wide_data);
SAME_PLACE(orientation, _mode);
// _prevchain since glibc 2.41.
static_assert(offsetof(asf_cios, prevchain) == offsetof(FILE, _mode) - sizeof(void *));

TEST(Cios, EndsWhereTheTableOfJumpsIs) {
    EXPECT_EQ(offsetof(asf_cios, vtable), sizeof(FILE));
    EXPECT_GE(sizeof(asf_cios), sizeof(FILE) + sizeof(void *));
}

TEST(Cios, TheEndOfFileAndErrorBitsAreTheSystems) {
    FILE *f = fopen("/dev/null", "r");
    EXPECT_EQ(getc(f), EOF);
    EXPECT_TRUE(f->_flags & ASF_EOF);
    EXPECT_EQ(putc('x', f), EOF);
    EXPECT_TRUE(f->_flags & ASF_ERR);
    EXPECT_TRUE(f->_flags & ASF_NO_WRITES);
    EXPECT_EQ(f->_flags & static_cast<int>(0xffff0000), static_cast<int>(ASF_MAGIC));
    setvbuf(f, nullptr, _IONBF, 0);
    EXPECT_TRUE(f->_flags & ASF_UNBUFFERED);
    fclose(f);
}
#endif

TEST(ListOfStreams, HasThemAll) {
    std::vector<asf_cios *> streams;
    for (int i = 0; i < 500; i++) {
        int error;
        streams.push_back(asf_sopen("/dev/null", O_RDONLY, 0, &error));
        ASSERT_NE(streams.back(), nullptr);
    }
    size_t seen = 0;
    asf__each(
        [](asf_cios *, void *count) {
            ++*static_cast<size_t *>(count);
            return true;
        },
        &seen);
    EXPECT_GE(seen, streams.size());
    for (asf_cios *s : streams)
        EXPECT_EQ(asf_sclose(s), 0);
}

} // namespace
