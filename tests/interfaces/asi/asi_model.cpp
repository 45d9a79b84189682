// SPDX-License-Identifier: MIT
//
// asi_model.cpp - the model of a stream: each call, and its expected result.
#include "tests/interfaces/asi/asi_model.h"

namespace asi {

namespace {

const char *name_of(asf_mode m) {
    return m == ASF_READ ? "read" : "write";
}

} // namespace

// --- the calls, in both forms -------------------------------------------------------------

Model::Got Model::call_salloc(ssize_t n, bool some) {
    Got got = {nullptr, n};
    const bool u = random.one_in(3);
    const auto salloc_form = some ? u ? u_salloc_some : salloc_some : u ? u_salloc : salloc;
    const auto call = [&] { return static_cast<char *>(salloc_form(s, &got.n)); };
    got.p = u ? locked(call) : call();
    note("%ssalloc%s(%zd) gives %p, %zd", u ? "u_" : "", some ? "_some" : "", n, got.p, got.n);
    return got;
}

Model::Got Model::call_Salloc(asf_mode m, ssize_t n) {
    Got got = {nullptr, n};
    const bool u = random.one_in(3);
    const auto call = [&] { return static_cast<char *>((u ? u_Salloc : Salloc)(s, m, &got.n)); };
    got.p = u ? locked(call) : call();
    note("%sSalloc(%s, %zd) gives %p, %zd", u ? "u_" : "", name_of(m), n, got.p, got.n);
    return got;
}

Model::Got Model::call_sallocAt(ssize_t n, const Target &t) {
    Got got = {nullptr, n};
    const bool u = random.one_in(3);
    const auto call = [&] {
        return static_cast<char *>((u ? u_sallocAt : sallocAt)(s, &got.n, t.offset, t.whence));
    };
    got.p = u ? locked(call) : call();
    note("%ssallocAt(%zd, %lld, %d) gives %p, %zd", u ? "u_" : "", n, static_cast<long long>(t.offset),
         t.whence, got.p, got.n);
    return got;
}

Model::Got Model::call_SallocAt(asf_mode m, ssize_t n, const Target &t) {
    Got got = {nullptr, n};
    const bool u = random.one_in(3);
    const auto call = [&] {
        return static_cast<char *>((u ? u_SallocAt : SallocAt)(s, m, &got.n, t.offset, t.whence));
    };
    got.p = u ? locked(call) : call();
    note("%sSallocAt(%s, %zd, %lld, %d) gives %p, %zd", u ? "u_" : "", name_of(m), n,
         static_cast<long long>(t.offset), t.whence, got.p, got.n);
    return got;
}

Model::Got Model::call_srealloc(char *p, ssize_t n) {
    Got got = {nullptr, n};
    const bool u = random.one_in(3);
    const auto call = [&] { return static_cast<char *>((u ? u_srealloc : srealloc)(s, p, &got.n)); };
    got.p = u ? locked(call) : call();
    note("%ssrealloc(%p, %zd) gives %p, %zd", u ? "u_" : "", p, n, got.p, got.n);
    return got;
}

int Model::call_sfree(char *p) {
    const bool u = random.one_in(3);
    const auto call = [&] { return (u ? u_sfree : sfree)(s, p); };
    const int rc = u ? locked(call) : call();
    note("%ssfree(%p) gives %d", u ? "u_" : "", p, rc);
    return rc;
}

// --- the expected results ---------------------------------------------------------------------

bool Model::has_output() const {
    for (const Kept &k : kept)
        if (k.holds_output())
            return true;
    return false;
}

// Whether output is pending in the present run, which no positional call has ended.
bool Model::has_output_here() const {
    for (const Kept &k : kept)
        if (k.holds_output() && k.run == run)
            return mode == ASF_WRITE;
    return false;
}

bool Model::is_behind(const Kept &k) const {
    for (const Kept &other : kept)
        if (other.holds_output() && other.run == k.run && other.order < k.order)
            return true;
    return false;
}

// Whether output at [at, at + n) overlaps no unwritten output: otherwise the order of the writes is
// unspecified.
bool Model::is_free(size_t at, size_t n) const {
    const auto meets = [&](const Kept &k) { return k.output && k.at < at + n && at < k.at + k.bytes.size(); };
    for (const auto *list : {&kept, &waiting, &buffered})
        for (const Kept &k : *list)
            if (meets(k))
                return false;
    return true;
}

bool Model::may_be_written(asf_mode m, int64_t at, size_t n) const {
    return m == ASF_READ || at < 0 || !has_places() || is_free(static_cast<size_t>(at), n);
}

bool Model::refused(const Got &got, int error) {
    if (error < 0 && (got.p || got.n != error))
        fail(std::string("this call must be refused: ") + strerror(-error));
    return error < 0;
}

void Model::input(const Got &got, size_t asked, bool some) {
    const size_t there = at_hand();
    const size_t most = asked < there ? asked : there, n = got.p ? static_cast<size_t>(got.n) : 0;
    if (most < asked)
        end_was_met = true;
    if (most == 0 && has_stopped()) {
        stop = nowhere;
        return void(refused(got, -EAGAIN));
    }
    if (most == 0 && (got.p || got.n != 0))
        return fail("this is the end of the file");
    if (most > 0 && (!got.p || got.n <= 0 || (some ? n > most : n != most)))
        return fail("of input there are " + std::to_string(most) + " bytes");
    if (memcmp(got.p ? got.p : "", in().data() + (n ? in_at() : 0), n) != 0)
        return fail("this is not what stands at " + std::to_string(in_at()));
    if (!got.p)
        return;
    end_was_met = n < asked;
    kept.push_back({got.p, in_at(), in().substr(in_at(), n), false, true});
    in_at() += n;
    latest = got.p;
}

void Model::output(const Got &got, size_t asked) {
    if (!got.p || got.n != static_cast<ssize_t>(asked))
        return fail("there must be room for output");
    if (begins(got.p))
        return fail("this is where another region begins");
    Kept k = {got.p, out_at(), random.bytes(asked), true, random.one_in(2)};
    k.order = ++order;
    k.run = run;
    if (k.filled)
        memcpy(k.p, k.bytes.data(), asked);
    out_at() += asked;
    if (append)
        pos = append_end;
    latest = k.p;
    end_was_met = false;
    kept.push_back(std::move(k));
}

void Model::allocated(const Got &got, ssize_t asked, bool some) {
    if (asked <= 0)
        refused(got, -EINVAL);
    else if (mode == ASF_WRITE)
        output(got, static_cast<size_t>(asked));
    else
        input(got, static_cast<size_t>(asked), some);
}

int Model::switching(asf_mode to) const {
    if (to == ASF_READ ? !reads : !writes)
        return -EBADF;
    return to != mode && has_output_here() ? -EBUSY : 0;
}

void Model::switched(asf_mode to) {
    if (to != mode) {
        latest = nullptr;
        buffered.clear(); // output has been flushed, or there is none yet
        run++;
    }
    mode = to;
}

// If there are two reasons to refuse the call, it may report either.
int Model::seeking(const Target &t, const Got &got) const {
    if (!seekable())
        return -ESPIPE;
    const int there = t.at < 0 ? static_cast<int>(t.at) : 0;
    return append && has_output() && got.n != there ? -EBUSY : there;
}

// The input available without the other end.
size_t Model::at_hand() {
    const size_t end = in().size() < stop ? in().size() : stop;
    return end > in_at() ? end - in_at() : 0;
}

// --- lengths and places -------------------------------------------------------------------------

size_t Model::length() {
    const size_t most[] = {1, 20, 200, 200, 5000, 20000};
    if (seekable() && random.one_in(300))
        return 1 + random.below(700000);
    return 1 + random.below(most[random.below(6)]);
}

// The end of the file and of pending output.
size_t Model::end() const {
    size_t at = file.size();
    for (const auto *list : {&kept, &waiting})
        for (const Kept &k : *list)
            if (k.output && !k.bytes.empty() && k.at + k.bytes.size() > at)
                at = k.at + k.bytes.size();
    return at;
}

Model::Target Model::target() {
    const auto at = static_cast<int64_t>(random.below(end() + 1 + (random.one_in(20) ? 5000 : 0)));
    // The offset of an appending stream after its output was abandoned is unspecified.
    const int whence = static_cast<int>(append && !reads ? 2 * random.below(2) : random.below(3));
    const int64_t base[] = {0, static_cast<int64_t>(pos), static_cast<int64_t>(end())};
    if (random.one_in(100))
        return {-1 - base[whence], whence, -EINVAL};
    if (!writes && random.one_in(100))
        return far_target();
    return {at - base[whence], whence, at};
}

// An offset beyond the limit of some file systems; the kernel decides.
Model::Target Model::far_target() {
    const auto at = int64_t{1} << (random.one_in(2) ? 45 : 62);
    const int other = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int64_t there = lseek(other, at, SEEK_SET) == at ? at : -errno;
    ::close(other);
    return {at, SEEK_SET, there};
}

// --- salloc and its variants ---------------------------------------------------------------------------

void Model::do_salloc() {
    const auto n = static_cast<ssize_t>(random.one_in(200) ? 0 : length());
    const bool some = random.one_in(3);
    if (!may_be_written(mode, static_cast<int64_t>(pos), static_cast<size_t>(n)))
        return;
    if (mode == ASF_READ && n > 0 && may_starve() && random.one_in(30))
        return starve(n);
    if (mode == ASF_READ && n > 0)
        feed(fed_pos + static_cast<size_t>(n));
    allocated(call_salloc(n, some), n, some);
}

// The other end writes nothing and the stream does not wait: the call gives the bytes that have come, and the
// next call returns the error.
void Model::starve(ssize_t n) {
    const int flags = fcntl(asf_fileno(s), F_GETFL);
    if (static_cast<size_t>(n) > at_hand())
        stop = fed.size();
    fcntl(asf_fileno(s), F_SETFL, flags | O_NONBLOCK);
    const Got got = call_salloc(n, false);
    fcntl(asf_fileno(s), F_SETFL, flags);
    allocated(got, n, false);
}

void Model::do_Salloc() {
    const asf_mode m = random.one_in(2) ? ASF_READ : ASF_WRITE;
    const auto n = static_cast<ssize_t>(length());
    const int rc = switching(m);
    if (!may_be_written(m, static_cast<int64_t>(pos), static_cast<size_t>(n)))
        return;
    if (m == ASF_READ && rc == 0)
        feed(fed_pos + static_cast<size_t>(n));
    const Got got = call_Salloc(m, n);
    if (refused(got, rc))
        return;
    switched(m);
    allocated(got, n, false);
}

// Complete output is written; waiting output keeps its offset.
void Model::left_behind() {
    buffered.clear();
    run++;
}

void Model::sought(const Target &t, const Got &got, ssize_t n) {
    pos = static_cast<size_t>(t.at);
    latest = nullptr;
    if (mode == ASF_WRITE)
        left_behind();
    const size_t before = kept.size();
    allocated(got, n, false);
    if (mode == ASF_READ && kept.size() > before)
        kept.back().apart = true;
}

void Model::do_sallocAt() {
    const auto n = static_cast<ssize_t>(length());
    const Target t = target();
    if (!may_be_written(mode, t.at, static_cast<size_t>(n)))
        return;
    const Got got = call_sallocAt(n, t);
    if (!refused(got, seeking(t, got)))
        sought(t, got, n);
}

// A call that is refused may leave the stream in the other mode, at the same offset.
bool Model::refused_in_part(const Got &got, int seeking, int switching) {
    if (seeking == 0 && switching == 0)
        return false;
    const bool other = seeking == 0 || (got.n == switching && switching < 0);
    refused(got, other ? switching : seeking);
    if (set_stream_mode(s, mode) != s)
        fail("the stream does not go back to its mode");
    latest = nullptr;
    return true;
}

void Model::do_SallocAt() {
    const asf_mode m = random.one_in(2) ? ASF_READ : ASF_WRITE;
    const auto n = static_cast<ssize_t>(length());
    const Target t = target();
    if (!may_be_written(m, t.at, static_cast<size_t>(n)))
        return;
    const Got got = call_SallocAt(m, n, t);
    const int rc = switching(m);
    if (refused_in_part(got, seeking(t, got), rc == -EBUSY && has_places() ? 0 : rc))
        return;
    switched(m);
    sought(t, got, n);
}

// --- sfree -------------------------------------------------------------------------------------------

void Model::apply(const Kept &k) {
    std::string &to = seekable() ? file : sent;
    if (k.bytes.empty())
        return;
    if (to.size() < k.at + k.bytes.size())
        to.resize(k.at + k.bytes.size());
    memcpy(to.data() + k.at, k.bytes.data(), k.bytes.size());
}

void Model::apply_waiting() {
    for (size_t i = 0; i < waiting.size();) {
        if (is_behind(waiting[i])) {
            i++;
            continue;
        }
        apply(waiting[i]);
        if (waiting[i].run == run)
            buffered.push_back(std::move(waiting[i]));
        else
            latest = mode == ASF_READ ? nullptr : latest; // the bytes of the latest region may have changed
        waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(i));
    }
}

