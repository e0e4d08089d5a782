#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the tool on bad input: damage.py SERVE RUNS PROGRAMS CALLS TRACE [SMALL...]
#
# Truncate TRACE at 1,000 positions. Make RUNS copies (in total) of TRACE and the SMALL traces, and
# damage each copy at random. The last argument must be a trace of the program CALLS. Make
# (RUNS / 10) copies of CALLS, and damage each copy at random. SERVE is serve.c, linked with the
# tool. The tool should be built with SAN=1. No command may crash or hang. If a command fails, it
# must print a message with the name of the file and the reason. The branches that the tool reads
# from a truncated TRACE must be the first branches of each CPU. Commands that read undamaged traces
# must free all memory. The folder PROGRAMS contains two programs that use libbts, also
# built with SAN=1: "ask" reads several traces at once, and "memory" reads a trace while memory
# allocations fail. Print KTAP.

import collections
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading

CUTS = 1000
SEED = 1
COMMANDS = (["report", "--dso", "calls"], ["report", "--no-lines", "--json"], ["top"],
            ["top", "-b", "line"], ["top", "-b", "edge"], ["top", "--json"], ["replay"],
            ["replay", "-F", "fib"], ["replay", "--head", "7"],
            ["graph", "main"], ["info", "--stats"], ["cover", "-f", "lcov", "--dso", "calls"],
            ["cover", "-f", "drcov"], ["cover", "-f", "pcs"], ["dump", "-f", "folded"],
            ["dump", "-f", "flame"], ["dump", "-f", "callgrind"], ["dump", "-f", "chrome"],
            ["dump", "-f", "perfetto"], ["dump", "-f", "bolt"], ["dump", "-f", "json"],
            ["dump", "-f", "csv"], ["diff", "WHOLE"])


class Servers:
    """Processes that run the program built from serve.c, one for each of this script's threads."""

    def __init__(self, serve, directory, leaks):
        self.serve = serve
        self.asan = "exitcode=99:detect_leaks=%d" % leaks
        self.directory = directory
        self.local = threading.local()
        self.started = []

    def get(self):
        if not hasattr(self.local, "server"):
            env = dict(os.environ, ASAN_OPTIONS=self.asan,
                       UBSAN_OPTIONS="exitcode=99:print_stacktrace=1")
            self.local.server = subprocess.Popen(
                [self.serve], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, bufsize=0)
            self.local.out = os.path.join(self.directory,
                                          "out-%d-%d" % (id(self), len(self.started)))
            self.started.append(self.local.server)
        return self.local

    def run(self, args):
        """Run a command. Return (status, output, messages); the status is None after a crash."""
        local = self.get()
        words = [local.out, local.out + ".err"] + args
        local.server.stdin.write(("\t".join(words) + "\n").encode())
        status = int(local.server.stdout.readline())
        with open(local.out, "rb") as f:
            out = f.read()
        with open(local.out + ".err", "rb") as f:
            err = f.read()
        # Like diff(1), bts diff exits with 1 if the traces differ. If bts diff fails, it exits
        # with 3.
        known = {0: 0, 1: 0, 3: 1} if args[0] == "diff" else {0: 0, 1: 1}
        result = known.get(os.waitstatus_to_exitcode(status))
        if result is None or b"Sanitizer" in err or b"runtime error" in err:
            return None, out, b"status %#x\n" % status + err
        return result, out, err

    def end(self):
        for server in self.started:
            server.stdin.close()
            server.wait()


def rows(servers, path):
    """Return the status, the branches of each CPU as (time, task, from, to), and the messages."""
    status, out, err = servers.run(["dump", "-f", "csv", path])
    cpus = collections.defaultdict(list)
    for line in out.decode(errors="replace").splitlines()[1:]:
        field = line.split(",")
        if len(field) == 10 and field[4].startswith("0x"):
            cpus[field[3]].append((field[0], field[2], field[4], field[6]))
    return status, cpus, err


def verdict(what, status, err):
    """Return an error message, or None. A command that fails must print a line
    "bts: what: which file: why"."""
    text = err.decode(errors="replace")
    if status is None:
        return "%s: crashed or timed out\n%s" % (what, text)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    if status and not any(line.startswith("bts: ") and line.count(": ") >= 2 for line in lines):
        return "%s: no message" % what
    return None


def cut(servers, data, whole, size):
    path = os.path.join(servers.directory, "cut-%d.dat" % size)
    with open(path, "wb") as f:
        f.write(data[:size])
    status, cpus, err = rows(servers, path)
    os.unlink(path)
    wrong = verdict("cut at %d" % size, status, err)
    # If the cut has removed the numbers of the CPUs, bts numbers the CPUs from 0, and fails. So if
    # bts fails, compare the Nth CPU of the truncated trace with the Nth CPU of the whole trace.
    for i, (cpu, shown) in enumerate(sorted(cpus.items())):
        other = whole.get(cpu) if status == 0 else sorted(whole.items())[i][1]
        if not wrong and (other is None or shown != other[:len(shown)]):
            wrong = "cut at %d: the first branches of CPU %s differ from TRACE" % (size, cpu)
    return wrong


