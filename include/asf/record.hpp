/* SPDX-License-Identifier: MIT
 *
 * record.hpp - <asf/record.h> for C++20: fields are listed at compile time, their kinds follow from
 * their types, and destructors free everything.
 *
 *     template <> inline constexpr auto asf::record::fields<sample> = asf::record::list(
 *         "sample", asf::record::field<&sample::id>("id"), asf::record::field<&sample::n>("n"),
 *         asf::record::counted<&sample::values, &sample::n>("values"));
 *
 *     asf::record::writer out(stream);
 *     out.write(sample{...});
 *
 *     asf::record::reader in(stream);
 *     while (auto record = in.next())
 *         use(record->view<sample>()->id);
 *
 * Failures throw asf::record::error.  Thread safety and lifetimes are those of <asf/record.h>.
 */
#ifndef ASF_RECORD_HPP
#define ASF_RECORD_HPP

#if __cplusplus < 202002L
#error "asf/record.hpp needs C++20: compile with -std=c++20"
#else

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <asf/record.h>

namespace asf::record {

/* A failure: its code as in <asf/record.h>, and the text of asf_record_why. */
class error : public std::runtime_error {
  public:
    explicit error(int code) : error(code, asf_record_why()) {}
    error(int code, const char *why) : std::runtime_error(why), code_(code) {}
    int code() const noexcept { return code_; }