void Model::complete(Kept k) {
    auto at = waiting.begin();
    while (at != waiting.end() && at->order < k.order)
        ++at;
    waiting.insert(at, std::move(k));
    apply_waiting();
}

// The output after an abandoned region moves up.
void Model::left_out(const Kept &gone) {
    for (auto *list : {&kept, &waiting})
        for (Kept &k : *list)
            if (k.output && k.run == gone.run && k.order > gone.order)
                k.at -= gone.bytes.size();
    if (gone.run == run && mode == ASF_WRITE)
        out_at() -= gone.bytes.size();
    pos = append ? append_end : pos;
    apply_waiting();
}

void Model::give_back(size_t i) {
    const Kept k = std::move(kept[i]);
    kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
    if (k.output && !k.filled)
        memcpy(k.p, k.bytes.data(), k.bytes.size());
    else if (memcmp(k.p, k.bytes.data(), k.bytes.size()) != 0)
        fail("a region has changed while it was kept");
    if (k.output)
        complete(k);
    if (k.p == latest)
        latest = nullptr;
    if (call_sfree(k.p) != 0)
        fail("sfree");
}

void Model::do_abandon() {
    if (kept.empty())
        return;
    const size_t i = random.below(kept.size());
    if (kept[i].output && append && reads)
        return;
    const Kept k = std::move(kept[i]);
    kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
    if (k.output && !k.filled)
        memset(k.p, 'x', k.bytes.size());
    latest = nullptr;
    const bool u = random.one_in(3);
    const auto call = [&] { return (u ? u_sabandon : sabandon)(s, k.p); };
    const int rc = u ? locked(call) : call();
    note("%ssabandon(%p) gives %d", u ? "u_" : "", k.p, rc);
    if (rc != 0)
        return fail("sabandon");
    if (k.output)
        left_out(k);
}

