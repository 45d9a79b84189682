/* SPDX-License-Identifier: MIT
 *
 * streams.hpp - the streams of C++ over the Alloc Stream Interface: asf::istream, asf::ostream and
 * asf::iostream replace std::ifstream, std::ofstream and std::fstream.
 *
 *     asf::istream in("numbers.txt");      // was: std::ifstream in("numbers.txt");
 *     for (int n; in >> n;)
 *         sum += n;
 *
 * They are derived from std::istream and so on: every function that accepts one of those accepts them, and
 * they read and write the same bytes.  The get and put areas of asf::streambuf are regions: a file is
 * read in place.  operator>> and << of numbers are faster if the variable's type is asf::istream or
 * asf::ostream.  The locale must be the classic one, and the format the default.  Otherwise the standard
 * library's operators are used.
 *
 * One difference from std::basic_filebuf: a locale with a codecvt that converts bytes (none of the
 * standard's own does) is refused: every read or write then fails with badbit.
 *
 * Errors: as std::fstream: failbit if a file cannot be opened, badbit if a read or write fails,
 * exceptions as the program has asked for.  If a file is truncated while it is read, the missing part may
 * read as zero bytes: the read after these bytes fails, or close.
 * Thread safety: as any std::istream: none for one object.
 * Source: the paper's C++ stream interface ("Structure"); ISO C++20, [fstreams].
 */
#ifndef ASF_STREAMS_HPP
#define ASF_STREAMS_HPP

#if __cplusplus < 202002L
#error "asf/streams.hpp needs C++20: compile with -std=c++20"
#else

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <istream>
#include <limits>
#include <locale>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asf/asf.h>
#include <asf/errors.hpp>
#include <asf/print.hpp>

namespace asf {

class istream;
class ostream;

/* streambuf: a buffer whose get and put areas are regions of a stream. */
class streambuf : public std::streambuf {
  public:
    streambuf() = default;
    streambuf(streambuf &&other) : std::streambuf(other) { take(other); }
    streambuf &operator=(streambuf &&other) {
        if (this != &other) {
            close();
            std::streambuf::operator=(other);
            take(other);
        }
        return *this;
    }
    ~streambuf() override { close(); }

    /* open: as std::filebuf::open.
     * returns  this; nullptr: a file is open already or cannot be opened (errno has the reason). */
    streambuf *open(const std::filesystem::path &path, std::ios_base::openmode mode);
    /* close: write pending output and close.
     * returns  this; nullptr: no file was open, or output could not be written. */
    streambuf *close();
    bool is_open() const noexcept { return stream_; }
    /* get: the stream for the calls of <asf/asf.h>, which begin at the end of the area. */
    asf_cios *get() const noexcept { return stream_; }

  protected:
    int_type underflow() override;
    int_type pbackfail(int_type c) override;
    int_type overflow(int_type c) override;
    std::streamsize showmanyc() override { return mode_ & std::ios_base::in ? 0 : -1; }
    std::streamsize xsgetn(char *to, std::streamsize n) override;
    std::streamsize xsputn(const char *text, std::streamsize n) override;
    int sync() override { return eback() || (give_back() && flush()) ? 0 : -1; }
    pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override;
    pos_type seekpos(pos_type position, std::ios_base::openmode which) override {
        return seekoff(off_type(position), std::ios_base::beg, which);
    }
    std::streambuf *setbuf(char *, std::streamsize n) override {
        unbuffered_ = n == 0; // other sizes are ignored: the stream has its own buffer
        return this;
    }
    void imbue(const std::locale &locale) override {
        converts_ = !std::use_facet<std::codecvt<char, char, std::mbstate_t>>(locale).always_noconv();
    }

  private:
    friend class istream;
    friend class ostream;
    static constexpr ssize_t area = 1 << 16, area_after_seek = 1 << 13;

    void take(streambuf &other) noexcept;
    void end_putback() noexcept;
    bool give_back() noexcept;
    bool flush() noexcept;
    bool written(int result) noexcept {
        lost_ = lost_ || result < 0;
        return result >= 0;
    }
    char *space(ssize_t n) noexcept;
    std::int64_t position() const noexcept;
    void refuse_conversion() const {
        if (converts_)
            throw std::ios_base::failure("asf::streambuf: the locale's codecvt converts",
                                         std::make_error_code(std::errc::not_supported));
    }

