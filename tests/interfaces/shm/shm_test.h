// SPDX-License-Identifier: MIT
//
// shm_test.h - shared by the tests of segments: if the system permits, private namespaces for /dev/shm and
// SysV segments; real child processes; and every case on every backend.
#ifndef ASF_TESTS_SHM_TEST_H
#define ASF_TESTS_SHM_TEST_H

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <map>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <asf/shm.h>

namespace shm {

inline void put_file(const std::string &path, const std::string &text) {
    std::ofstream(path) << text;
}

// Enters private namespaces, so that other tests' and users' segments neither interfere nor are at risk.
// Without the permission the tests use the common ones.
inline bool enter_namespaces() {
    const std::string uid = std::to_string(getuid()), gid = std::to_string(getgid());
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC) != 0)
            return false;
        put_file("/proc/self/setgroups", "deny");
        put_file("/proc/self/uid_map", uid + " " + uid + " 1");
        put_file("/proc/self/gid_map", gid + " " + gid + " 1");
    }
    return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
}

struct Isolated : testing::Environment {
    static inline bool isolated = false;
    static bool enter() {
        static const bool entered = isolated = enter_namespaces();
        return entered;
    }
    void SetUp() override { enter(); }
};
inline testing::Environment *const environment = testing::AddGlobalTestEnvironment(new Isolated);

