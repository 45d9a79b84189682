/* SPDX-License-Identifier: MIT
 *
 * inputs.h - the input files and their contents.
 */
#ifndef ASF_BENCH_INPUTS_H
#define ASF_BENCH_INPUTS_H

#include <cstddef>
#include <string>

constexpr size_t input_size = 16 << 20;
constexpr size_t large_size = 13 * input_size; // 208 MB
constexpr size_t line_length = 117;            // with its newline

struct input_file {
    std::string path;
    std::string bytes;
};

// The inputs, made when first asked for, in the directory given to main, and
// removed at the end of the program.
const input_file &text_input();   // lines of line_length bytes
const input_file &binary_input(); // all byte values
const input_file &number_input(); // one decimal integer a line
const input_file &real_input();   // one number with six decimals a line
const input_file &word_input();   // one word of 2 to 10 letters a line
const input_file &record_input(); // "number word real" a line
const input_file &small_input();  // one line
const input_file &utf8_input();   // lines of line_length characters
const input_file &zero_input();   // zeros that were written
const input_file &hole_input();   // zeros that were not written: a sparse file
const input_file &large_input();  // the binary input thirteen times; `bytes` has it once

void set_input_directory(const std::string &directory);

// A path in the same directory for a file that the caller removes.
std::string scratch_path(const std::string &name);

// The whole file, by system calls: no stdio is trusted to check stdio.
std::string file_bytes(const std::string &path);

#endif
