/* SPDX-License-Identifier: MIT
 *
 * asf.hpp - <asf/asf.h> and <asf/lines.h> for C++20: streams and regions that free themselves, and the
 * lines, fields and records of a stream as ranges.
 *
 *     asf::stream in("table.tsv");
 *     for (std::string_view line : in.lines())
 *         for (std::string_view field : asf::fields(line, '\t'))
 *             use(field);
 *
 * Nothing is copied: ranges and regions refer to the stream's own buffer.
 *
 * Errors: a call that can fail throws std::system_error.  With a std::error_code as its last argument,
 * it clears or sets that and throws nothing.  <asf/errors.hpp> has their category.  The end of the file is no
 * error: a region is empty, a range ends.
 *
 * Thread safety: as <asf/asf.h>'s for one stream; only one thread at a time may use an object of this
 * header.
 *
 * Source: the paper's C++ stream interface ("Structure"); an extension in this form.
 */
#ifndef ASF_ASF_HPP
#define ASF_ASF_HPP

#if __cplusplus < 202002L
#error "asf/asf.hpp needs C++20: compile with -std=c++20"
#else

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <version>

#ifdef __cpp_lib_format
#include <format>
#endif

#include <fcntl.h>

#include <asf/asf.h>
#include <asf/errors.hpp>
#include <asf/lines.h>
#include <asf/print.hpp>

namespace asf {

namespace detail {

[[gnu::cold, gnu::noinline]] inline void fail(int result, const char *call) {
    throw std::system_error(error_of(result), call);
}

inline void check(const std::error_code &error, const char *call) {
    if (error)
        throw std::system_error(error, call);
}

/* Calls `call` with a std::error_code and returns its result; throws if the error is set. */
template <class Call> auto thrown(const char *name, Call call) {
    std::error_code error;
    if constexpr (std::is_void_v<decltype(call(error))>) {
        call(error);
        check(error, name);
    } else {
        auto result = call(error);
        check(error, name);
        return result;
    }
}

/* Base of the two kinds of region: bytes of one stream. */
class piece {
  public:
    piece() noexcept = default;
    piece(asf_cios *stream, void *data, std::size_t size) noexcept
        : stream_(stream), data_(data), size_(size) {}
    piece(piece &&other) noexcept { swap(other); }
    piece &operator=(piece &&) = delete;

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