// Runs a function in a child process. Returns its result, 0 to 255, or -SIGNAL if a signal ended the child.
inline int in_child(const std::function<int()> &work) {
    const pid_t pid = fork();
    if (pid == 0)
        _exit(work());
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Like in_child, as the user nobody.
inline int as_nobody(const std::function<int()> &work) {
    return in_child([&] {
        constexpr uid_t nobody = 65534;
        if (setgid(nobody) != 0 || setuid(nobody) != 0)
            return 99;
        return work();
    });
}

// From now on, a system call with this value as the argument fails with `error`.
inline bool refuse(unsigned call, unsigned argument, unsigned value, unsigned error) {
    const unsigned low = offsetof(seccomp_data, args) + 8 * argument;
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The number of rounds of a test that kills at random; ASF_ROUNDS multiplies it.
inline int rounds(int usual) {
    const char *factor = getenv("ASF_ROUNDS");
    return usual * (factor ? atoi(factor) : 1);
}

inline std::string label_of(const char *shm) {
    return {shm, strcspn(shm, "\n")};
}

inline std::string identifier_of(const std::string &label) {
    return label.substr(0, label.find(' '));
}

inline std::string path_of(const std::string &label) {
    return "/dev/shm/asf-shm." + identifier_of(label);
}

inline unsigned char pattern_at(size_t i) {
    return static_cast<unsigned char>(i * 2654435761U >> 13 ^ i);
}

inline void fill(char *shm) {
    for (size_t i = 0; i < asf_shm_size(shm); i++)
        shm[ASF_SHM_HEAD + i] = static_cast<char>(pattern_at(i));
}

inline bool is_filled(const char *shm, size_t n) {
    if (asf_shm_size(shm) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (static_cast<unsigned char>(shm[ASF_SHM_HEAD + i]) != pattern_at(i))
            return false;
    return true;
}

// Sends a label, and a descriptor unless `fd` is -1, over a socket. Returns false if the other end is closed.
inline bool send_label(int to, const char *label, int fd) {
    char text[ASF_SHM_HEAD] = "";
    memcpy(text, label, strlen(label));
    iovec data = {text, sizeof text};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = "";
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof text);
}

inline bool receive_label(int from, std::string &label, int &fd) {
    char text[ASF_SHM_HEAD] = "";
    iovec data = {text, sizeof text};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = "";
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const bool came = recvmsg(from, &message, MSG_CMSG_CLOEXEC) == static_cast<ssize_t>(sizeof text);
    const cmsghdr *c = came ? CMSG_FIRSTHDR(&message) : nullptr;
    fd = -1;
    if (c)
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    label = label_of(text);
    return came;
}

// The segments that exist, by label.
struct Seen {
    std::string label;
    std::string backend;
    asf_shm_info info;
};

inline std::vector<Seen> all() {
    std::vector<Seen> seen;
    const auto visit = [](const asf_shm_info *info, void *arg) {
        static_cast<std::vector<Seen> *>(arg)->push_back({info->label, info->backend, *info});
        return 0;
    };
    EXPECT_EQ(asf_shm_each(visit, &seen), 0) << asf_shm_why();
    return seen;
}

inline const Seen *find(const std::vector<Seen> &seen, const std::string &label) {
    for (const Seen &s : seen)
        if (s.label == label)
            return &s;
    return nullptr;
}

// A test on each backend. The segments made by its functions are removed at its end.
class Segments : public testing::TestWithParam<const char *> {
  protected:
    char *make(const std::string &name, size_t nbytes, mode_t mode = 0600) {
        char *shm = asf_shm_create_on(GetParam(), name.c_str(), mode, nbytes);
        EXPECT_NE(shm, nullptr) << strerror(errno) << ": " << asf_shm_why();
        if (shm)
            labels.push_back(label_of(shm));
        return shm;
    }

    // Another process makes and fills a segment, and ends. For memfd it first sends a descriptor to this
    // process. Returns the label.
    std::string made_by_another(size_t nbytes, mode_t mode = 0600) {
        int ends[2], fd = -1;
        std::string label;
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
        EXPECT_EQ(in_child([&] {
                      char *shm = asf_shm_create_on(GetParam(), "another's", mode, nbytes);
                      if (!shm)
                          return 1;
                      fill(shm);
                      return send_label(ends[1], shm, memfd() ? asf_shm_fd(shm, O_RDWR) : -1) ? 0 : 2;
                  }),
                  0);
        EXPECT_TRUE(receive_label(ends[0], label, fd));
        close(ends[0]);
        close(ends[1]);
        if (fd >= 0)
            held[label] = fd;
        labels.push_back(label);
        return label;
    }

    // Removes a segment by its label; for memfd, closes the descriptor.
    int remove(const std::string &label) {
        if (held.count(label) == 0)
            return asf_shm_remove(label.c_str());
        close(held[label]);
        held.erase(label);
        return 0;
    }

    // Expects that opening fails with this error, and that the message contains `words`.
    static void expect_refused(const std::string &label, int error, const std::string &words) {
        errno = 0;
        char *shm = asf_shm_open(label.c_str());
        EXPECT_EQ(shm, nullptr) << label;
        EXPECT_EQ(errno, error) << label << ": " << strerror(errno) << ": " << asf_shm_why();
        EXPECT_NE(std::string(asf_shm_why()).find(words), std::string::npos)
            << label << ": " << asf_shm_why();
    }

    bool posix() const { return std::string(GetParam()) == "posix"; }
    bool sysv() const { return std::string(GetParam()) == "sysv"; }
    bool memfd() const { return std::string(GetParam()) == "memfd"; }

    void TearDown() override {
        for (const std::string &label : labels)
            if (remove(label) != 0) // for example, since the segment is forged
                asf_shm_remove(identifier_of(label).c_str());
    }

    std::vector<std::string> labels;
    std::map<std::string, int> held; // descriptors of memfd segments
};

inline std::string backend_name(const testing::TestParamInfo<const char *> &info) {
    return info.param;
}

#define ASF_ON_EACH_BACKEND(suite)                                                                           \
    INSTANTIATE_TEST_SUITE_P(On, suite, testing::Values("posix", "sysv", "memfd"), backend_name)
// The backends whose segments every process can find by a name or a key.
#define ASF_ON_NAMED_BACKENDS(suite)                                                                         \
    INSTANTIATE_TEST_SUITE_P(On, suite, testing::Values("posix", "sysv"), backend_name)

} // namespace shm

#endif