    asf_cios *stream_ = nullptr;
    std::int64_t start_ = 0;            // file offset of the area, or of the next one
    std::ios_base::openmode mode_ = {}; // 0 while no file is open: then reads and writes fail
    bool moved_ = false;                // start_ differs from the stream's offset
    bool wrote_ = false;                // written since the last flush
    bool lost_ = false;                 // a write failed; close fails, too
    bool cut_ = false;                  // the file was truncated under the area
    bool unbuffered_ = false;           // output is not buffered
    bool converts_ = false;
    bool put_back_ = false; // the get area is `back_`; kept_ describes the real one
    char back_ = 0;
    char *kept_[3] = {};
};

inline streambuf *streambuf::open(const std::filesystem::path &path, std::ios_base::openmode mode) {
    using std::ios_base;
    if (stream_)
        return nullptr;
    bool in = (mode & ios_base::in) != 0, trunc = (mode & ios_base::trunc) != 0,
         app = (mode & ios_base::app) != 0;
    bool out = (mode & ios_base::out) != 0 || app;
    if ((!in && !out) || (trunc && (!out || app))) {
        errno = EINVAL;
        return nullptr;
    }
    int flags = in && out ? O_RDWR : out ? O_WRONLY : O_RDONLY, error = 0;
    if (out && (!in || trunc || app))
        flags |= O_CREAT | (app ? O_APPEND : O_TRUNC);
    stream_ = asf_sopen(path.c_str(), flags, 0666, &error);
    if (!stream_) {
        errno = -error;
        return nullptr;
    }
    mode_ = mode | (app ? ios_base::out : ios_base::openmode{});
    start_ = 0;
    moved_ = wrote_ = false;
    if (app && !in)
        start_ = std::max<off_t>(lseek(asf_fileno(stream_), 0, SEEK_END), 0);
    if ((mode & ios_base::ate) != 0 && seekoff(0, ios_base::end, mode) == pos_type(off_type(-1))) {
        close();
        return nullptr;
    }
    return this;
}

inline streambuf *streambuf::close() {
    if (!stream_)
        return nullptr;
    bool whole = give_back();
    whole = asf_sclose(std::exchange(stream_, nullptr)) == 0 && whole && !lost_ && !cut_;
    lost_ = cut_ = false;
    mode_ = {};
    wrote_ = false;
    return whole ? this : nullptr;
}

inline void streambuf::take(streambuf &other) noexcept {
    other.end_putback();
    setg(other.eback(), other.gptr(), other.egptr());
    stream_ = std::exchange(other.stream_, nullptr);
    start_ = other.start_;
    mode_ = std::exchange(other.mode_, {});
    moved_ = other.moved_;
    wrote_ = std::exchange(other.wrote_, false);
    lost_ = std::exchange(other.lost_, false);
    cut_ = std::exchange(other.cut_, false);
    unbuffered_ = other.unbuffered_;
    converts_ = other.converts_;
    other.setg(nullptr, nullptr, nullptr);
    other.setp(nullptr, nullptr);
}

/* Ends the use of `back_`, a byte put back that differs from the file's: restores the real get area. */
inline void streambuf::end_putback() noexcept {
    if (!put_back_)
        return;
    put_back_ = false;
    setg(kept_[0], kept_[1] + (gptr() != eback()), kept_[2]);
}

/* Gives the area back to the stream.  The bytes of a put area are complete.  If a get area has unread bytes,
 * the next read seeks back to them. */
inline bool streambuf::give_back() noexcept {
    int result = 0;
    end_putback();
    if (char *region = eback()) {
        moved_ = moved_ || gptr() != egptr();
        start_ += gptr() - region;
        setg(nullptr, nullptr, nullptr);
        cut_ = asf_u_sfree(stream_, region) < 0 || cut_; // the bytes have been read: report it later
    } else if (char *space = pbase()) {
        ssize_t used = pptr() - space;
        start_ += used;
        setp(nullptr, nullptr);
        if (void *rest = asf_u_srealloc(stream_, space, &used))
            result = asf_u_sfree(stream_, rest);
        else
            result = static_cast<int>(used);
    }
    return written(result);
}

/* Writes pending output, so that other processes can read it. */
inline bool streambuf::flush() noexcept {
    if (!std::exchange(wrote_, false))
        return true;
    bool whole = written(asf_u_sflush(stream_));
    if (mode_ & std::ios_base::app) // the file's end, which others may have moved
        start_ = lseek(asf_fileno(stream_), 0, SEEK_CUR);
    return whole;
}

inline streambuf::int_type streambuf::underflow() {
    if (!(mode_ & std::ios_base::in))
        return traits_type::eof();
    refuse_conversion();
    if (put_back_)
        end_putback();
    if (gptr() < egptr())
        return traits_type::to_int_type(*gptr());
    if (!give_back() || !flush())
        return traits_type::eof();
    ssize_t n = moved_ ? area_after_seek : area;
    if (mode_ & std::ios_base::out)
        asf_u_set_stream_mode(stream_, ASF_READ);
    void *region = nullptr;
    if (std::exchange(cut_, false))
        n = -EIO;
    else
        region =
            moved_ ? asf_u_SallocAt(stream_, ASF_READ, &n, start_, SEEK_SET) : asf_u_salloc_some(stream_, &n);
    if (n < 0)
        throw std::ios_base::failure("asf::streambuf: reading", detail::error_of(n));
    moved_ = false;
    if (!region)
        return traits_type::eof();
    auto *begin = static_cast<char *>(region);
    setg(begin, begin, begin + n);
    return traits_type::to_int_type(*begin);
}

/* Reads an area or more directly into the program's memory, because mapping and copying is slower. */
inline std::streamsize streambuf::xsgetn(char *to, std::streamsize n) {
    std::streamsize done = std::streambuf::xsgetn(to, std::min<std::streamsize>(n, egptr() - gptr()));
    while (n - done >= area && !wrote_ && !converts_ && (mode_ & std::ios_base::in) && give_back()) {
        ssize_t got = pread(asf_fileno(stream_), to + done, static_cast<std::size_t>(n - done), start_);
        if (got <= 0) // the end, a pipe, or an error: underflow reports it
            break;
        start_ += got;
        done += got;
        moved_ = true;
    }
    return done + (done < n ? std::streambuf::xsgetn(to + done, n - done) : 0);
}

/* The area is the file's memory and must not be written: a byte that differs from the one read is put into
 * `back_`.  Before the beginning of the area the file is read again. */
inline streambuf::int_type streambuf::pbackfail(int_type c) {
    if (put_back_ || !(mode_ & std::ios_base::in))
        return traits_type::eof();
    if (gptr() == eback()) {
        std::int64_t at = position();
        if (at <= 0 || seekoff(at - 1, std::ios_base::beg, mode_) == pos_type(off_type(-1)) ||
            traits_type::eq_int_type(underflow(), traits_type::eof()))
            return traits_type::eof();
    } else {
        gbump(-1);
    }
    if (traits_type::eq_int_type(c, traits_type::eof()) ||
        traits_type::eq_int_type(c, traits_type::to_int_type(*gptr())))
        return traits_type::not_eof(c);
    kept_[0] = eback(), kept_[1] = gptr(), kept_[2] = egptr();
    back_ = traits_type::to_char_type(c);
    setg(&back_, &back_, &back_ + 1);
    put_back_ = true;
    return c;
}

/* Space for n bytes at the offset to write to; nullptr on an error. */
inline char *streambuf::space(ssize_t n) noexcept {
    if (!(mode_ & std::ios_base::out) || !give_back())
        return nullptr;
    if (moved_ && !(mode_ & std::ios_base::app)) { // seek by a region that is abandoned
        ssize_t one = 1;
        void *nothing = asf_u_SallocAt(stream_, ASF_WRITE, &one, start_, SEEK_SET);
        if (!nothing || asf_u_sabandon(stream_, nothing) < 0)
            return nullptr;
    }
    moved_ = false;
    wrote_ = true;
    return static_cast<char *>(asf_u_Salloc(stream_, ASF_WRITE, &n));
}

inline streambuf::int_type streambuf::overflow(int_type c) {
    refuse_conversion();
    if (traits_type::eq_int_type(c, traits_type::eof()))
        return give_back() ? traits_type::not_eof(c) : c;
    char byte = traits_type::to_char_type(c);
    if (unbuffered_)
        return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
    char *begin = space(area);
    if (!begin)
        return traits_type::eof();
    setp(begin, begin + area);
    return sputc(byte);
}

inline std::streamsize streambuf::xsputn(const char *text, std::streamsize n) {
    if (!unbuffered_ && n < area)
        return std::streambuf::xsputn(text, n);
    refuse_conversion();
    char *begin = n > 0 ? space(n) : nullptr;
    if (!begin)
        return 0;
    std::memcpy(begin, text, static_cast<std::size_t>(n));
    start_ += n;
    if (!written(asf_u_sfree(stream_, begin)) || (unbuffered_ && !flush()))
        return 0;
    return n;
}

/* The file offset of the next byte read or written. */
inline std::int64_t streambuf::position() const noexcept {
    if (put_back_)
        return start_ + (kept_[1] - kept_[0]) + (gptr() != eback());
    return start_ + (eback() ? gptr() - eback() : pptr() - pbase());
}

inline streambuf::pos_type streambuf::seekoff(off_type offset, std::ios_base::seekdir from,
                                              std::ios_base::openmode) {
    const pos_type failed(off_type(-1));
    if (!stream_ || lseek(asf_fileno(stream_), 0, SEEK_CUR) < 0)
        return failed;
    std::int64_t base = 0;
    if (from == std::ios_base::cur)
        base = position();
    if (from == std::ios_base::cur && offset == 0)
        return base;
    if (!give_back() || !flush())
        return failed;
    if (from == std::ios_base::end) {
        struct stat status;
        if (fstat(asf_fileno(stream_), &status) < 0)
            return failed;
        base = status.st_size;
    }
    std::int64_t target = 0;
    if (base < 0 || __builtin_add_overflow(base, std::int64_t(offset), &target) || target < 0)
        return failed;
    start_ = target;
    moved_ = true;
    return target;
}

namespace detail {

/* A stream of the standard library, Base, with its own streambuf.  Mode is added to the mode that the
 * program opens it with. */
template <class Base, std::ios_base::openmode Default, std::ios_base::openmode Mode>
class file_stream : public Base {
  public:
    file_stream() : Base(nullptr) { begin(); }
    explicit file_stream(const std::filesystem::path &path, std::ios_base::openmode mode = Default)
        : Base(nullptr) {
        begin();
        open(path, mode);
    }
    file_stream(file_stream &&other) : Base(std::move(other)), buffer_(std::move(other.buffer_)) {
        this->set_rdbuf(&buffer_);
    }
    file_stream &operator=(file_stream &&other) {
        Base::operator=(std::move(other));
        buffer_ = std::move(other.buffer_);
        return *this;
    }

