// SPDX-License-Identifier: MIT
//
// stream_model.h - a model of a stream: stdio calls, and their effects when they are made one after the
// other.
#ifndef ASF_TESTS_STREAM_MODEL_H
#define ASF_TESTS_STREAM_MODEL_H

#include <cstdio>

#include "tests/threads/history.h"

namespace tests {

enum class What {
    // input
    get,   // getc
    read,  // fread
    line,  // fgets
    word,  // fscanf, of the rest of a line
    unget, // ungetc
    many,  // getc_unlocked under flockfile
    // output
    put,      // putc for each byte; for one byte, a single putc
    write,    // fwrite
    puts,     // fputs
    print,    // fprintf
    put_many, // putc_unlocked under flockfile
    flush,
    in_child, // flush and fork under flockfile; the child writes and flushes
    aside,    // like in_child, for a stream in memory, which the child owns alone: it has no visible effect
    // input or output after a seek, both under flockfile: "on" to the present offset, "at" to another one
    read_on,
    write_on,
    read_at,
    write_at,
    // each
    tell,
    seek,
    seek_end,
    at_end, // feof
    clear,  // clearerr
    // the last call: notes the file's contents, or the bytes that went through the pipe
    contents,
};

// A text is the bytes to write; n is the most bytes to read, or the offset of a seek.
struct StreamOp {
    What what = What::tell;
    size_t n = 0;
    std::string bytes = {};
    size_t at = 0; // the offset of read_at and write_at

    std::string text() const {
        static const char *const names[] = {"getc",          "fread",   "fgets",    "fscanf",  "ungetc",
                                            "getc_unlocked", "putc",    "fwrite",   "fputs",   "fprintf",
                                            "putc_unlocked", "fflush",  "fork",     "aside",   "read_on",
                                            "write_on",      "read_at", "write_at", "ftell",   "fseek",
                                            "fseek_end",     "feof",    "clearerr", "contents"};
        std::string s = names[static_cast<size_t>(what)];
        s += "(" + (bytes.empty() ? std::to_string(n) : in_quotes(bytes));
        return s +
               (what == What::read_at || what == What::write_at ? " at " + std::to_string(at) + ")" : ")");
    }
};

class StreamModel {
  public:
    std::string contents = {}; // the file's contents, or all bytes that went through the pipe
    bool seekable = true, append = false;
    size_t at = 0;

    bool apply(const StreamOp &op, const std::string &result) {
        switch (op.what) {
        case What::get:
        case What::many:
        case What::read:
            return take(op.n) == result;
        case What::read_on:
            return seek_to(at) && take(op.n) == result;
        case What::read_at:
            return seek_to(op.at) && take(op.n) == result;
        case What::line:
            return take(line_length(op.n)) == result;
        case What::word:
            return take_word(op.n) == result;
        case What::unget:
            pushed.insert(0, op.bytes);
            ended = false;
            return result == op.bytes;
        case What::write_on:
            ended = false;
            return write(op, result);
        case What::write_at:
            return seek_to(op.at) && write(op, result);
        case What::tell: // after push-back before the first byte, the offset is unspecified
            return !seekable ? result == "-1"
                             : pushed.size() > at || result == std::to_string(at - pushed.size());
        case What::seek:
            return seekable ? seek_to(op.n) && result == "0" : result == "-1";
        case What::seek_end:
            return seekable ? seek_to(contents.size()) && result == "0" : result == "-1";
        case What::at_end:
            return result == (ended ? "1" : "0");
        case What::clear:
            ended = false;
            return true;
        case What::contents:
            return result == contents;
        case What::flush:
        case What::aside:
            return result == "0";
        default:
            return write(op, result);
        }
    }

    // The states that a cancelled call may leave: some of its bytes, from the first on, were read or written,
    // or none. A seek also drops the pushed-back bytes first.
    std::vector<StreamModel> cancelled(const StreamOp &op) const {
        std::vector<StreamModel> states = {*this};
        const bool moves = op.what == What::read_at || op.what == What::write_at;
        if (op.what == What::seek || op.what == What::seek_end) {
            states.emplace_back(*this).pushed.clear();
            states.emplace_back(*this).seek_to(op.what == What::seek ? op.n : contents.size());
        }
        if (op.what < What::tell && op.what != What::unget)
            for (size_t n = 0; n <= std::max(op.n, op.bytes.size()); n++) {
                StreamModel &next = states.emplace_back(*this);
                if (moves)
                    next.seek_to(op.at);
                if (op.bytes.empty())
                    next.take(n);
                else
                    next.put(op.bytes.substr(0, n));
            }
        return states;
    }

    std::string key() const {
        return std::to_string(at) + (ended ? "e" : "-") + std::to_string(pushed.size()) + ":" + pushed +
               contents;
    }

  private:
    std::string pushed = {};
    bool ended = false; // the end-of-file indicator

    std::string ahead(size_t n) const {
        std::string s = pushed.substr(0, n);
        return at < contents.size() ? s + contents.substr(at, n - s.size()) : s;
    }

    void skip(size_t n) {
        const size_t of_pushed = std::min(n, pushed.size());
        pushed.erase(0, of_pushed);
        at += n - of_pushed;
    }

    std::string take(size_t n) {
        std::string s = ahead(n);
        ended = ended || s.size() < n;
        skip(s.size());
        return s;
    }

    // fgets; for a line without a newline at the end of the file, requests one byte more than there is
    size_t line_length(size_t n) const {
        const std::string s = ahead(n);
        const size_t newline = s.find('\n');
        return newline == std::string::npos ? n : newline + 1;
    }

    // fscanf("%N[^\n]"): returns its result and the bytes read
    std::string take_word(size_t n) {
        const std::string s = ahead(n);
        const size_t length = s.find('\n');
        if (length != std::string::npos) {
            skip(length);
            return (length ? "1" : "0") + s.substr(0, length);
        }
        take(n);
        return s.empty() ? "-1" : "1" + s;
    }

    bool seek_to(size_t to) {
        at = to;
        pushed.clear();
        ended = false;
        return true;
    }

    void put(const std::string &bytes) {
        if (bytes.empty())
            return;
        at = append || !seekable ? contents.size() : at;
        contents.resize(std::max(contents.size(), at + bytes.size()));
        contents.replace(at, bytes.size(), bytes);
        at += bytes.size();
    }

    bool write(const StreamOp &op, const std::string &result) {
        put(op.bytes);
        return result == std::to_string(op.bytes.size());
    }
};

} // namespace tests

#endif