def damaged(data, number):
    """Return a copy of `data` with random changes. The changes depend only on `number`."""
    rng = random.Random(SEED * 1000003 + number)
    bad = bytearray(data)
    for _ in range(rng.choice((1, 1, 4, 16))):
        at = rng.randrange(len(bad)) if rng.random() < .8 else rng.randrange(4096)
        kind = rng.randrange(4)
        if kind == 0:
            bad[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            bad[at:at + 8] = bytes(rng.randrange(256) for _ in range(8))
        elif kind == 2:
            bad[at:at + 4] = rng.choice((b"\xff" * 4, b"\0" * 4, b"\0\0\0\x80"))
        else:
            length = rng.randrange(1, 64)
            bad[at:at + length] = b"\xff" * length
    return bad


def command(traces, number):
    return [traces[0] if word == "WHOLE" else word for word in COMMANDS[number % len(COMMANDS)]]


def damage(servers, traces, contents, number):
    """Run a command on a damaged trace. `number` determines the command, the trace and
    the damage."""
    path = os.path.join(servers.directory, "bad-%d.dat" % number)
    with open(path, "wb") as f:
        f.write(damaged(contents[number // len(COMMANDS) % len(contents)], number))
    args = command(traces, number)
    status, _, err = servers.run(args + [path])
    os.unlink(path)
    return verdict("run %d (%s)" % (number, " ".join(args)), status, err)


def with_program(servers, trace, calls, data, args, name):
    """Put `data` into the trace's archive, as the contents of the file `calls`. Run a command."""
    path = os.path.join(servers.directory, name + ".dat")
    os.symlink(os.path.abspath(trace), path)
    program = path + ".archive/root" + calls
    os.makedirs(os.path.dirname(program))
    with open(program, "wb") as f:
        f.write(data)
    result = servers.run(args + [path])
    shutil.rmtree(path + ".archive")
    os.unlink(path)
    return result


def damage_program(servers, trace, calls, data, number):
    args = command([trace], number)
    status, _, err = with_program(servers, trace, calls, damaged(data, number), args,
                                  "program-%d" % number)
    return verdict("program %d (%s)" % (number, " ".join(args)), status, err)


def whole_program(servers, trace, calls, data):
    """Check that bts reads the undamaged program, and does not mark names as unproven ("fib?")."""
    _, out, err = with_program(servers, trace, calls, data, ["top", "-n", "0"], "whole")
    if b" fib  (calls)" not in out:
        return "bts did not read the program in the archive: %s" % err.decode(errors="replace")
    return None


def pipe_instead(servers, trace, calls):
    """Put a FIFO in place of the program. bts must not wait when it opens the FIFO."""
    with open(trace, "rb") as f:
        data = f.read()
    program = calls.encode()
    fifo = os.path.join(servers.directory, "").encode().ljust(len(program), b"f")
    path = os.path.join(servers.directory, "pipe.dat")
    with open(path, "wb") as f:
        f.write(data.replace(program + b"\0", fifo + b"\0"))
    os.mkfifo(fifo)
    status, out, err = servers.run(["report", path])
    if fifo not in out:
        return "pipe: not in the trace"
    return verdict("pipe", status, err)


def leak(servers, traces, args):
    """Check that a command frees all memory after it has read an undamaged trace."""
    status, _, err = servers.run(args + [traces[0]])
    return verdict(" ".join(args), status, err)


def library(program, traces, leaks):
    """Run a program that checks the results of libbts."""
    env = dict(os.environ, ASAN_OPTIONS="detect_leaks=%d" % leaks,
               UBSAN_OPTIONS="print_stacktrace=1")
    done = subprocess.run([program] + traces, env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.stdout.decode(errors="replace") if done.returncode else None


class Results:
    def __init__(self, nr):
        self.nr = 0
        self.failed = False
        print("TAP version 13\n1..%d" % nr, flush=True)

    def add(self, name, errors):
        bad = [e for e in errors if e]
        self.nr += 1
        self.failed |= bool(bad)
        for e in bad[:5]:
            print("# " + e.replace("\n", "\n# "))
        print("%s %d %s" % ("not ok" if bad else "ok", self.nr, name), flush=True)


def main():
    serve, runs, programs, calls = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    traces = sys.argv[5:]
    with open(calls, "rb") as f:
        program = f.read()
    contents = []
    for trace in traces:
        with open(trace, "rb") as f:
            contents.append(f.read())
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    servers = Servers(serve, tempfile.mkdtemp(dir=memory), False)
    leak_servers = Servers(serve, servers.directory, True)
    results = Results(8)
    status, whole, err = rows(servers, traces[0])
    results.add("the whole trace is read",
                [None if status == 0 and whole else err.decode(errors="replace") or "no rows"])
    sizes = sorted({len(contents[0]) * i // CUTS for i in range(CUTS)})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results.add("cut at %d places" % len(sizes),
                    pool.map(lambda s: cut(servers, contents[0], whole, s), sizes))
        results.add("the trace is damaged in %d ways" % runs,
                    pool.map(lambda n: damage(servers, traces, contents, n), range(runs)))
        results.add("the traced program is damaged in %d ways" % (runs // 10),
                    [pool.submit(whole_program, servers, traces[-1], calls, program).result()] +
                    list(pool.map(lambda n: damage_program(servers, traces[-1], calls, program, n),
                                  range(runs // 10))))
        results.add("a program that was replaced by a FIFO",
                    [pool.submit(pipe_instead, servers, traces[-1], calls).result()])
        results.add("no command leaks memory",
                    pool.map(lambda n: leak(leak_servers, traces, command(traces, n)),
                             range(len(COMMANDS))))
    results.add("libbts gives the same answers in several threads",
                [library(os.path.join(programs, "ask"), 2 * traces, 1)])
    results.add("libbts returns an error if an allocation fails",
                [library(os.path.join(programs, "memory"), traces[1:2], 0)])
    servers.end()
    leak_servers.end()
    shutil.rmtree(servers.directory)
    sys.exit(results.failed)


if __name__ == "__main__":
    main()