  private:
    int code_;
};

namespace detail {
inline int check(int rc) {
    if (rc < 0)
        throw error(rc);
    return rc;
}
template <class T> T *opened(T *object, const char *why) {
    if (!object)
        throw error(-EBADF, why);
    return object;
}
} // namespace detail

/* --- lists of fields ------------------------------------------------------------ */

/* fields<T>: the fields of T, which the program defines. */
template <class T> inline constexpr auto fields = nullptr;

/* field<&T::member>(name): a number, an array, a struct with fields of its own,
 * or a string (char *).  The fallback must live as long as the format. */
template <auto Member> struct field {
    const char *name;
    const void *fallback = nullptr;
    unsigned wishes = 0;
    constexpr explicit field(const char *n, const void *otherwise = nullptr, unsigned wanted = 0)
        : name(n), fallback(otherwise), wishes(wanted) {}
};

/* counted<&T::pointer, &T::counter>(name): a pointer to elements; the field `counter`, which must be in the
 * list, has their number. */
template <auto Member, auto Counter> struct counted {
    const char *name;
    constexpr explicit counted(const char *n) : name(n) {}
};

template <class... Fields> constexpr auto list(const char *name, Fields... all) {
    return std::pair<const char *, std::tuple<Fields...>>(name, std::tuple<Fields...>(all...));
}

namespace detail {

template <class> struct member;
template <class C, class M> struct member<M C::*> {
    using owner = C;
    using type = M;
};
template <auto Member> using owner_of = typename member<decltype(Member)>::owner;
template <auto Member> using type_of = typename member<decltype(Member)>::type;

template <class T> struct array_of {
    using element = T;
    static constexpr std::size_t count = 0;
};
template <class T, std::size_t N> struct array_of<T[N]> {
    using element = T;
    static constexpr std::size_t count = N;
};
template <class T, std::size_t N> struct array_of<std::array<T, N>> : array_of<T[N]> {};

template <class T> constexpr bool is_text = std::is_same_v<T, char *> || std::is_same_v<T, const char *>;

/* ASF_RECORD_ENUM is signed, as C's enumerations are in records.  A scoped enumeration of an unsigned
 * type is an unsigned number. */
template <class T> constexpr bool is_unsigned_enum() {
    using number = std::underlying_type_t<T>;
    return std::is_unsigned_v<number> && !std::is_convertible_v<T, number>;
}

template <class T> constexpr asf_record_kind kind_of() {
    if constexpr (is_text<T>)
        return ASF_RECORD_STRING;
    else if constexpr (std::is_same_v<T, bool>)
        return ASF_RECORD_BOOL;
    else if constexpr (std::is_same_v<T, char>)
        return ASF_RECORD_CHAR;
    else if constexpr (std::is_enum_v<T>)
        return is_unsigned_enum<T>() ? ASF_RECORD_UINT : ASF_RECORD_ENUM;
    else if constexpr (std::is_floating_point_v<T>)
        return ASF_RECORD_FLOAT;
    else if constexpr (std::is_integral_v<T>)
        return std::is_signed_v<T> ? ASF_RECORD_INT : ASF_RECORD_UINT;
    else {
        static_assert(std::is_class_v<T>, "a field of this type cannot be part of a record");
        static_assert(!std::is_null_pointer_v<std::remove_cv_t<decltype(fields<T>)>>,
                      "a struct within a record needs asf::record::fields of its own");
        return ASF_RECORD_STRUCT;
    }
}

/* Returns the offset of a member.  It is computed in storage for a T, without constructing a T. */
template <auto Member> std::size_t offset_of() {
    using T = owner_of<Member>;
    static_assert(std::is_standard_layout_v<T>, "records are structs of standard layout");
    alignas(T) static std::byte place[sizeof(T)];
    const T *object = reinterpret_cast<const T *>(place);
    return static_cast<std::size_t>(reinterpret_cast<const std::byte *>(&(object->*Member)) - place);
}

template <class T> const asf_record_type *described();

template <class Element> asf_record_field row(const char *name, std::size_t offset) {
    asf_record_field f = {};
    f.name = name;
    f.kind = kind_of<Element>();
    f.offset = offset;
    f.size = sizeof(Element);
    f.count = 1;
    if constexpr (kind_of<Element>() == ASF_RECORD_STRUCT)
        f.type = described<Element>();
    return f;
}

template <class T, auto Member> asf_record_field row_of(const field<Member> &given) {
    using shape = array_of<type_of<Member>>;
    asf_record_field f = row<std::remove_cv_t<typename shape::element>>(given.name, offset_of<Member>());
    if (shape::count > 0) {
        f.shape = ASF_RECORD_ARRAY;
        f.count = shape::count;
    }
    f.fallback = given.fallback;
    f.wishes = given.wishes;
    return f;
}

/* Returns the name that the list of T's fields gives to a member; NULL if the list does not have it. */
template <class T, auto Member> const char *name_of() {
    const char *name = nullptr;
    const auto look = [&name]<auto M>(const field<M> &f) {
        if constexpr (std::is_same_v<decltype(M), decltype(Member)>)
            if (M == Member)
                name = f.name;
    };
    const auto skip = []<auto M, auto C>(const counted<M, C> &){};
    struct both : decltype(look), decltype(skip) {
        using decltype(look)::operator();
        using decltype(skip)::operator();
    };
    std::apply([&](const auto &...f) { (both{look, skip}(f), ...); }, fields<T>.second);
    return name;
}

template <class T, auto Member, auto Counter> asf_record_field row_of(const counted<Member, Counter> &given) {
    using element = std::remove_cv_t<std::remove_pointer_t<type_of<Member>>>;
    static_assert(std::is_pointer_v<type_of<Member>>, "what is counted is a pointer");
    static_assert(std::is_integral_v<type_of<Counter>>, "the counter is an integer");
    asf_record_field f = row<element>(given.name, offset_of<Member>());
    f.shape = ASF_RECORD_DYNAMIC;
    f.counter = name_of<T, Counter>();
    return f;
}

template <class T> const asf_record_type *described() {
    static const auto rows = std::apply(
        [](const auto &...f) { return std::array<asf_record_field, sizeof...(f)>{row_of<T>(f)...}; },
        fields<T>.second);
    static const asf_record_type type = {fields<T>.first, sizeof(T), alignof(T), rows.data(), rows.size()};
    return &type;
}

struct format_free {
    void operator()(asf_record_format *f) const { asf_record_format_free(f); }
};

} // namespace detail

/* format_of<T>(): the format of T, made at the first call and never freed. */
template <class T> asf_record_format *format_of() {
    static const std::unique_ptr<asf_record_format, detail::format_free> format([] {
        asf_record_format *f;
        detail::check(asf_record_declare(detail::described<T>(), &f));
        return f;
    }());
    return format.get();
}

/* --- writing ------------------------------------------------------------------------ */

/* A writer to a stream of the caller's.  close() throws asf_record_writer_close's error; the
 * destructor ignores it.  The error is -EBADF when a closed writer writes, and when the
 * constructor gets a null pointer. */
class writer {
  public:
    explicit writer(asf_cios *stream, asf_record_options options = {}) {
        options.size = sizeof options;
        detail::opened(stream, "the stream is not open");
        detail::check(asf_record_writer_new(stream, &options, &writer_));
    }
    writer(const writer &) = delete;
    writer &operator=(const writer &) = delete;
    ~writer() {
        if (writer_)
            asf_record_writer_close(writer_);
    }
    template <class T> void write(const T &data) {
        asf_record_writer *const w = detail::opened(writer_, "the writer is closed");
        detail::check(asf_record_write(w, format_of<T>(), &data));
    }
    void close() {
        if (asf_record_writer *w = std::exchange(writer_, nullptr))
            detail::check(asf_record_writer_close(w));
    }
    asf_record_writer *get() const noexcept { return writer_; }