// Frees mostly the latest region, else any kept one.
void Model::do_sfree() {
    if (!kept.empty())
        give_back(random.one_in(3) ? random.below(kept.size()) : kept.size() - 1);
}

// --- srealloc -----------------------------------------------------------------------------------------

void Model::resized_input(Kept &k, const Got &got, size_t asked) {
    const size_t there = k.bytes.size() + at_hand(), must = asked < there ? asked : there;
    if (got.n != static_cast<ssize_t>(must))
        return fail("the region must have " + std::to_string(must) + " bytes");
    end_was_met = end_was_met || must < asked;
    k.bytes = in().substr(k.at, must);
    if (memcmp(got.p, k.bytes.data(), must) != 0)
        return fail("the region's bytes are not those of the stream");
    in_at() = k.at + must;
}

void Model::resized_output(Kept &k, const Got &got, size_t asked) {
    const size_t same = k.filled ? asked < k.bytes.size() ? asked : k.bytes.size() : 0;
    if (got.n != static_cast<ssize_t>(asked))
        return fail("the region must have the length asked for");
    if (memcmp(got.p, k.bytes.data(), same) != 0)
        return fail("the region has lost its bytes");
    k.bytes.resize(same);
    k.bytes += random.bytes(asked - same);
    if (k.filled)
        memcpy(got.p + same, k.bytes.data() + same, asked - same);
    if (out_at() == k.at + asked)
        return;
    out_at() = k.at + asked;
    pos = append ? append_end : pos;
}