    streambuf *rdbuf() const { return const_cast<streambuf *>(&buffer_); }
    bool is_open() const { return buffer_.is_open(); }
    void open(const std::filesystem::path &path, std::ios_base::openmode mode = Default) {
        if (buffer_.open(path, mode | Mode))
            this->clear();
        else
            this->setstate(std::ios_base::failbit);
    }
    void close() {
        if (!buffer_.close())
            this->setstate(std::ios_base::failbit);
    }

  protected:
    /* Whether the locale is the classic one.  Stored in ios_base's iword, since every change of the
     * locale calls the callback. */
    bool is_plain() { return this->iword(plain_index()) != 0; }

  private:
    static int plain_index() {
        static const int index = std::ios_base::xalloc();
        return index;
    }
    static void look(std::ios_base::event event, std::ios_base &stream, int index) {
        if (event != std::ios_base::erase_event)
            stream.iword(index) = stream.getloc() == std::locale::classic();
    }
    void begin() {
        std::basic_ios<char>::rdbuf(&buffer_);
        buffer_.pubimbue(this->getloc());
        this->register_callback(look, plain_index());
        look(std::ios_base::imbue_event, *this, plain_index());
    }

    streambuf buffer_;
};

template <class Number, class... Types>
inline constexpr bool is_one_of = (std::is_same_v<Number, Types> || ...);

inline bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* scan_number: reads a number as std::num_get does in the classic locale, base ten.
 * returns  its end; nullptr: it may continue after `end`, is out of range, or is not a number. */
template <class Number> const char *scan_number(const char *p, const char *end, Number &value) {
    while (p < end && is_space(*p))
        p++;
    const char *digits = p + (p < end && (*p == '+' || (*p == '-' && std::is_signed_v<Number>)));
    if (digits == end || !is_digit(*digits)) // from_chars would accept other text, too
        return nullptr;
    auto [behind, error] = std::from_chars(*p == '+' ? digits : p, end, value);
    if (error != std::errc() || behind == end)
        return nullptr;
    if (std::is_floating_point_v<Number> && std::strchr(".eE+-", *behind) != nullptr)
        return nullptr;
    return behind;
}

} // namespace detail

/* istream: a std::istream on a file; replaces std::ifstream. */
class istream : public detail::file_stream<std::istream, std::ios_base::in, std::ios_base::in> {
  public:
    using file_stream::file_stream;
    istream(istream &&other) : file_stream(std::move(other)) {}
    istream &operator=(istream &&) = default;

