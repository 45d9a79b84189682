/* SPDX-License-Identifier: MIT
 *
 * errors.hpp - the library's errors in C++.  <asf/asf.hpp>, <asf/parts.hpp> and <asf/streams.hpp> throw
 * them, and include this file.
 */
#ifndef ASF_ERRORS_HPP
#define ASF_ERRORS_HPP

#if __cplusplus < 202002L
#error "asf/errors.hpp needs C++20: compile with -std=c++20"
#else

#include <cstdint>
#include <string>
#include <system_error>

#include <asf/asf.h>

namespace asf {

/* error_category: the values are errno's, so an error compares with std::errc; the messages are those of
 * asf_error_text. */
inline const std::error_category &error_category() noexcept {
    static const struct : std::error_category {
        const char *name() const noexcept override { return "asf"; }
        std::string message(int value) const override { return asf_error_text(value); }
        std::error_condition default_error_condition(int value) const noexcept override {
            return {value, std::generic_category()};
        }
    } category;
    return category;
}

namespace detail {

/* The error for a negated errno value; no error for any other value. */
inline std::error_code error_of(std::int64_t result) noexcept {
    return result < 0 ? std::error_code(static_cast<int>(-result), error_category()) : std::error_code();
}

} // namespace detail

} // namespace asf

#endif // C++20
#endif
