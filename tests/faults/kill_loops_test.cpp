// SPDX-License-Identifier: MIT
//
// kill_loops_test.cpp - writers are killed before and after each of their system calls in turn, until one
// ends by itself.  Flushed records are whole and in order, and none comes twice.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <asf/asf.h>
#include <asf/record.h>
#include <asf/shm.h>

namespace kills {
namespace {

constexpr int RECORDS = 60, FLUSHED_EACH = 4;

// The writer's progress, in memory that outlives the writer.
struct Ledger {
    int begun;   // the number of records that may be in the file
    int flushed; // the number of records that must be in the file
    pid_t writer;
};

struct Scenario {
    const char *name;
    std::string before; // the file's initial contents
    std::function<void(Ledger &)> write;
    std::function<void(const Ledger &)> check;
};

void PrintTo(const Scenario &s, std::ostream *out) {
    *out << s.name;
}

// Records of different lengths, a few longer than a buffer.
std::string record(int i) {
    return std::to_string(i) + std::string(static_cast<size_t>(i % 20 == 19 ? 9000 : 50 + i * 7 % 400), 'x') +
           "\n";
}

std::string records(int n) {
    std::string all;
    for (int i = 0; i < n; i++)
        all += record(i);
    return all;
}

std::string contents(const char *name) {
    std::ifstream in(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

template <class Write, class Flush> void write_all(Ledger &ledger, Write write, Flush flush) {
    for (int i = 0; i < RECORDS; i++) {
        ledger.begun = i + 1;
        if (!write(record(i)))
            _exit(2);
        if (i % FLUSHED_EACH == FLUSHED_EACH - 1) {
            if (!flush())
                _exit(3);
            ledger.flushed = i + 1;
        }
    }
}

void by_stdio(Ledger &ledger, const char *mode) {
    FILE *f = fopen("file", mode);
    write_all(
        ledger, [f](const std::string &r) { return fwrite(r.data(), 1, r.size(), f) == r.size(); },
        [f] { return fflush(f) == 0; });
    exit(0); // exit flushes
}

void line_by_line(Ledger &ledger) {
    FILE *f = fopen("file", "w");
    setvbuf(f, nullptr, _IOLBF, 4096);
    for (int i = 0; i < RECORDS; i++) {
        ledger.begun = i + 1;
        if (fputs(record(i).c_str(), f) < 0)
            _exit(2);
        ledger.flushed = i + 1;
    }
    fclose(f);
}

void by_asi(Ledger &ledger, int flags) {
    asf_cios *s = asf_sopen("file", flags, 0600, nullptr);
    write_all(
        ledger,
        [s](const std::string &r) {
            auto n = static_cast<ssize_t>(r.size());
            void *region = asf_salloc(s, &n);
            return region && memcpy(region, r.data(), r.size()) && asf_sfree(s, region) == 0;
        },
        [s] { return asf_sflush(s) == 0; });
    asf_sclose(s);
}

// The file must be a beginning of the records, with at least the flushed ones.
void check_file(const Ledger &ledger, const std::string &before = "") {
    const std::string there = contents("file"), most = before + records(ledger.begun);
    EXPECT_GE(there.size(), (ledger.flushed ? before : "").size() + records(ledger.flushed).size());
    EXPECT_EQ(most.compare(0, there.size(), there), 0) << "other bytes than were written";
}

// --- update ------------------------------------------------------------------------------

constexpr size_t BLOCK = 100, BLOCKS = RECORDS * 5;

std::string block(int i, char kind) {
    std::string b = std::to_string(i) + kind;
    b.resize(BLOCK, kind);
    return b;
}

std::string old_blocks() {
    std::string all;
    for (size_t i = 0; i < BLOCKS; i++)
        all += block(static_cast<int>(i), 'o');
    return all;
}

int place_of(int i) {
    return i * 37 % static_cast<int>(BLOCKS);
}

void update(Ledger &ledger) {
    FILE *f = fopen("file", "r+");
    char was[BLOCK];
    int i = 0;
    write_all(
        ledger,
        [&](const std::string &) {
            const long at = place_of(i) * static_cast<long>(BLOCK);
            return fseek(f, at, SEEK_SET) == 0 && fread(was, 1, BLOCK, f) == BLOCK &&
                   fseek(f, at, SEEK_SET) == 0 && fwrite(block(i++, 'n').data(), 1, BLOCK, f) == BLOCK;
        },
        [f] { return fflush(f) == 0; });
    exit(0);
}

void check_updated(const Ledger &ledger) {
    const std::string there = contents("file");
    std::string expected = old_blocks();
    for (int i = 0; i < ledger.begun; i++) {
        const size_t at = static_cast<size_t>(place_of(i)) * BLOCK;
        if (i < ledger.flushed || there.compare(at, BLOCK, block(i, 'n')) == 0)
            expected.replace(at, BLOCK, block(i, 'n'));
    }
    EXPECT_EQ(there, expected);
}

// --- records ------------------------------------------------------------------------------

struct item {
    int32_t number;
    const char *text;
};
const asf_record_field item_fields[] = {ASF_FIELD(INT, struct item, number),
                                        ASF_FIELD_STRING(struct item, text)};
const asf_record_type item_type = ASF_RECORD_TYPE("item", struct item, item_fields);

void write_items(Ledger &ledger) {
    asf_record_format *format = nullptr;
    asf_record_writer *w = nullptr;
    asf_cios *s = asf_sopen("file", O_WRONLY | O_CREAT | O_TRUNC, 0600, nullptr);
    asf_record_options options = {};
    options.size = sizeof options;
    options.indexed = true;
    if (asf_record_declare(&item_type, &format) != 0 || asf_record_writer_new(s, &options, &w) != 0)
        _exit(2);
    write_all(
        ledger,
        [&](const std::string &r) {
            const item it = {ledger.begun - 1, r.c_str()};
            return asf_record_write(w, format, &it) == 0;
        },
        [s] { return asf_sflush(s) == 0; });
    if (asf_record_writer_close(w) != 0 || asf_sclose(s) != 0)
        _exit(4);
}

int read_items(asf_record_reader *reader, asf_record_format *format) {
    asf_record *r;
    int n = 0;
    while (asf_record_next(reader, &r) > 0) {
        item it;
        void *texts = nullptr;
        if (asf_record_into(r, format, &it, &texts) < 0)
            break;
        EXPECT_EQ(it.number, n);
        EXPECT_EQ(it.text, record(n));
        free(texts);
        n++;
    }
    return n;
}

void check_items(const Ledger &ledger) {
    asf_record_format *format = nullptr;
    asf_record_reader *reader = nullptr;
    ASSERT_EQ(asf_record_declare(&item_type, &format), 0);
    asf_cios *s = asf_sopen("file", O_RDONLY, 0, nullptr);
    int n = 0;
    if (s && asf_record_reader_new(s, nullptr, &reader) == 0)
        n = read_items(reader, format);
    EXPECT_GE(n, ledger.flushed);
    EXPECT_LE(n, ledger.begun);
    asf_record_reader_free(reader);
    asf_record_format_free(format);
    if (s)
        asf_sclose(s);
}

// --- asf shm pack -----------------------------------------------------------------------------

const char arrays[] = "first 6 5 4 3 2 1\nsecond 1 2 3 4 5 6\nthird 9 9 9 9\n";

void pack(Ledger &) {
    const int to = open("file", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(to, STDOUT_FILENO);
    execl(ASF_COMMAND, "asf", "shm", "pack", "--min", "1", "--name", "killed", "text", nullptr);
    _exit(2);
}

// The segments that the command has printed must be whole; the others must be removable.
void check_packed(const Ledger &ledger) {
    const std::string text = arrays, told = contents("file");
    if (!told.empty()) {
        std::ofstream("told") << told.substr(0, told.rfind('\n') + 1);
        ASSERT_EQ(system(ASF_COMMAND " shm expand told > expanded"), 0) << told;
        const std::string expanded = contents("expanded");
        EXPECT_EQ(text.compare(0, expanded.size(), expanded), 0) << expanded;
    }
    auto remove = [](const asf_shm_info *info, void *writer) {
        if (info->creator == *static_cast<pid_t *>(writer)) {
            EXPECT_EQ(info->state, ASF_SHM_WHOLE);
            EXPECT_EQ(asf_shm_remove(info->label), 0);
        }
        return 0;
    };
    pid_t writer = ledger.writer;
    EXPECT_EQ(asf_shm_each(remove, &writer), 0);
}

// --- asf tune ---------------------------------------------------------------------------------

const std::string old_table = "an old table\n";

void tune(Ledger &) {
    execl(TUNE_WRITER, "tune_writer", "file", nullptr);
    _exit(2);
}

// The file is the old table or the new one; at most the new table's unfinished file is left.
void check_tuned(const Ledger &ledger) {
    ASSERT_EQ(system(TUNE_WRITER " whole"), 0);
    const std::string there = contents("file"), unfinished = "file." + std::to_string(ledger.writer);
    EXPECT_TRUE(there == old_table || there == contents("whole")) << there;
    std::filesystem::remove(unfinished);
    for (const auto &entry : std::filesystem::directory_iterator("."))
        EXPECT_NE(entry.path().filename().string().compare(0, 5, "file."), 0) << entry;
}

// --- the loop ---------------------------------------------------------------------------------

class KillLoops : public testing::TestWithParam<Scenario> {
  protected:
    void SetUp() override {
        char name[] = "/tmp/asf-kills.XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        ASSERT_EQ(chdir(name), 0);
        std::ofstream("text") << arrays;
        void *p = mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(p, MAP_FAILED);
        ledger = static_cast<Ledger *>(p);
    }

    void TearDown() override {
        munmap(ledger, sizeof *ledger);
        EXPECT_EQ(chdir("/"), 0);
        std::filesystem::remove_all(directory);
    }

    static int wait_for(pid_t pid) {
        int status = 0;
        EXPECT_EQ(waitpid(pid, &status, 0), pid);
        return status;
    }

    pid_t start() const {
        std::ofstream("file", std::ios::binary) << GetParam().before;
        *ledger = {};
        const pid_t pid = fork();
        if (pid == 0) {
            if (ptrace(PTRACE_TRACEME) == 0)
                raise(SIGSTOP);
            GetParam().write(*ledger);
            _exit(0);
        }
        ledger->writer = pid;
        EXPECT_TRUE(WIFSTOPPED(wait_for(pid))) << "is ptrace allowed here?";
        EXPECT_EQ(ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), 0);
        return pid;
    }

    // Kills the writer at its n-th stop, which is before or after a system call.  Returns false if the writer
    // has ended.
    bool kill_at(int n) const {
        const pid_t pid = start();
        for (int i = 0; i < n;) {
            EXPECT_EQ(ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr), 0);
            const int status = wait_for(pid);
            if (!WIFSTOPPED(status)) {
                EXPECT_EQ(status, 0);
                return false;
            }
            i += WSTOPSIG(status) == (SIGTRAP | 0x80);
        }
        kill(pid, SIGKILL);
        EXPECT_TRUE(WIFSIGNALED(wait_for(pid)));
        return true;
    }

    std::string directory;
    Ledger *ledger = nullptr;
};

TEST_P(KillLoops, KeepWhatWasFlushed) {
    int n = 1;
    for (; kill_at(n) && !HasFailure(); n++) {
        SCOPED_TRACE("killed at stop " + std::to_string(n));
        GetParam().check(*ledger);
    }
    GetParam().check(*ledger);
    EXPECT_GT(n, 20);
    printf("%s: killed %d times\n", GetParam().name, n - 1);
}

const std::string earlier = "from earlier\n";
const Scenario scenarios[] = {
    {"stdio", "", [](Ledger &l) { by_stdio(l, "w"); }, [](const Ledger &l) { check_file(l); }},
    {"stdio_appending", earlier, [](Ledger &l) { by_stdio(l, "a"); },
     [](const Ledger &l) { check_file(l, earlier); }},
    {"stdio_by_lines", "", line_by_line, [](const Ledger &l) { check_file(l); }},
    {"stdio_updating", old_blocks(), update, check_updated},
    {"asi", "", [](Ledger &l) { by_asi(l, O_WRONLY | O_CREAT | O_TRUNC); },
     [](const Ledger &l) { check_file(l); }},
    {"asi_appending", earlier, [](Ledger &l) { by_asi(l, O_WRONLY | O_APPEND); },
     [](const Ledger &l) { check_file(l, earlier); }},
    {"records", "", write_items, check_items},
    {"shm_pack", "", pack, check_packed},
    {"tune", old_table, tune, check_tuned},
};

INSTANTIATE_TEST_SUITE_P(Of, KillLoops, testing::ValuesIn(scenarios),
                         [](const auto &scenario) { return std::string(scenario.param.name); });

} // namespace
} // namespace kills