    using std::istream::operator>>;
    istream &operator>>(short &value) { return extract(value); }
    istream &operator>>(unsigned short &value) { return extract(value); }
    istream &operator>>(int &value) { return extract(value); }
    istream &operator>>(unsigned &value) { return extract(value); }
    istream &operator>>(long &value) { return extract(value); }
    istream &operator>>(unsigned long &value) { return extract(value); }
    istream &operator>>(long long &value) { return extract(value); }
    istream &operator>>(unsigned long long &value) { return extract(value); }
    istream &operator>>(float &value) { return extract(value); }
    istream &operator>>(double &value) { return extract(value); }
    /* Operators that are not members of std::istream, repeated here so that the expression's type
     * remains this class. */
    friend istream &operator>>(istream &in, std::string &text) { return in.extract(text); }
    friend istream &operator>>(istream &in, char &c) { return static_cast<std::istream &>(in) >> c, in; }
    /* getline: as std::getline, and faster.  An unqualified call finds it: while (getline(in, line)) */
    friend istream &getline(istream &in, std::string &line, char delimiter = '\n') {
        return in.extract_line(line, delimiter);
    }

  private:
    /* Whether the next value may be read from the area by the rules of the C locale. */
    bool is_quick() { return good() && !tie() && (flags() & skipws) != 0 && is_plain(); }
    void pass(const char *to) { rdbuf()->gbump(static_cast<int>(to - rdbuf()->gptr())); }
    istream &extract(std::string &text) {
        const char *from = rdbuf()->gptr(), *stop = rdbuf()->egptr();
        const char *word = std::find_if_not(from, stop, detail::is_space);
        const char *behind = std::find_if(word, stop, detail::is_space);
        if (!is_quick() || width() != 0 || word == behind || behind == stop)
            return static_cast<std::istream &>(*this) >> text, *this;
        text.assign(word, behind);
        pass(behind);
        return *this;
    }
    istream &extract_line(std::string &line, char delimiter) {
        const char *from = rdbuf()->gptr(), *stop = rdbuf()->egptr();
        const auto n = static_cast<std::size_t>(stop - from);
        const void *found = n == 0 ? nullptr : std::memchr(from, delimiter, n);
        if (!found || !good() || tie())
            return std::getline(static_cast<std::istream &>(*this), line, delimiter), *this;
        const char *behind = static_cast<const char *>(found);
        line.assign(from, behind);
        pass(behind + 1);
        return *this;
    }
    template <class Number> istream &extract(Number &value) {
        if (is_quick() && (flags() & basefield) == dec)
            if (const char *behind = detail::scan_number(rdbuf()->gptr(), rdbuf()->egptr(), value)) {
                pass(behind);
                return *this;
            }
        std::istream::operator>>(value);
        return *this;
    }
};

/* ostream: a std::ostream on a file; replaces std::ofstream. */
class ostream : public detail::file_stream<std::ostream, std::ios_base::out, std::ios_base::out> {
  public:
    using file_stream::file_stream;
    ostream(ostream &&other) : file_stream(std::move(other)) {}
    ostream &operator=(ostream &&) = default;

