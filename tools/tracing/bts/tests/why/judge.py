#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test the command "bts why", which finds the check in the kernel that made a system call fail.

judge.py list                                print the list of system calls for record.sh
judge.py judge DIR BTS VMLINUX LINUX         judge the traces that record.sh made in DIR

PYTHONPATH must contain tests/lib.

Each check is identified by its text in the kernel's source. A check in an inlined function may be
reported at the line of the call or at a line of the inlined function, so CHECKS may list both
texts.

INJECTED lists calls in which the kernel makes a function fail (fault injection). "bts why" may name
the check of this function's result, or a check in the code that injects the fault.
"""

import collections
import json
import math
import os
import subprocess
import sys

import addr2line

NAMESPACE = "fs/namespace.c"

# For each system call: the expected error, and the file and text of each check that may cause it.
CHECKS = {
    "lseek": ("EINVAL", [("fs/read_write.c", "if (whence <= SEEK_MAX) {")]),
    "pipe2": ("EINVAL", [("fs/pipe.c", "if (flags & ~(O_CLOEXEC | O_NONBLOCK")]),
    "epoll_create1": ("EINVAL", [("fs/eventpoll.c", "if (flags & ~EPOLL_CLOEXEC)")]),
    "getpriority": ("EINVAL", [("kernel/sys.c", "if (which > PRIO_USER || which < PRIO_PROCESS)")]),
    "prctl": ("EINVAL", [("kernel/sys.c", "if (arg2 != SUID_DUMP_DISABLE &&")]),
    "kill": ("EINVAL", [("kernel/signal.c", "if (!valid_signal(sig))"),
                        ("include/linux/signal.h", "return sig <= _NSIG ? 1 : 0;")]),
    "mprotect": ("EINVAL", [("mm/mprotect.c", "if (start & ~PAGE_MASK)")]),
    "nanosleep": ("EINVAL", [("kernel/time/hrtimer.c", "if (!timespec64_valid(&tu))"),
                             ("include/linux/time64.h", "if ((unsigned long)ts->tv_nsec >=")]),
    "prlimit64": ("EINVAL", [("kernel/sys.c", "if (new_rlim->rlim_cur > new_rlim->rlim_max)")]),
    "read": ("EBADF", [("fs/read_write.c", "if (!(file->f_mode & FMODE_READ))")]),
    "chown": ("EPERM", [("fs/attr.c", "!chown_ok(idmap, inode, attr->ia_vfsuid))"),
                        ("fs/attr.c", "if (capable_wrt_inode_uidgid(idmap, inode, CAP_CHOWN))")]),
    "mount": ("EPERM", [(NAMESPACE, "if (!may_mount())")]),
    "setuid": ("EPERM", [("kernel/sys.c", "!uid_eq(kuid, old->uid) && !uid_eq(kuid, new->suid))"),
                         ("kernel/sys.c", "if (ns_capable_setid(old->user_ns, CAP_SETUID))"),
                         ("include/linux/uidgid.h", "return __kuid_val(left) == __kuid_val(")]),
    "openat": ("ENOENT", [("fs/namei.c", "if (unlikely(!inode))"),
                          ("fs/namei.c", "if (unlikely(d_is_negative(path.dentry)))")]),
    "unlink": ("ENOENT", [("fs/namei.c", "if (last.name[last.len] || d_is_negative(dentry))"),
                          ("fs/namei.c", "if (d_is_negative(dentry))")]),
    "umount": ("EBUSY", [(NAMESPACE, "if (!propagate_mount_busy(mnt, 2)) {")]),
    "mkdir": ("EEXIST", [("fs/namei.c", "if (d_is_positive(dentry))")]),
    "epoll_ctl": ("EINVAL", [("fs/eventpoll.c", "|| !is_file_epoll(")]),
    "rmdir": ("ENOTEMPTY", [("mm/shmem.c", "if (!simple_empty(dentry))")]),
    "rename": ("EXDEV", [("fs/namei.c", "if (old_path.mnt != new_path.mnt)")]),
}

SLAB = [("mm/failslab.c", "return should_fail_ex(&failslab.attr, s->object_size, flags)"),
        ("mm/slub.c", "if (unlikely(should_failslab(s, flags)))")]
FUNCTION = ("kernel/fail_function.c", "if (should_fail(&fei_fault_attr, 1)) {")

# For each system call: the expected error, and the file and text of each check that may cause it.
# If fail_function injects the fault: also the function that must fail, and its return value.
INJECTED = {
    "eventfd2": ("ENOMEM", [("fs/eventfd.c", "if (!ctx)"), *SLAB]),
    "timer_create": ("EAGAIN", [("kernel/time/posix-timers.c", "if (unlikely(!new_timer))"),
                                ("kernel/time/posix-timers.c", "if (!tmr)"), *SLAB]),
    "timerfd_create": ("ENOMEM", [("fs/timerfd.c", "if (!ctx)"), *SLAB]),
    "getcwd": ("ENOMEM", [("fs/d_path.c", "if (!page)"), *SLAB]),
    "chdir": ("ENOMEM", [("fs/namei.c", "if (unlikely(!result))"), *SLAB]),
    "pipe": ("ENFILE", [("fs/pipe.c", "if (!inode)"), *SLAB]),
    "inotify_init1": ("ENOMEM", [("fs/notify/group.c", "if (!group)"), SLAB[1], FUNCTION],
                      "should_failslab", "0xfffffffffffffff4"),
    "pwrite64": ("EIO", [("mm/filemap.c", "if (unlikely(ret)) {"), FUNCTION],
                 "__filemap_add_folio", "0xfffffffffffffffb"),
    "sysinfo": ("EPERM", [FUNCTION], "__x64_sys_sysinfo", "0xffffffffffffffff"),
    "setpriority": ("EACCES", [FUNCTION], "__x64_sys_setpriority", "0xfffffffffffffff3"),
}

# For at least this fraction of the calls, the first row must name one of the listed checks.
FIRST_WANTED = 18 / 20
# With --alone, for at least this fraction of the calls, row 1, 2 or 3 must name a listed check.
THREE_WANTED = 14 / 20


def lines_of(linux, checks):
    """Return the places of the checks as pairs (file, line). For each check, return the line that
    contains the text, and also the next line."""
    found = set()
    for name, text in checks:
        with open(os.path.join(linux, name), encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                if text in line:
                    found |= {(name, number), (name, number + 1)}
    return found


def reasons(bts, options, name, error, trace):
    """Return the list of reasons, and a flag that is True if the reasons are hypotheses. The list
    begins with the most likely reason. If "bts why" fails, return None and the error."""
    out = subprocess.run([bts, "why", "--json", "--call", name, "--errno", error, *options,
                          trace], capture_output=True, text=True, check=False)
    if out.returncode:
        return None, out.stderr.strip()
    answer = json.loads(out.stdout)
    return answer["reasons"], answer["hypothesis"]


def is_at(reason, places):
    at = reason["at"]
    return any(at.get("line") == line and at.get("file", "").endswith("/" + name)
               for name, line in places)


def text(reason):
    at = reason["at"]
    return f"{at['place']} ({at.get('file', '?')}:{at.get('line', '?')})"


def judge(what, where, bts, options, linux, cases, rows, part):
    """Print and return the result of a test. In a good case, one of the first `rows` rows names a
    check that `cases` lists. At least the fraction `part` of the cases must be good."""
    good = 0
    wanted = math.ceil(part * len(cases))
    for name, (error, checks, *_) in cases.items():
        found, said = reasons(bts, options, name, error, f"{where}/{name}.dat")
        if found is None or said != ("--alone" in options):
            print(f"# {name}: {said if found is None else 'the field hypothesis is wrong'}")
            continue
        if any(is_at(reason, lines_of(linux, checks)) for reason in found[:rows]):
            good += 1
        else:
            print(f"# {name}: {', '.join(text(r) for r in found[:3])}")
    print(f"{'ok' if good >= wanted else 'not ok'} {what}: {good} of {len(cases)}, "
          f"at least {wanted} needed")
    return good >= wanted


def functions_of(vmlinux):
    """Map symbol names to addresses. Leave out names that occur several times."""
    said = subprocess.run(["nm", vmlinux], stdout=subprocess.PIPE, text=True, check=True).stdout
    symbols = [line.split() for line in said.splitlines()]
    times = collections.Counter(name for _, _, name in symbols)
    return {name: int(address, 16) for address, _, name in symbols if times[name] == 1}


def judge_inline(where, bts, options, vmlinux):
    """Check that "bts why" finds the same reasons with --inline as without --inline. With
    --inline, "bts why" must also show the inlined functions that LLVM finds."""
    starts = functions_of(vmlinux)
    rows = []
    wrong = 0
    for name, (error, _) in CHECKS.items():
        less, more = (reasons(bts, [*options, *option], name, error, f"{where}/{name}.dat")[0] or []
                      for option in ([], ["--inline"]))
        plain = [{**row, "in": [f for f in row["in"] if not f.endswith(" [inlined]")]}
                 for row in more]
        if plain != less:
            print(f"# {name}: --inline changes the reasons")
            wrong += 1
        for row in more:
            function, _, offset = row["at"]["place"].rpartition("+")
            if function in starts:
                rows.append((name, starts[function] + int(offset, 16), row["in"]))
    names = addr2line.inlined(vmlinux, [address for _, address, _ in rows])
    for name, address, path in rows:
        own = names[address]
        if [addr2line.plain(f) for f in path[len(path) - len(own):]] != own:
            print(f"# {name}: {address:#x} in {path}, LLVM: {own}")
            wrong += 1
    within = sum(bool(names[address]) for _, address, _ in rows)
    good = not wrong and within
    print(f"{'ok' if good else 'not ok'} 5 --inline: {within} of {len(rows)} places are in inlined "
          "functions")
    return good


def main():
    if sys.argv[1] == "list":
        for name, (_, _, *injected) in {**CHECKS, **INJECTED}.items():
            print(name, *injected)
        return 0
    where, bts, vmlinux, linux = sys.argv[2:]
    options = ["--vmlinux", vmlinux]
    done = [judge(f"{nr} {what}, compared with a successful call: the check is first",
                  where, bts, options, linux, cases, 1, FIRST_WANTED) &
            judge(f"{nr + 1} {what}, with --alone: the check is among the first three",
                  where, bts, [*options, "--alone"], linux, cases, 3, THREE_WANTED)
            for nr, what, cases in ((1, "known checks", CHECKS), (3, "injected faults", INJECTED))]
    done.append(judge_inline(where, bts, options, vmlinux))
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