  private:
    asf_record_writer *writer_ = nullptr;
};

/* --- reading ------------------------------------------------------------------------- */

/* A record as a T in place; at() follows its pointers. */
template <class T> class view {
  public:
    view(const void *data, int how) : data_(static_cast<const T *>(data)), how_(how) {}
    const T *operator->() const noexcept { return data_; }
    const T &operator*() const noexcept { return *data_; }
    template <class E> const E *at(E *pointer) const noexcept {
        return static_cast<const E *>(asf_record_at(data_, pointer));
    }
    asf_record_how how() const noexcept { return static_cast<asf_record_how>(how_); }

  private:
    const T *data_;
    int how_;
};

/* A copy of a record as a T, with the data that its pointers point to. */
template <class T> struct owned {
    T data;
    std::unique_ptr<void, decltype(&std::free)> parts{nullptr, std::free};
    const T *operator->() const noexcept { return &data; }
};

/* A record of a reader, valid until the reader's next one. */
class received {
  public:
    explicit received(asf_record *record) : record_(record) {}
    template <class T> class view<T> view() const {
        const void *data;
        const int how = detail::check(asf_record_view(record_, format_of<T>(), &data));
        return {data, how};
    } template <class T> owned<T> into() const {
        owned<T> result;
        void *parts;
        detail::check(asf_record_into(record_, format_of<T>(), &result.data, &parts));
        result.parts.reset(parts);
        return result;
    }
    /* A number by its name. */
    double number(const char *path) const {
        asf_record_value value;
        double number;
        detail::check(asf_record_find(record_, path, &value));
        detail::check(asf_record_as_float(&value, &number));
        return number;
    }
    std::string name() const {
        return asf_record_layout_name(asf_record_layout_of(asf_record_format_of(record_)));
    }
    asf_record *get() const noexcept { return record_; }

  private:
    asf_record *record_;
};

class reader {
  public:
    explicit reader(asf_cios *stream, asf_record_options options = {}) {
        options.size = sizeof options;
        detail::opened(stream, "the stream is not open");
        detail::check(asf_record_reader_new(stream, &options, &reader_));
    }
    reader(const reader &) = delete;
    reader &operator=(const reader &) = delete;
    ~reader() { asf_record_reader_free(reader_); }
    /* The next record; none at the end. */
    std::optional<received> next() {
        asf_record *record;
        if (detail::check(asf_record_next(reader_, &record)) == 0)
            return std::nullopt;
        return received(record);
    }
    void seek(std::uint64_t number) { detail::check(asf_record_seek(reader_, number)); }
    std::uint64_t count() {
        std::uint64_t n;
        detail::check(asf_record_count(reader_, &n));
        return n;
    }
    asf_record_reader *get() const noexcept { return reader_; }

  private:
    asf_record_reader *reader_ = nullptr;
};

} // namespace asf::record

#endif // C++20
#endif
