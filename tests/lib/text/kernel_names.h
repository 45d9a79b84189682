// SPDX-License-Identifier: MIT
//
// kernel_names.h - the names of this machine's scanning kernels, for tests that run each.
#ifndef ASF_TESTS_KERNEL_NAMES_H
#define ASF_TESTS_KERNEL_NAMES_H

#include <string>
#include <vector>

#include <asf/scan.h>

inline std::vector<std::string> kernel_names() {
    std::vector<std::string> names;
    for (const char *const *name = asf_scan_kernels(); *name; name++)
        names.emplace_back(*name);
    return names;
}

#endif
