// SPDX-License-Identifier: MIT
//
// asi_model_below.cpp - the model of a stream: the file, pipe or socket below it.
#include <cstdarg>
#include <cstdio>
#include <sys/socket.h>

#include "tests/interfaces/asi/asi_model.h"

namespace asi {

Model::Model(Kind k, std::string p, Random choices, uint64_t first)
    : kind(k), path(std::move(p)), seed(first), random(choices) {
    file = random.bytes(random.below(300000));
    if (seekable()) {
        const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (::write(made, file.data(), file.size()) != static_cast<ssize_t>(file.size()))
            fail("the file could not be made");
        ::close(made);
    }
    open();
}

// Closes only the descriptor, so that the draining thread ends: sclose would refuse a stream with regions.
Model::~Model() {
    if (s)
        ::close(asf_fileno(s));
    if (drainer.joinable())
        drainer.join();
}

void Model::note(const char *format, ...) {
    char text[200];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    journal.push_back(std::to_string(steps) + ": " + text);
    if (journal.size() > from_environment("ASF_MODEL_CALLS", 40))
        journal.pop_front();
}

void Model::fail(const std::string &what) {
    std::string calls;
    for (const std::string &line : journal)
        calls += line + "\n";
    if (!failed)
        ADD_FAILURE() << what << "\nASF_MODEL_SEED=" << seed << ", step " << steps << ", the last calls:\n"
                      << calls;
    failed = true;
}

// --- opened ---------------------------------------------------------------------------

void Model::open_file() {
    const int flags[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR, O_WRONLY | O_APPEND, O_RDWR | O_APPEND};
    int how = flags[random.below(6)], error = 0;
    if (file.empty() && how == O_RDONLY)
        how = O_RDWR;
    if (file.size() > 1500000 || random.one_in(10)) {
        how |= (how & O_ACCMODE) == O_RDONLY ? 0 : O_TRUNC;
        if (how & O_TRUNC)
            file.clear();
    }
    if (random.one_in(2)) {
        s = sopen(path.c_str(), how | O_CLOEXEC, 0644, &error);
        fd = -1;
    } else {
        fd = ::open(path.c_str(), how | O_CLOEXEC);
        s = asf_sopen_fd(fd, how, &error);
    }
    note("open file, flags %#x, %zu bytes, fd %d", how, file.size(), fd);
    reads = (how & O_ACCMODE) != O_WRONLY;
    writes = (how & O_ACCMODE) != O_RDONLY;
    append = how & O_APPEND;
    pos = 0;
    append_end = file.size();
}

void Model::open_pipe() {
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return;
    reads = random.one_in(2);
    writes = !reads;
    note("open pipe to %s", reads ? "read" : "write");
    s = asf_sopen_fd(ends[reads ? 0 : 1], reads ? O_RDONLY : O_WRONLY, &error);
    if (reads)
        feeder = ends[1];
    else
        start_draining(ends[0]);
}

void Model::open_socket() {
    int ends[2], error = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    note("open socket");
    reads = writes = true;
    s = asf_sopen_fd(ends[0], O_RDWR, &error);
    feeder = ends[1];
    start_draining(ends[1]);
}

void Model::open() {
    fed.clear();
    sent.clear();
    fed_pos = sent_end = 0;
    stop = nowhere;
    feeder = -1;
    if (kind == Kind::file)
        open_file();
    else if (kind == Kind::pipe)
        open_pipe();
    else
        open_socket();
    if (!s)
        fail("the stream could not be opened");
    fed_all = feeder < 0;
    mode = reads ? ASF_READ : ASF_WRITE;
    buffered.clear();
    latest = nullptr;
    end_was_met = false;
    run++;
}

// --- the other end ----------------------------------------------------------------------

// Sends at least the bytes that the next call may request, or closes, so that no call waits for ever.
void Model::feed(size_t most) {
    if (seekable() || fed_all)
        return;
    if (fed.size() < most) {
        const std::string more = random.bytes(most - fed.size() + random.below(3000));
        if (::write(feeder, more.data(), more.size()) != static_cast<ssize_t>(more.size()))
            fail("the other end could not be written to");
        fed += more;
    }
    if (random.one_in(200)) {
        note("the other end closes, after %zu bytes", fed.size());
        fed_all = true;
        if (kind == Kind::pipe)
            ::close(feeder);
        else
            shutdown(feeder, SHUT_WR);
    }
}

void Model::start_draining(int from) {
    drained.clear();
    drained_fd = from;
    drainer = std::thread([this, from] {
        std::string some(1 << 16, '\0');
        for (ssize_t n; (n = ::read(from, some.data(), some.size())) > 0;)
            drained.append(some, 0, static_cast<size_t>(n));
    });
}

// --- checks -----------------------------------------------------------------------------

std::string Model::read_all(const std::string &name) {
    const int from = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat st = {};
    fstat(from, &st);
    std::string bytes(static_cast<size_t>(st.st_size), '\0');
    if (::read(from, bytes.data(), bytes.size()) != st.st_size)
        bytes.clear();
    ::close(from);
    return bytes;
}

static std::string difference(const std::string &is, const std::string &must) {
    size_t at = 0;
    while (at < is.size() && at < must.size() && is[at] == must[at])
        at++;
    return std::to_string(is.size()) + " bytes, " + std::to_string(must.size()) +
           " were expected; they differ at " + std::to_string(at);
}

void Model::check_below() {
    if (!seekable())
        return;
    const std::string is = read_all(path);
    if (is != file)
        fail("the file has " + difference(is, file));
}

// The kernel's offset after sflush in read mode.
void Model::check_offset() {
    if (!seekable() || fd < 0 || mode != ASF_READ)
        return;
    const off_t at = lseek(fd, 0, SEEK_CUR);
    if (at != static_cast<off_t>(pos))
        fail("the descriptor is at " + std::to_string(at) + ", the stream at " + std::to_string(pos));
}

void Model::close() {
    const int rc = sclose(s);
    note("sclose gives %d", rc);
    s = nullptr;
    if (rc != 0)
        fail("sclose");
    if (kind == Kind::pipe && feeder >= 0 && !fed_all)
        ::close(feeder);
    if (drainer.joinable()) {
        drainer.join();
        ::close(drained_fd);
        if (drained != sent)
            fail("what was sent: " + difference(drained, sent));
    }
    check_below();
}

} // namespace asi
