#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Bad input: damage.py BTS TRACE [CUTS] [RUNS] [SEED]
#
# The trace cut at CUTS places, then damaged at random RUNS times. BTS should be built with
# SAN=1. Each time it must end by itself with 0 or 1, with a message of one line if with 1.
# Of a trace that is cut, what is shown must be the beginning of what the whole trace has,
# on each CPU. KTAP.

import collections
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile

COMMANDS = (["report", "--no-lines"], ["top"], ["replay"], ["dump", "-f", "folded"],
            ["dump", "-f", "chrome"], ["cover", "-f", "pcs"], ["graph", "main"], ["info"],
            ["dump", "-f", "flame"], ["dump", "-f", "perfetto"])


def run(bts, args, path):
    """Status, output and messages; the status is None if a sanitizer has spoken."""
    env = dict(os.environ, ASAN_OPTIONS="exitcode=99:detect_leaks=0",
               UBSAN_OPTIONS="exitcode=99:print_stacktrace=1")
    done = subprocess.run([bts] + args + [path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120, env=env, check=False)
    bad = done.returncode not in (0, 1) or b"Sanitizer" in done.stderr
    return None if bad else done.returncode, done.stdout, done.stderr


def rows(bts, path):
    """What is shown, by CPU: time, task, from, to."""
    status, out, err = run(bts, ["dump", "-f", "csv"], path)
    cpus = collections.defaultdict(list)
    for line in out.decode(errors="replace").splitlines()[1:]:
        field = line.split(",")
        if len(field) == 10 and field[4].startswith("0x"):
            cpus[field[3]].append((field[0], field[2], field[4], field[6]))
    return status, cpus, err


def spoken(status, err):
    """A failure has one line that says what, of which file, and why."""
    lines = [l for l in err.decode(errors="replace").splitlines() if not l.startswith("#")]
    return status == 0 or any(l.startswith("bts: ") and l.count(": ") >= 2 for l in lines)


def cut(bts, data, whole, size, directory):
    path = os.path.join(directory, "cut-%d.dat" % size)
    with open(path, "wb") as f:
        f.write(data[:size])
    try:
        status, cpus, err = rows(bts, path)
        if status is None:
            return "cut at %d: status or sanitizer\n%s" % (size, err.decode(errors="replace"))
        if not spoken(status, err):
            return "cut at %d: no message" % size
        # A cut trace has lost the names of its CPUs: these are counted.
        for i, (cpu, shown) in enumerate(sorted(cpus.items())):
            other = whole.get(cpu) if status == 0 else sorted(whole.items())[i][1]
            if other is None or shown != other[:len(shown)]:
                return "cut at %d: CPU %s is not a beginning" % (size, cpu)
    finally:
        os.unlink(path)
    return None


def damage(bts, data, number, seed, directory):
    rng = random.Random(seed * 1000003 + number)
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
    path = os.path.join(directory, "bad-%d.dat" % number)
    with open(path, "wb") as f:
        f.write(bad)
    args = COMMANDS[number % len(COMMANDS)]
    try:
        status, _, err = run(bts, args, path)
    except subprocess.TimeoutExpired:
        return "run %d (%s): does not end" % (number, args[0])
    finally:
        os.unlink(path)
    if status is None:
        return "run %d (%s): status or sanitizer\n%s" % (number, args[0],
                                                         err.decode(errors="replace"))
    return None if spoken(status, err) else "run %d (%s): no message" % (number, args[0])


def main():
    bts, trace = sys.argv[1:3]
    cuts, runs, seed = (int(n) for n in (sys.argv[3:] + ["1000", "1000", "1"][len(sys.argv) - 3:]))
    with open(trace, "rb") as f:
        data = f.read()
    directory = tempfile.mkdtemp()
    status, whole, _ = rows(bts, trace)
    print("TAP version 13\n1..3")
    print("%s 1 the whole trace is read" % ("ok" if status == 0 and whole else "not ok"))
    failed = status != 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sizes = sorted({len(data) * i // cuts for i in range(cuts)})
        for number, name, errors in (
                (2, "cut at %d places" % len(sizes),
                 pool.map(lambda s: cut(bts, data, whole, s, directory), sizes)),
                (3, "damaged %d times" % runs,
                 pool.map(lambda n: damage(bts, data, n, seed, directory), range(runs)))):
            bad = [e for e in errors if e]
            for e in bad[:5]:
                print("# " + e.replace("\n", "\n# "))
            print("%s %d %s" % ("not ok" if bad else "ok", number, name))
            failed |= bool(bad)
    shutil.rmtree(directory)
    sys.exit(failed)


if __name__ == "__main__":
    main()
