/* SPDX-License-Identifier: MIT
 *
 * sides.cpp - finds the two stdios of the process.
 *
 * Symbols are looked up in a handle of the library itself: the default search order would give the interposed
 * functions on both sides.
 */
#include "sides.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace {

stdio_side libc_functions, asf_functions, again_functions;

[[noreturn]] void give_up(const std::string &message) {
    const std::string line = "bench_micro: " + message + "\n";
    if (write(STDERR_FILENO, line.data(), line.size()) < 0)
        _exit(2);
    _exit(1);
}

void *open_library(const std::string &soname) {
    void *handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
        give_up("dlopen(" + soname +
                "): the library is not part of this process; link with it or preload it");
    return handle;
}

std::string library_of(void *address) {
    Dl_info info;
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "";
}

// Whether the path is the library's: "/usr/lib/libc.so.6" is that of "libc.so.6".
bool is_from(const std::string &path, const std::string &soname) {
    const std::string stem = soname.substr(0, soname.find(".so"));
    return path.find("/" + stem + ".so") != std::string::npos;
}

// Calls libc's own dlsym: asf's would return asf's calls on descriptors instead of libc's.
void *look_up(void *handle, const char *symbol) {
    using dlsym_type = void *(*)(void *, const char *);
    static const auto libcs =
        reinterpret_cast<dlsym_type>(dlvsym(open_library("libc.so.6"), "dlsym", "GLIBC_2.34"));
    return libcs ? libcs(handle, symbol) : dlsym(handle, symbol);
}

template <class Function>
void find(stdio_side &side, void *handle, const std::string &soname, const char *symbol, Function &function) {
    void *address = look_up(handle, symbol);
    if (!address)
        give_up("dlsym(" + soname + ", " + symbol + "): no such function; is this the right library?");
    const std::string path = library_of(address);
    if (is_from(path, soname))
        side.library = path;
    else
        side.elsewhere.push_back(symbol);
    function = reinterpret_cast<Function>(address);
}

} // namespace

stdio_side load_side(const std::string &name, const std::string &soname) {
    stdio_side side = {};
    side.name = name;
    void *handle = open_library(soname);
#define BENCH_FIND(function, symbol) find(side, handle, soname, symbol, side.function);
    BENCH_STDIO(BENCH_FIND)
#undef BENCH_FIND
    return side;
}

const stdio_side &libc_side() {
    return libc_functions;
}

const stdio_side &asf_side() {
    return asf_functions;
}

const stdio_side &libc_again() {
    return again_functions;
}

void set_sides(const stdio_side &libc, const stdio_side &asf) {
    libc_functions = again_functions = libc;
    again_functions.name = "again";
    asf_functions = asf;
}