  protected:
    ~piece() = default;
    void swap(piece &other) noexcept {
        std::swap(stream_, other.stream_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }
    void *take() noexcept {
        size_ = 0;
        return std::exchange(data_, nullptr);
    }

    asf_cios *stream_ = nullptr;
    void *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace detail

/* region: bytes of an input stream, in place.  It is empty at the end of the file.
 * lifetime  until release or its destructor, whatever other calls the stream gets; closing the stream is
 *           refused (EBUSY) meanwhile. */
class region : public detail::piece {
  public:
    using piece::piece;
    region(region &&) noexcept = default;
    region &operator=(region other) noexcept {
        swap(other);
        return *this;
    }
    ~region() {
        if (data_)
            asf_sfree(stream_, data_);
    }

    const std::byte *data() const noexcept { return static_cast<const std::byte *>(data_); }
    std::span<const std::byte> bytes() const noexcept { return {data(), size_}; }
    std::string_view text() const noexcept { return {static_cast<const char *>(data_), size_}; }
    auto begin() const noexcept { return bytes().begin(); }
    auto end() const noexcept { return bytes().end(); }

    /* release: give the bytes back now, and report errors.
     * errors  EIO: the file was truncated under the region, whose missing part has read as
     *         zero bytes. */
    void release() {
        detail::thrown("asf::region::release", [&](auto &error) { release(error); });
    }
    void release(std::error_code &error) noexcept {
        void *data = take();
        error = detail::error_of(data ? asf_sfree(stream_, data) : 0);
    }
};

/* output_region: space in an output stream, which the program fills and commits.  A region that is not
 * committed, for example because of an exception, writes nothing to the stream.
 * lifetime  until commit, abandon or its destructor. */
class output_region : public detail::piece {
  public:
    using piece::piece;
    output_region(output_region &&) noexcept = default;
    output_region &operator=(output_region other) noexcept {
        swap(other);
        return *this;
    }
    ~output_region() { abandon(); }

    std::byte *data() const noexcept { return static_cast<std::byte *>(data_); }
    std::span<std::byte> bytes() const noexcept { return {data(), size_}; }
    std::span<char> text() const noexcept { return {static_cast<char *>(data_), size_}; }
    auto begin() const noexcept { return bytes().begin(); }
    auto end() const noexcept { return bytes().end(); }

    /* commit: the first `used` bytes, or all, are complete and may be written.
     *   used    at most size(); fewer only while the region is the latest of its stream
     * errors  EBUSY: it is not the latest, and is unchanged.  EINVAL: `used` is more than size().  Errors of
     * a write that waited for this region. */
    void commit() { commit(size_); }
    void commit(std::size_t used) {
        detail::thrown("asf::output_region::commit", [&](auto &error) { commit(used, error); });
    }
    void commit(std::size_t used, std::error_code &error) noexcept {
        ssize_t length = used > size_ ? -EINVAL : static_cast<ssize_t>(used);
        if (used < size_)
            if (void *data = asf_srealloc(stream_, data_, &length); length >= 0)
                data_ = data;
        error = detail::error_of(length);
        if (error)
            return;
        void *data = take();
        error = detail::error_of(data ? asf_sfree(stream_, data) : 0);
    }

    /* abandon: omit the region from the stream. */
    void abandon() noexcept {
        if (void *data = take())
            asf_sabandon(stream_, data);
    }
};

namespace detail {

/* The two iterators of <asf/lines.h> with functions of the same names. */
struct lines_state : asf_lines {
    void begin(asf_cios *of, int until, std::size_t most) noexcept {
        asf_lines_begin(this, of, until, static_cast<ssize_t>(most));
    }
    void begin_as(const lines_state &other) noexcept { begin(other.stream, other.delimiter, other.longest); }
    const char *next(ssize_t *length) noexcept { return asf_lines_next(this, length); }
    int end() noexcept { return asf_lines_end(this); }
};

struct records_state : asf_fixed_records {
    void begin(asf_cios *of, std::size_t bytes) noexcept { asf_fixed_records_begin(this, of, bytes); }
    void begin_as(const records_state &other) noexcept { begin(other.stream, other.size); }
    const char *next(ssize_t *length) noexcept {
        return static_cast<const char *>(asf_fixed_records_next(this, length));
    }
    int end() noexcept { return asf_fixed_records_end(this); }
};

/* Closes a stream that a range owns. */
struct closer {
    void operator()(asf_cios *stream) const noexcept { asf_sclose(stream); }
};

/* Base of the two ranges, which are not views.  So a view of a named range refers to the range, which keeps
 * the remaining lines; a view of a temporary range owns it.
 *   owned   whether the range closes the stream */
template <class State> class range {
  public:
    class iterator {
      public:
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::input_iterator_tag;

        iterator() noexcept = default;
        explicit iterator(range &of) : range_(&of), passed_(true) { read(); }
        iterator(iterator &&) noexcept = default;
        iterator &operator=(iterator &&) noexcept = default;
        iterator(const iterator &other) : range_(other.range_), data_(other.read()), length_(other.length_) {}
        iterator &operator=(const iterator &other) { return *this = iterator(other); }

        std::string_view operator*() const { return {read(), static_cast<std::size_t>(length_)}; }
        iterator &operator++() {
            read();
            passed_ = true;
            return *this;
        }
        void operator++(int) { ++*this; }
        friend bool operator==(const iterator &i, std::default_sentinel_t) { return !i.read(); }

      private:
        /* Reads the next line or record if operator++ has passed the present one.  operator++ itself does
         * not read: std::views::take(n) increments its iterator n times, and would consume one line more. */
        const char *read() const {
            if (!passed_)
                return data_;
            ssize_t length = 0; // not length_, so that the iterator stays in registers
            passed_ = false;
            data_ = range_->state_.next(&length);
            length_ = length;
            if (!data_) [[unlikely]]
                range_->stop(length);
            return data_;
        }

        range *range_ = nullptr;
        mutable const char *data_ = nullptr;
        mutable ssize_t length_ = 0;
        mutable bool passed_ = false;
    };

    iterator begin() & {
        if (state_.stream)
            return iterator(*this);
        stop(-EBADF);
        return {};
    }
    iterator begin() && = delete; // the iterator would refer to a range that is destroyed
    std::default_sentinel_t end() const noexcept { return {}; }

  protected:
    template <class... Arguments>
    explicit range(std::error_code *error, bool owned, asf_cios *stream, Arguments... arguments) noexcept
        : error_(error), owned_(owned ? stream : nullptr) {
        state_.begin(stream, arguments...);
    }
    range(range &&other) noexcept { begin_as(other); }
    range &operator=(range &&other) noexcept {
        if (this != &other) {
            give_back();
            begin_as(other);
        }
        return *this;
    }
    ~range() { give_back(); }

    State state_;

  private:
    void begin_as(range &other) noexcept {
        other.give_back();
        state_.begin_as(other.state_);
        error_ = other.error_;
        if (other.owned_)
            other.state_.stream = nullptr;
        owned_ = std::move(other.owned_);
    }
    void give_back() noexcept {
        int result = state_.region ? state_.end() : 0;
        if (result < 0 && error_)
            *error_ = error_of(result);
    }
    /* Ends the iteration; stores an error in the caller's variable, or throws it. */
    void stop(ssize_t result) {
        if (error_)
            *error_ = error_of(result);
        else
            check(error_of(result), "asf::stream");
    }

    std::error_code *error_;
    std::unique_ptr<asf_cios, closer> owned_; // the stream, if this range closes it
};

} // namespace detail

/* lines: an input range of the lines of a stream, without their delimiters: struct asf_lines of
 * <asf/lines.h>.  stream::lines makes it.
 * lifetime  of a line: until its iterator is incremented.  The next line is read when the incremented
 *           iterator is compared or dereferenced.  While the range exists, no other call may use
 *           the stream.  After that, even if a loop ended early, the stream's offset is after
 *           the last line returned.  A range that is moved begins there, too.
 * errors    of begin and of the operators that read a line, which then return the end; the stream's offset
 *           is before the line: EMSGSIZE: the line is longer than `longest`; EBUSY: another range of the
 *           stream is in the middle of its lines or records, or another call has used the stream; EIO: the
 *           file was truncated under lines that were returned; errors of salloc. */
class lines : public detail::range<detail::lines_state> {
  public:
    lines(asf_cios *stream, char delimiter, std::size_t longest, std::error_code *error,
          bool owned = false) noexcept
        : range(error, owned, stream, delimiter, longest) {}

    /* delimited: whether the line returned last has its delimiter. */
    bool delimited() const noexcept { return asf_lines_delimited(&state_); }
    /* at_hand: whether the next line is available without using the stream, which may wait. */
    bool at_hand() const noexcept { return asf_lines_at_hand(&state_); }
};

/* records: an input range of records of one size, the last of which may be shorter; made by
 * stream::records.  Otherwise as lines. */
class records : public detail::range<detail::records_state> {
  public:
    records(asf_cios *stream, std::size_t size, std::error_code *error, bool owned = false) noexcept
        : range(error, owned, stream, size) {}
};

/* fields: a forward range of the fields of a text: n separators divide n + 1 fields.
 *   text       the caller's; it must not change while the range is used
 * errors  none. */
class fields : public std::ranges::view_base {
  public:
    fields(std::string_view text, char separator) noexcept
        : text_(text.data() ? text : std::string_view("")), separator_(separator) {}
    /* Deleted: a temporary string would be destroyed before the fields. */
    template <std::same_as<std::string> Text> fields(Text &&text, char separator) = delete;

    class iterator {
      public:
        using value_type = std::string_view;
        using difference_type = std::ptrdiff_t;
        using iterator_concept = std::forward_iterator_tag;

        iterator() noexcept = default;
        iterator(std::string_view text, char separator) noexcept {
            asf_fields_begin(&state_, text.data(), static_cast<ssize_t>(text.size()), separator);
            ++*this;
        }
        std::string_view operator*() const noexcept { return {field_, static_cast<std::size_t>(length_)}; }
        iterator &operator++() noexcept {
            field_ = asf_fields_next(&state_, &length_);
            return *this;
        }
        iterator operator++(int) noexcept { return std::exchange(*this, iterator(*this).operator++()); }
        friend bool operator==(const iterator &a, const iterator &b) noexcept { return a.field_ == b.field_; }
        friend bool operator==(const iterator &i, std::default_sentinel_t) noexcept { return !i.field_; }

      private:
        asf_fields state_ = {};
        const char *field_ = nullptr;
        ssize_t length_ = 0;
    };

    iterator begin() const noexcept { return {text_, separator_}; }
    std::default_sentinel_t end() const noexcept { return {}; }

  private:
    std::string_view text_;
    char separator_;
};

/* stream: a stream that its destructor closes without reporting errors: a program that has written
 * calls close.  Every use of a closed or moved-from stream fails with EBADF. */
class stream {
  public:
    stream() noexcept = default;
    /* asf_sopen; flags and mode are open()'s. */
    explicit stream(const std::filesystem::path &path, int flags = O_RDONLY, mode_t mode = 0666) {
        std::error_code error;
        *this = stream(path, flags, mode, error);
        if (error)
            throw std::filesystem::filesystem_error("asf::stream", path, error);
    }
    stream(const std::filesystem::path &path, int flags, mode_t mode, std::error_code &error) noexcept {
        int code = 0;
        stream_ = asf_sopen(path.c_str(), flags, mode, &code);
        error = detail::error_of(code);
    }
    /* asf_sopen for reading. */
    stream(const std::filesystem::path &path, std::error_code &error) noexcept
        : stream(path, O_RDONLY, 0, error) {}
    /* on: a stream on a descriptor, which it owns from now on unless the call fails; as asf_sopen_fd.
     *   flags   how it was opened; by default the descriptor's own flags */
    static stream on(int descriptor) {
        return detail::thrown("asf::stream::on", [&](auto &error) { return on(descriptor, error); });
    }
    static stream on(int descriptor, std::error_code &error) noexcept {
        int flags = fcntl(descriptor, F_GETFL);
        if (flags >= 0)
            return on(descriptor, flags & (O_ACCMODE | O_APPEND), error);
        error.assign(errno, std::system_category());
        return {};
    }
    static stream on(int descriptor, int flags) {
        return detail::thrown("asf::stream::on", [&](auto &error) { return on(descriptor, flags, error); });
    }
    static stream on(int descriptor, int flags, std::error_code &error) noexcept {
        int code = 0;
        stream opened(asf_sopen_fd(descriptor, flags, &code));
        error = detail::error_of(code);
        return opened;
    }
    /* A stream of the C interface, which this object closes. */
    explicit stream(asf_cios *owned) noexcept : stream_(owned) {}
    stream(stream &&other) noexcept : stream_(other.release()) {}
    stream &operator=(stream &&other) noexcept {
        stream(std::move(other)).swap(*this);
        return *this;
    }
    ~stream() {
        if (stream_)
            asf_sclose(stream_);
    }

    void swap(stream &other) noexcept { std::swap(stream_, other.stream_); }
    explicit operator bool() const noexcept { return stream_; }
    /* get: the stream for the calls of <asf/asf.h>. */
    asf_cios *get() const noexcept { return stream_; }
    /* release: give the open stream to the caller, who must call asf_sclose. */
    asf_cios *release() noexcept { return std::exchange(stream_, nullptr); }

    /* close: write pending output and close.
     * errors  those of a write or close, after which the stream is closed; EBUSY while there are
     *         regions: nothing is closed. */
    void close() {
        detail::thrown("asf::stream::close", [&](auto &error) { close(error); });
    }
    void close(std::error_code &error) noexcept {
        int result = stream_ ? asf_sclose(stream_) : -EBADF;
        if (result != -EBUSY)
            stream_ = nullptr;
        error = detail::error_of(result);
    }
    /* flush: as asf_sflush. */
    void flush() {
        detail::thrown("asf::stream::flush", [&](auto &error) { flush(error); });
    }
    void flush(std::error_code &error) noexcept {
        error = detail::error_of(stream_ ? asf_sflush(stream_) : -EBADF);
    }

    /* read: the next n bytes, fewer only at the end of the file or before an error (asf_salloc).
     * read_some: the bytes available, at least one and at most n (asf_salloc_some).
     * read_at: moves the stream to an offset, and reads n bytes (asf_sallocAt).
     * errors  those of the C calls; EBADF: the stream was not opened for reading. */
    region read(std::size_t n) & {
        return detail::thrown("asf::stream::read", [&](auto &error) { return read(n, error); });
    }
    region read(std::size_t n, std::error_code &error) &noexcept {
        return allocate<region>(n, error,
                                [&](ssize_t *length) { return asf_Salloc(stream_, ASF_READ, length); });
    }
    region read_some(std::size_t n) & {
        return detail::thrown("asf::stream::read_some", [&](auto &error) { return read_some(n, error); });
    }
    region read_some(std::size_t n, std::error_code &error) &noexcept {
        return allocate<region>(n, error, [&](ssize_t *length) -> void * {
            if (mode(ASF_READ))
                return asf_salloc_some(stream_, length);
            *length = -EBADF;
            return nullptr;
        });
    }
    region read_at(std::int64_t offset, std::size_t n) & {
        return detail::thrown("asf::stream::read_at", [&](auto &error) { return read_at(offset, n, error); });
    }
    region read_at(std::int64_t offset, std::size_t n, std::error_code &error) &noexcept {
        return allocate<region>(n, error, [&](ssize_t *length) {
            return asf_SallocAt(stream_, ASF_READ, length, offset, SEEK_SET);
        });
    }
    /* read_line: the next line with its delimiter, as a region of its own (asf_salloc_until); for
     * threads that share a stream. */
    region read_line(char delimiter = '\n', std::size_t longest = 0) & {
        return detail::thrown("asf::stream::read_line",
                              [&](auto &error) { return read_line(delimiter, longest, error); });
    }
    region read_line(char delimiter, std::size_t longest, std::error_code &error) &noexcept {
        return allocate<region>(longest ? longest : ASF_LONGEST_LINE, error, [&](ssize_t *length) {
            return asf_salloc_until(stream_, delimiter, length);
        });
    }

    /* Deleted: a temporary stream with a region could not be closed. */
    template <class... Arguments> region read(Arguments &&...) && = delete;
    template <class... Arguments> region read_some(Arguments &&...) && = delete;
    template <class... Arguments> region read_at(Arguments &&...) && = delete;
    template <class... Arguments> region read_line(Arguments &&...) && = delete;
    template <class... Arguments> output_region write(Arguments &&...) && = delete;
    template <class... Arguments> output_region write_at(Arguments &&...) && = delete;

    /* lines, records: the next bytes of the stream as a range.  A temporary stream moves into its range,
     * which closes it: a loop over asf::stream(path).lines() works.
     *   longest  the longest line with its delimiter, or 0 for ASF_LONGEST_LINE
     *   error    receives an error instead of an exception.  It must outlive the
     *            range.  It is set when the iteration ends, or by the range's destructor if there is
     *            an error, such as EIO for lines that were returned */
    asf::lines lines(char delimiter = '\n', std::size_t longest = 0) &noexcept {
        return {stream_, delimiter, longest, nullptr};
    }
    asf::lines lines(char delimiter, std::size_t longest, std::error_code &error) &noexcept {
        return {stream_, delimiter, longest, &error};
    }
    asf::lines lines(char delimiter = '\n', std::size_t longest = 0) &&noexcept {
        return {release(), delimiter, longest, nullptr, true};
    }
    asf::lines lines(char delimiter, std::size_t longest, std::error_code &error) &&noexcept {
        return {release(), delimiter, longest, &error, true};
    }
    asf::records records(std::size_t size) &noexcept { return {stream_, size, nullptr}; }
    asf::records records(std::size_t size, std::error_code &error) &noexcept {
        return {stream_, size, &error};
    }
    asf::records records(std::size_t size) &&noexcept { return {release(), size, nullptr, true}; }
    asf::records records(std::size_t size, std::error_code &error) &&noexcept {
        return {release(), size, &error, true};
    }

    /* write: space for the next n bytes (asf_Salloc).  write_at: moves the stream to an offset, and
     * allocates space there (asf_SallocAt). */
    output_region write(std::size_t n) & {
        return detail::thrown("asf::stream::write", [&](auto &error) { return write(n, error); });
    }
    output_region write(std::size_t n, std::error_code &error) &noexcept {
        return allocate<output_region>(
            n, error, [&](ssize_t *length) { return asf_Salloc(stream_, ASF_WRITE, length); });
    }
    output_region write_at(std::int64_t offset, std::size_t n) & {
        return detail::thrown("asf::stream::write_at",
                              [&](auto &error) { return write_at(offset, n, error); });
    }
    output_region write_at(std::int64_t offset, std::size_t n, std::error_code &error) &noexcept {
        return allocate<output_region>(n, error, [&](ssize_t *length) {
            return asf_SallocAt(stream_, ASF_WRITE, length, offset, SEEK_SET);
        });
    }
    /* put: writes a copy of the text. */
    void put(std::string_view text) {
        detail::thrown("asf::stream::put", [&](auto &error) { put(text, error); });
    }
    void put(std::string_view text, std::error_code &error) noexcept {
        if (text.empty())
            return error.clear();
        output_region space = write(text.size(), error);
        if (error)
            return;
        std::memcpy(space.data(), text.data(), text.size());
        space.commit(text.size(), error);
    }

#ifdef __cpp_lib_format
    /* print: std::format into the stream's own buffer; formats twice if the text is longer than the
     * first 128 bytes of space.  Not available if the standard library has no <format> (before gcc 13).
     * errors  those of write; exceptions of std::format, with nothing written. */
    template <class... Arguments>
    void print(std::format_string<const Arguments &...> format, const Arguments &...arguments) {
        for (std::size_t room = 128;;) {
            output_region space = write(room);
            auto wanted = static_cast<std::size_t>(
                std::format_to_n(space.text().data(), static_cast<std::ptrdiff_t>(room), format, arguments...)
                    .size);
            if (wanted <= room)
                return space.commit(wanted);
            room = wanted;
        }
    }
#endif

    /* mode: put the stream into read or write mode (asf_set_stream_mode).
     * returns  whether it is in that mode. */
    bool mode(asf_mode wanted) noexcept {
        return stream_ && asf_set_stream_mode(stream_, wanted);
    }
    /* advise: as asf_advise. */
    void advise(asf_advice advice) {
        detail::thrown("asf::stream::advise", [&](auto &error) { advise(advice, error); });
    }
    void advise(asf_advice advice, std::error_code &error) noexcept {
        error = detail::error_of(stream_ ? asf_advise(stream_, advice) : -EBADF);
    }

  private:
    template <class Region, class Call>
    Region allocate(std::size_t n, std::error_code &error, Call call) noexcept {
        auto length = static_cast<ssize_t>(n < SSIZE_MAX ? n : SSIZE_MAX);
        void *data = stream_ && n > 0 ? call(&length) : nullptr;
        if (!stream_)
            length = -EBADF;
        error = detail::error_of(length);
        return data ? Region(stream_, data, static_cast<std::size_t>(length)) : Region();
    }

    asf_cios *stream_ = nullptr;
};

/* print: writes the values one after the other, never with bytes of another thread's call between them.
 *     asf::print(out, id, '\t', name, '\t', price, '\n');
 *   values   numbers, characters and texts: <asf/print.hpp>
 * errors   those of asf_put_text, thrown. */
template <printable... Values> void print(stream &out, const Values &...values) {
    int result = out ? detail::print_printed(out.get(), detail::printed(values)...) : -EBADF;
    if (result < 0) [[unlikely]]
        detail::fail(result, "asf::print");
}

namespace detail {

template <class Value> constexpr asf_column_type column_type() {
    constexpr bool whole = std::is_integral_v<Value> && std::is_signed_v<Value>;
    static_assert(std::is_same_v<Value, double> || (whole && (sizeof(Value) == 4 || sizeof(Value) == 8)),
                  "asf::columns reads double and signed integers of 32 and 64 bits");
    return !whole ? ASF_DOUBLE : sizeof(Value) == 4 ? ASF_INT32 : ASF_INT64;
}

} // namespace detail

/* columns: reads columns of numbers from the next lines of a stream.
 *     auto [id, price] = asf::columns<int, double>(in, {0, 3});
 *   fields     which fields of a line, the first is 0; they increase
 *   separator  the byte between two fields
 *   rows       lines wanted at most
 * returns  a vector for each column, all of the same length.
 * errors   those of asf_get_columns, which defines a number.  After an error the rows before it are
 * lost.  what() contains the number of the row; the first row of the call is 1. */
template <class... Values>
std::tuple<std::vector<Values>...> columns(stream &in,
                                           const std::array<std::size_t, sizeof...(Values)> &fields,
                                           char separator = '\t', std::size_t rows = SIZE_MAX) {
    constexpr std::size_t first_piece = 4096;
    std::tuple<std::vector<Values>...> result;
    std::size_t have = 0;
    auto each = [&](auto call) { std::apply([&](auto &...vectors) { (call(vectors), ...); }, result); };
    while (in && have < rows) {
        const std::size_t piece = std::min(std::max(first_piece, have), rows - have);
        std::array<asf_column, sizeof...(Values)> wanted;
        std::size_t next = 0;
        each([&](auto &vector) {
            vector.resize(have + piece);
            wanted[next] = {fields[next],
                            detail::column_type<typename std::decay_t<decltype(vector)>::value_type>(),
                            vector.data() + have};
            next++;
        });
        const std::int64_t got =
            asf_get_columns(in.get(), static_cast<unsigned char>(separator), wanted.data(), wanted.size(),
                            static_cast<std::int64_t>(piece));
        if (got < 0)
            throw std::system_error(detail::error_of(got), "asf::columns: row " + std::to_string(have + 1));
        have += static_cast<std::size_t>(got);
        if (got == 0)
            break;
    }
    if (!in)
        detail::fail(-EBADF, "asf::columns");
    each([&](auto &vector) { vector.resize(have); });
    return result;
}

/* copy: copies the next bytes of one stream to another, as asf_copy.
 * returns  the number of bytes, fewer than n only at the end of `in`. */
inline std::int64_t copy(stream &in, stream &out, std::int64_t n, std::error_code &error) noexcept {
    std::int64_t result = in && out ? asf_copy(in.get(), out.get(), n) : -EBADF;
    error = detail::error_of(result);
    return result < 0 ? 0 : result;
}
inline std::int64_t copy(stream &in, stream &out, std::int64_t n = INT64_MAX) {
    return detail::thrown("asf::copy", [&](auto &error) { return copy(in, out, n, error); });
}

} // namespace asf

/* Iterators of fields refer to the text, not to the range. */
template <> inline constexpr bool std::ranges::enable_borrowed_range<asf::fields> = true;

#endif // C++20
#endif