void Model::resized(Kept &k, const Got &got, size_t asked) {
    k.p = latest = got.p;
    if (k.output)
        resized_output(k, got, asked);
    else
        resized_input(k, got, asked);
    if (asked > 0 || failed)
        return;
    if (k.output && random.one_in(2)) // an empty region is kept, and cannot be resized again
        latest = nullptr;
    else
        give_back(static_cast<size_t>(&k - kept.data()));
}

void Model::do_srealloc() {
    if (kept.empty())
        return;
    Kept &k = latest ? kept.back() : kept[random.below(kept.size())];
    if (!latest || random.one_in(20)) { // try a region that is not the latest
        if (!latest || kept.size() < 2)
            return;
        char *other = kept[random.below(kept.size() - 1)].p;
        if (other != latest) // two regions of input at one offset may be the same
            refused(call_srealloc(other, static_cast<ssize_t>(length())), -EBUSY);
        return;
    }
    size_t n = random.one_in(2) ? random.below(k.bytes.size() + 1) : k.bytes.size() + length();
    n = n == 0 && append ? 1 : n; // the offset would be unspecified
    if (n > k.bytes.size() && k.output &&
        !may_be_written(mode, static_cast<int64_t>(k.at + k.bytes.size()), n - k.bytes.size()))
        return;
    if (!k.output)
        feed(k.at + n);
    const bool stopped = !k.output && n > k.bytes.size() && at_hand() == 0 && has_stopped();
    const Got got = call_srealloc(k.p, static_cast<ssize_t>(n));
    if (stopped && got.n == -EAGAIN)
        stop = nowhere;
    if (stopped)
        return void(refused(got, -EAGAIN));
    if (!got.p && got.n == -EBUSY && end_was_met && !k.output)
        return;
    if (!got.p)
        return fail("srealloc of the latest region");
    resized(k, got, n);
}

