/* SPDX-License-Identifier: MIT
 *
 * parts.hpp - parts of a file for threads, in C++20: <asf/parts.h> with the streams of <asf/asf.hpp>.
 *
 *     std::atomic<long> lines = 0;
 *     asf::each_part("access.log", [&](asf::stream &in, const asf::part &) {
 *         lines += std::ranges::distance(in.lines());
 *     });
 *
 *     auto parts = asf::parts("access.log");
 *     std::for_each(std::execution::par, parts.begin(), parts.end(), [](const asf::part &part) {
 *         asf::stream in = asf::open_part("access.log", part);
 *         ...
 *     });
 */
#ifndef ASF_PARTS_HPP
#define ASF_PARTS_HPP

#if __cplusplus < 202002L
#error "asf/parts.hpp needs C++20: compile with -std=c++20"
#else

#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include <asf/asf.hpp>
#include <asf/parts.h>

#ifdef __GLIBCXX__
#include <cxxabi.h>
#endif

namespace asf {

/* part: a plain value; see struct asf_part. */
using part = asf_part;

/* cut: how a file is cut; see struct asf_cut.  Its member `decode` is false at first. */
struct cut : asf_cut {
    explicit cut(char end = '\n', std::int64_t bytes = 0) noexcept
        : asf_cut{static_cast<unsigned char>(end), 0, bytes, false} {}
    static cut records(std::int64_t bytes_each, std::int64_t bytes = 0) noexcept {
        cut how('\n', bytes);
        how.record = bytes_each;
        return how;
    }
};

/* parts: cuts a file.
 * errors  those of asf_parts, thrown; std::bad_alloc. */
inline std::vector<part> parts(const std::filesystem::path &path, const cut &how = cut()) {
    part *found = nullptr;
    const ssize_t count = asf_parts(path.c_str(), &how, &found);
    if (count < 0)
        throw std::filesystem::filesystem_error("asf::parts", path, detail::error_of(count));
    const std::unique_ptr<part, decltype(&std::free)> owner(found, &std::free);
    return std::vector<part>(found, found + count);
}

/* open_part: a stream on a part, as asf_sopen_part.
 * errors  thrown, or stored in `error`; the stream then converts to false. */
inline stream open_part(const std::filesystem::path &path, const part &which,
                        std::error_code &error) noexcept {
    int code = 0;
    stream opened(asf_sopen_part(path.c_str(), &which, &code));
    error = detail::error_of(code);
    return opened;
}
inline stream open_part(const std::filesystem::path &path, const part &which) {
    std::error_code error;
    stream opened = open_part(path, which, error);
    if (error)
        throw std::filesystem::filesystem_error("asf::open_part", path, error);
    return opened;
}

namespace detail {

/* crew: the program's function and the first exception that it threw, which all threads share. */
template <class Work> struct crew {
    Work &work;
    std::mutex lock;
    std::exception_ptr failure;

    static int call(asf_cios *in, const part *which, void *argument) {
        crew &self = *static_cast<crew *>(argument);
        stream lent(in);
        int result = 0;
        try {
            self.work(lent, *which);
#ifdef __GLIBCXX__
        } catch (abi::__forced_unwind &) { // the thread is cancelled or ends
            lent.release();
            throw;
#endif
        } catch (...) {
            const std::lock_guard<std::mutex> guard(self.lock);
            if (!self.failure)
                self.failure = std::current_exception();
            result = -ECANCELED;
        }
        lent.release(); // asf_each_part closes it
        return result;
    }
};

} // namespace detail

/* each_part: calls work(asf::stream &, const asf::part &) once for each part of a file, in several threads at
 * the same time, and returns when all calls have returned.
 *   work     must neither close the stream nor move from it, and must destroy its regions before it returns
 *   threads  as asf_each_part's: 0 for one for each processor that the process may use
 * errors   the first exception that `work` throws, after which no further part is begun and reads of the
 * other parts fail with ECANCELED; those of asf_each_part, thrown. */
template <class Work>
void each_part(const std::filesystem::path &path, Work &&work, unsigned threads = 0,
               const cut *how = nullptr) {
    detail::crew<std::remove_reference_t<Work>> crew{work, {}, {}};
    const int result = asf_each_part(path.c_str(), how, threads, &decltype(crew)::call, nullptr, &crew);
    if (crew.failure && result == -ECANCELED)
        std::rethrow_exception(crew.failure);
    if (result < 0)
        throw std::filesystem::filesystem_error("asf::each_part", path, detail::error_of(result));
}

/* column: the numbers that columns has read, a contiguous range that owns them. */
template <class Value> class column {
  public:
    column() noexcept = default;
    /* Owns `values`, which is from malloc. */
    column(void *values, std::size_t size) noexcept
        : values_(static_cast<Value *>(values), &std::free), size_(size) {}
    column(column &&other) noexcept
        : values_(std::move(other.values_)), size_(std::exchange(other.size_, 0)) {}
    column &operator=(column &&other) noexcept {
        values_ = std::move(other.values_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }
    Value *data() &noexcept { return values_.get(); }
    const Value *data() const &noexcept { return values_.get(); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    Value &operator[](std::size_t i) noexcept { return data()[i]; }
    const Value &operator[](std::size_t i) const noexcept { return data()[i]; }
    Value *begin() &noexcept { return data(); }
    Value *end() &noexcept { return data() + size_; }
    const Value *begin() const &noexcept { return data(); }
    const Value *end() const &noexcept { return data() + size_; }
    /* Deleted: the results would refer to numbers that are freed. */
    const Value *data() const && = delete;
    const Value *begin() const && = delete;
    const Value *end() const && = delete;

  private:
    std::unique_ptr<Value[], void (*)(void *)> values_{nullptr, &std::free};
    std::size_t size_ = 0;
};

/* columns: reads columns of numbers of a whole file, by threads, as asf_read_columns.
 *     auto [id, price] = asf::columns<int, double>("table.csv", {0, 3}, ',', 1);
 *   fields     which fields of a line, the first is 0; they increase
 *   separator  the byte between two fields
 *   skip       lines to skip at the beginning
 *   threads    as asf_each_part's
 * returns  a column for each field, all of the same length.
 * errors   those of asf_read_columns, thrown. */
template <class... Values>
std::tuple<column<Values>...> columns(const std::filesystem::path &path,
                                      const std::array<std::size_t, sizeof...(Values)> &fields,
                                      char separator = '\t', std::int64_t skip = 0, unsigned threads = 0) {
    constexpr std::size_t count = sizeof...(Values);
    const std::array<asf_column_type, count> types = {detail::column_type<Values>()...};
    std::array<asf_column, count> wanted;
    for (std::size_t i = 0; i < count; i++)
        wanted[i] = {fields[i], types[i], nullptr};
    const std::int64_t rows = asf_read_columns(path.c_str(), static_cast<unsigned char>(separator), skip,
                                               wanted.data(), count, threads);
    if (rows < 0)
        throw std::filesystem::filesystem_error("asf::columns", path, detail::error_of(rows));
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return std::tuple<column<Values>...>(
            column<Values>(wanted[i].values, static_cast<std::size_t>(rows))...);
    }
    (std::index_sequence_for<Values...>());
}

} // namespace asf

#endif // C++20
#endif
