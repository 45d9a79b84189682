/* SPDX-License-Identifier: MIT
 *
 * print.hpp - the values that asf::print writes, to the streams of <asf/asf.hpp> and of <asf/streams.hpp>,
 * which include this file.
 *
 *     asf::print(out, id, '\t', name, '\t', price, '\n');
 *
 * Integers are written in decimal, and characters and texts as they are.  Floating point is written as the
 * shortest text that is read back as the same value (std::to_chars).  A char array or a pointer is written up
 * to its null, as by operator<<, and a null pointer as "(null)", as by printf.  No locale, format flag or
 * width matters. Source: <asf/numbers.h>; an extension.
 */
#ifndef ASF_PRINT_HPP
#define ASF_PRINT_HPP

#if __cplusplus < 202002L
#error "asf/print.hpp needs C++20: compile with -std=c++20"
#else

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include <asf/numbers.h>

namespace asf {

namespace detail {

template <class Value, class... Types>
inline constexpr bool is_any_of = (std::is_same_v<Value, Types> || ...);

/* Types that are refused: bool and the character types whose values could be meant as numbers or as
 * characters; and the type of nullptr. */
template <class Value>
inline constexpr bool is_ambiguous =
    is_any_of<Value, bool, signed char, unsigned char, wchar_t, char8_t, char16_t, char32_t, std::nullptr_t>;

} // namespace detail

/* printable: the types that asf::print writes.  bool, signed char and unsigned char are refused, since a
 * number or a character may be meant.  Convert them to int or char. */
template <class Value>
concept printable = (std::integral<Value> && sizeof(Value) <= sizeof(std::int64_t) &&
                     !detail::is_ambiguous<Value>) ||
                    detail::is_any_of<Value, float, double> ||
                    (std::convertible_to<const Value &, std::string_view> && !detail::is_ambiguous<Value>);

namespace detail {

/* Returns texts as string_view, so that their lengths are found once; other values unchanged. */
template <class Value> auto printed(const Value &value) {
    if constexpr (std::is_arithmetic_v<Value>)
        return value;
    else if constexpr (std::is_pointer_v<Value>)
        return value ? std::string_view(value) : std::string_view("(null)");
    else
        return std::string_view(value);
}

/* Returns the most bytes that writing a value may store. */
template <class Value> [[gnu::always_inline]] inline std::size_t room_for(Value value) noexcept {
    if constexpr (std::is_same_v<Value, std::string_view>)
        return value.size();
    else if constexpr (std::is_same_v<Value, char>)
        return 1;
    else
        return std::is_integral_v<Value> ? ASF_INTEGER_ROOM : ASF_DOUBLE_ROOM;
}

/* Writes a value; returns the address after it. */
template <class Value> [[gnu::always_inline]] inline char *write_value(char *to, Value value) noexcept {
    if constexpr (std::is_same_v<Value, std::string_view>) {
        if (!value.empty())
            std::memcpy(to, value.data(), value.size());
        return to + value.size();
    } else if constexpr (std::is_same_v<Value, char>) {
        *to = value;
        return to + 1;
    } else if constexpr (std::is_same_v<Value, float>) {
        return std::to_chars(to, to + ASF_DOUBLE_ROOM, value).ptr;
    } else if constexpr (std::is_same_v<Value, double>) {
        return asf_digits_double(to, value);
    } else if constexpr (std::is_signed_v<Value>) {
        return asf_digits_int(to, value);
    } else {
        return asf_digits_uint(to, value);
    }
}

/* Passes each value to `put` as text, until `put` returns an error. */
template <class Put, class... Values> int put_each(Put put, const Values &...values) {
    int result = 0;
    [[maybe_unused]] auto put_one = [&](const auto &value) {
        char digits[ASF_DOUBLE_ROOM];
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string_view>)
            result = put(value);
        else
            result =
                put(std::string_view(digits, static_cast<std::size_t>(write_value(digits, value) - digits)));
        return result < 0;
    };
    static_cast<void>((put_one(values) || ...));
    return result;
}

/* Writes the values if the current buffer has no room for all, or the lock must be taken. */
template <class... Values> [[gnu::noinline]] int print_slowly(asf_cios *stream, Values... values) {
    asf_lockAsfStream(stream);
    int result = put_each(
        [&](std::string_view text) { return asf_u_put_text(stream, text.data(), text.size()); }, values...);
    asf_unlockAsfStream(stream);
    return result;
}

/* Writes all values to a stream of the C interface: in its current buffer, if they have room there. */
template <class... Values>
[[gnu::always_inline]] inline int print_printed(asf_cios *stream, Values... values) {
    auto *view = reinterpret_cast<asf_view *>(stream);
    int entered = asf_view_enter(view);
    char *to = entered ? asf_view_room(view, (room_for(values) + ... + 0)) : nullptr;
    if (to) [[likely]] {
        ((to = write_value(to, values)), ...);
        view->write_ptr = to;
    }
    if (entered) [[likely]]
        asf_view_leave(view, entered);
    return to ? 0 : print_slowly(stream, values...);
}

} // namespace detail

} // namespace asf

#endif // C++20
#endif