// --- the others -----------------------------------------------------------------------------------------

void Model::do_sflush() {
    const bool u = random.one_in(3);
    const auto call = [&] { return (u ? u_sflush : sflush)(s); };
    const int rc = u ? locked(call) : call();
    note("%ssflush gives %d", u ? "u_" : "", rc);
    if (rc != (has_output() ? -EBUSY : 0))
        return fail("sflush");
    buffered.clear();
    check_below();
    check_offset();
}

void Model::do_set_stream_mode() {
    const asf_mode m = random.one_in(2) ? ASF_READ : ASF_WRITE;
    const bool u = random.one_in(3);
    const auto call = [&] { return (u ? u_set_stream_mode : set_stream_mode)(s, m); };
    const asf_cios *got = u ? locked(call) : call();
    note("%sset_stream_mode(%s) gives %s", u ? "u_" : "", name_of(m), got ? "the stream" : "NULL");
    if ((got == s) != (switching(m) == 0))
        return fail("set_stream_mode");
    if (got)
        switched(m);
}

// Copies from another file to this stream.
void Model::do_copy() {
    const std::string other = random.bytes(length()), name = path + ".other";
    if (!writes || !may_be_written(ASF_WRITE, static_cast<int64_t>(pos), other.size()))
        return;
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (::write(made, other.data(), other.size()) != static_cast<ssize_t>(other.size()))
        return fail("the other file could not be made");
    ::close(made);
    asf_cios *from = sopen(name.c_str(), O_RDONLY | O_CLOEXEC, 0, nullptr);
    if (!set_stream_mode(s, ASF_WRITE))
        return fail("set_stream_mode");
    switched(ASF_WRITE);
    const int64_t n = asf_copy(from, s, INT64_MAX);
    note("asf_copy gives %lld", static_cast<long long>(n));
    if (n != static_cast<int64_t>(other.size()) || sclose(from) != 0)
        return fail("asf_copy");
    complete({nullptr, out_at(), other, true, true, ++order, run});
    out_at() += other.size();
    pos = append ? append_end : pos;
    latest = nullptr;
}

