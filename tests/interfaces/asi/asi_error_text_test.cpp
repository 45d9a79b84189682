// SPDX-License-Identifier: MIT
//
// Proves asf_error_text: each number has a text, the same for either sign: the manual's for the library's own
// errors, libc's for all others.
#include <asf/asf.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace {

// Returns the texts that the manual page lists, by the error's name.
std::map<std::string, std::string> manual() {
    std::ifstream page(ERROR_TEXT_PAGE);
    std::map<std::string, std::string> texts;
    const std::string item = ".It Er ";
    for (std::string line, text; std::getline(page, line);)
        if (line.starts_with(item) && std::getline(page, text))
            texts[line.substr(item.size())] = text.substr(0, text.size() - 1);
    return texts;
}

const std::map<int, std::string> names = {
    {E2BIG, "E2BIG"},           {EBADF, "EBADF"},           {EBADMSG, "EBADMSG"}, {EBUSY, "EBUSY"},
    {ECANCELED, "ECANCELED"},   {EDEADLK, "EDEADLK"},       {EIO, "EIO"},         {EMSGSIZE, "EMSGSIZE"},
    {ENOBUFS, "ENOBUFS"},       {ENODATA, "ENODATA"},       {ENOTSUP, "ENOTSUP"}, {EOVERFLOW, "EOVERFLOW"},
    {EOWNERDEAD, "EOWNERDEAD"}, {EPROTOTYPE, "EPROTOTYPE"}, {ERANGE, "ERANGE"},   {ESPIPE, "ESPIPE"},
    {ESTALE, "ESTALE"}};

TEST(ErrorText, IsTheManualsOrLibcs) {
    const auto own = manual();
    EXPECT_EQ(own.size(), names.size());
    for (int error = 0; error < 200; error++) {
        const auto name = names.find(error);
        const char *libcs = strerrordesc_np(error);
        EXPECT_EQ(asf_error_text(error), name != names.end() ? own.at(name->second)
                                         : libcs             ? libcs
                                                             : "Unknown error");
        EXPECT_STREQ(asf_error_text(-error), asf_error_text(error));
    }
}

TEST(ErrorText, IsThereForAnyNumber) {
    for (int error : {INT_MIN, INT_MIN + 1, INT_MAX, 100000, -4096})
        EXPECT_STRNE(asf_error_text(error), "");
}

} // namespace