    using std::ostream::operator<<;
    ostream &operator<<(short value) { return insert(value); }
    ostream &operator<<(unsigned short value) { return insert(value); }
    ostream &operator<<(int value) { return insert(value); }
    ostream &operator<<(unsigned value) { return insert(value); }
    ostream &operator<<(long value) { return insert(value); }
    ostream &operator<<(unsigned long value) { return insert(value); }
    ostream &operator<<(long long value) { return insert(value); }
    ostream &operator<<(unsigned long long value) { return insert(value); }
    ostream &operator<<(float value) { return insert(value); }
    ostream &operator<<(double value) { return insert(value); }
    friend ostream &operator<<(ostream &out, char c) { return out.put_text({&c, 1}); }
    friend ostream &operator<<(ostream &out, const char *text) {
        return text ? out.put_text(text) : (out.setstate(badbit), out);
    }
    friend ostream &operator<<(ostream &out, std::string_view text) { return out.put_text(text); }
    friend ostream &operator<<(ostream &out, const std::string &text) { return out.put_text(text); }

    template <printable... Values> friend ostream &print(ostream &out, const Values &...values);

  private:
    /* Whether the next value may be written to the area without formatting options. */
    bool is_quick() { return good() && !tie() && flags() == (dec | skipws) && width() == 0 && is_plain(); }
    char *room(std::size_t n) {
        return rdbuf()->epptr() - rdbuf()->pptr() >= static_cast<std::ptrdiff_t>(n) ? rdbuf()->pptr()
                                                                                    : nullptr;
    }
    void wrote(const char *until) { rdbuf()->pbump(static_cast<int>(until - rdbuf()->pptr())); }
    template <class Number> ostream &insert(Number value) {
        constexpr bool real = std::is_floating_point_v<Number>;
        constexpr int most = std::numeric_limits<double>::max_digits10;
        const std::streamsize digits = real ? precision() : 0;
        char *to = room(real ? ASF_DOUBLE_ROOM + most : ASF_INTEGER_ROOM);
        if (!to || digits < 0 || digits > most || !is_quick()) {
            std::ostream::operator<<(value);
            return *this;
        }
        if constexpr (real)
            wrote(asf_digits_double_as(to, value, 'g', static_cast<int>(digits)));
        else
            wrote(detail::write_value(to, value));
        return *this;
    }
    ostream &put_text(std::string_view text) {
        char *to = room(text.size());
        if (!is_quick())
            static_cast<std::ostream &>(*this) << text;
        else if (to)
            wrote(detail::write_value(to, text));
        else if (auto n = static_cast<std::streamsize>(text.size()); rdbuf()->sputn(text.data(), n) != n)
            setstate(badbit);
        return *this;
    }
    template <class... Values> [[gnu::always_inline]] ostream &print_printed(Values... values) {
        char *to = room((detail::room_for(values) + ... + 0));
        if (!to || !good() || tie() || flags() & unitbuf) [[unlikely]]
            return print_slowly(values...);
        ((to = detail::write_value(to, values)), ...);
        wrote(to);
        return *this;
    }
    template <class... Values> [[gnu::noinline]] ostream &print_slowly(Values... values) {
        auto put = [&](std::string_view text) {
            write(text.data(), static_cast<std::streamsize>(text.size()));
            return good() ? 0 : -1;
        };
        detail::put_each(put, values...);
        return *this;
    }
};

/* print: writes the values one after the other, as <asf/print.hpp> says.
 *     asf::print(out, id, '\t', name, '\t', price, '\n');
 * returns  the stream.
 * errors   as operator<<. */
template <printable... Values> ostream &print(ostream &out, const Values &...values) {
    return out.print_printed(detail::printed(values)...);
}

/* iostream: a std::iostream on a file; replaces std::fstream. */
class iostream : public detail::file_stream<std::iostream, std::ios_base::in | std::ios_base::out,
                                            std::ios_base::openmode{}> {
  public:
    using file_stream::file_stream;
    iostream(iostream &&other) : file_stream(std::move(other)) {}
    iostream &operator=(iostream &&) = default;
};

} // namespace asf

#endif // C++20
#endif
