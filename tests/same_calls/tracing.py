# SPDX-License-Identifier: MIT
"""tracing.py - starts a command under strace, and reads the calls of all its threads from the log.

strace's seccomp filter lets the omitted calls run without a stop.  So a traced command takes only some tens of
microseconds for each call.
"""
import dataclasses
import re

# Calls for memory and thread stacks, waits for other threads, and calls of starting threads. By membarrier a
# thread takes over a stream that another thread has used alone (see README.md).
ALWAYS_LEFT_OUT = """
    mmap munmap mprotect mremap brk madvise getrandom futex rseq set_robust_list set_tid_address membarrier
""".split()
# Clocks, signal handlers and masks, waits for time or input, and calls that only query or advise.
ASKING = """
    mincore mlock munlock
    clock_gettime clock_getres gettimeofday time nanosleep clock_nanosleep alarm setitimer getitimer times
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend sigaltstack pause restart_syscall
    poll ppoll select pselect6 epoll_wait epoll_pwait
    stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getcwd
    getdents64 getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr fadvise64 readahead
    getpid gettid getppid getpgrp getpgid getsid getuid geteuid getgid getegid getresuid getresgid getgroups
    getrlimit prlimit64 getrusage uname sysinfo getpriority umask
    sched_getaffinity sched_getparam sched_getscheduler sched_yield getcpu
    get_robust_list arch_prctl
""".split()
LEFT_OUT = ALWAYS_LEFT_OUT + ASKING


@dataclasses.dataclass
class Call:
    pid: int
    name: str  # the system call; "ends" for the end of a thread
    arguments: str
    result: int
    error: str  # "": no error
    begun: int  # the line number in the trace
    ended: int


def traced(log, settings, left_out=LEFT_OUT):
    """Returns the words that precede a traced command.  The settings apply to the command, not to strace."""
    variables = [word for name, value in settings.items() for word in ("-E", f"{name}={value}")]
    return ["strace", "-f", "--seccomp-bpf", "-y", "-s", "2", "-q", "-e", "signal=none", "-o", log,
            "-e", "trace=!" + ",".join(left_out), *variables, "--"]


WHOLE = re.compile(r"(\w+)\((.*)\) += (-?\d+|0x[0-9a-f]+|\?)(?: (E\w+))?.*", re.S)
END = re.compile(r"\+\+\+ (?:exited|killed) (.*) \+\+\+")


def call_of(pid, text, begun, ended):
    end = END.fullmatch(text)
    if end:
        return Call(pid, "ends", end[1].removesuffix(" (core dumped)"), 0, "", begun, ended)
    whole = WHOLE.fullmatch(text)
    # Interrupted calls, and calls that never returned, are not transfers.
    if not whole or whole[3] == "?":
        return None
    return Call(pid, whole[1], whole[2], int(whole[3], 16 if whole[3].startswith("0x") else 10), whole[4] or "", begun, ended)


def read_calls(log):
    begun, calls = {}, []
    with open(log, encoding="utf-8", errors="surrogateescape") as lines:
        for number, line in enumerate(lines):
            pid, _, text = line.rstrip("\n").partition(" ")
            text, start = text.lstrip(), number
            if text.endswith(" <unfinished ...>"):
                begun[pid] = (text.removesuffix(" <unfinished ...>"), number)
                continue
            if text.startswith("<... "):
                head, start = begun.pop(pid, ("", number))
                text = head + text.partition(" resumed>")[2]
            call = call_of(int(pid), text, start, number)
            if call:
                calls.append(call)
    return calls