// Copies from this stream to another file.
void Model::do_copy_from() {
    if (!reads || (mode == ASF_WRITE && has_output_here()) || stop != nowhere)
        return;
    const std::string name = path + ".other";
    asf_cios *to = sopen(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644, nullptr);
    if (!set_stream_mode(s, ASF_READ))
        return fail("set_stream_mode");
    switched(ASF_READ);
    const size_t n = length();
    feed(fed_pos + n);
    const size_t there = in().size() > in_at() ? in().size() - in_at() : 0, must = n < there ? n : there;
    const int64_t got = asf_copy(s, to, static_cast<int64_t>(n));
    note("asf_copy of %zu from here gives %lld", n, static_cast<long long>(got));
    if (got != static_cast<int64_t>(must) || sclose(to) != 0)
        return fail("asf_copy from here");
    if (must > 0 && read_all(name) != in().substr(in_at(), must))
        fail("what was copied from here is not what stands there");
    in_at() += must;
    end_was_met = must < n;
    latest = nullptr;
}

void Model::do_wrong() {
    char on_stack = 0;
    if (call_sfree(&on_stack) != -EINVAL)
        fail("sfree of a pointer that is no region's");
    if (kept.empty())
        return;
    const Kept &k = kept[random.below(kept.size())];
    if (k.bytes.size() > 1 && !begins(k.p + 1) && call_sfree(k.p + 1) != -EINVAL)
        fail("sfree of a pointer into a region");
    char *p = kept.back().p;
    give_back(kept.size() - 1);
    if (!failed && !begins(p) && call_sfree(p) != -EINVAL)
        fail("sfree of a region that was given back");
}

// Returns whether a kept region begins at p. Regions of input that was read twice may overlap.
bool Model::begins(const char *p) const {
    for (const Kept &k : kept)
        if (k.p == p)
            return true;
    return false;
}

void Model::do_reopen() {
    if (!kept.empty()) {
        const int rc = sclose(s);
        note("sclose with %zu regions gives %d", kept.size(), rc);
        if (rc != -EBUSY)
            return fail("sclose with regions that are kept");
    }
    finish();
    if (!failed)
        open();
}

void Model::finish() {
    while (!kept.empty() && !failed)
        give_back(random.below(kept.size()));
    if (!failed)
        close();
}

void Model::step() {
    steps++;
    const size_t which = random.below(200);
    if (which == 0)
        return do_reopen();
    if (kept.size() > 8 + random.below(100)) // keeps mostly few regions
        return do_sfree();
    if (which < 68)
        do_salloc();
    else if (which < 78)
        do_Salloc();
    else if (which < 93)
        do_sallocAt();
    else if (which < 103)
        do_SallocAt();
    else if (which < 153)
        do_sfree();
    else if (which < 173)
        do_srealloc();
    else if (which < 186)
        do_sflush();
    else if (which < 192)
        do_set_stream_mode();
    else if (which < 194)
        do_copy();
    else if (which < 195)
        do_copy_from();
    else if (which < 197)
        do_abandon();
    else
        do_wrong();
}

} // namespace asi
