#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the instructions of each function in two profiles: flat.py OURS OBJECT THEIRS...

OURS is the output of `bts top --json -n 0`. THEIRS are the files of `callgrind --dump-instr=yes`,
one for each process. Without symbols, the profiles disagree about where a function begins. So
for each function that bts knows, flat.py adds up callgrind's counts of all instructions up to the
next function. Only .text is compared, because callgrind assigns no object to the stubs
of the PLT. callgrind counts each iteration of a REP instruction, but BTS cannot see iterations.
After the last iteration, the CPU executes the next instruction once. So flat.py reduces the count
of a REP instruction to the count of the next instruction.

The first line of the output has four numbers: the number of the object's functions that have equal
counts, the number of all functions of the object, the sum of the differences, and the sum of
callgrind's counts. The largest differences follow.
"""
import bisect
import collections
import json
import os
import re
import subprocess
import sys

from arcs import plain


def output(*command):
    return subprocess.run(command, text=True, check=False, capture_output=True).stdout.splitlines()


def symbols(path):
    """Map function names to addresses."""
    lines = output("nm", "-C", path) + output("nm", "-C", "-D", path)
    return {plain(line[19:]): int(line[:16], 16) for line in lines
            if line[0] != " " and line[17:18] in set("tTwWiuU")}


def text(path):
    """Return the first address of .text, and the first address after .text."""
    row = re.search(r" \.text +\S+ +(\w+) \w+ (\w+)", "\n".join(output("readelf", "-SW", path)))
    return int(row[1], 16), int(row[1], 16) + int(row[2], 16)


def ours_of(path, wanted, names):
    counts = collections.Counter()
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if row.get("dso") == wanted:
            address = re.match(r"\[.*\+0x([0-9a-f]+)\]$", row["function"])
            address = int(address[1], 16) if address else names.get(plain(row["function"]), 0)
            counts[address] += row["instructions"]
    return counts


def theirs_of(paths, wanted):
    """Count how often each instruction of the object was executed."""
    counts = collections.Counter()
    for path in paths:
        own = called = None
        for line in open(path, errors="replace"):
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                own = os.path.basename(value)
            elif key == "calls":
                called = True
            elif line.startswith("0x"):
                if own == wanted and not called:
                    address, _, cost = line.split()[:3]
                    counts[int(address, 16)] += int(cost)
                called = False
    return counts


def iterations(path, singles, begin, end):
    """Return how often REP instructions in [begin, end) were repeated."""
    repeated = 0
    rep = None
    for line in output("objdump", "-d", "--no-show-raw-insn", f"--start-address={begin}",
                       f"--stop-address={end}", path):
        row = re.match(r" *([0-9a-f]+):\t(\w+ \w+)?", line)
        if row and rep:
            repeated += max(singles[rep] - singles[int(row[1], 16)], 0)
        if row:
            rep = int(row[1], 16) if re.match("rep", row[2] or "") else None
    return repeated


def main():
    path = os.path.realpath(sys.argv[2])
    wanted = os.path.basename(path)
    names, (begin, end) = symbols(path), text(path)
    ours = ours_of(sys.argv[1], wanted, names)
    ours = {address: n for address, n in ours.items() if begin <= address < end}
    starts = sorted({begin, *ours, *names.values(), end})
    theirs = collections.Counter(dict.fromkeys(ours, 0))
    singles = theirs_of(sys.argv[3:], wanted)
    for address, count in singles.items():
        if begin <= address < end:
            theirs[starts[bisect.bisect(starts, address) - 1]] += count
    for f in theirs:
        if theirs[f] > ours.get(f, 0):
            theirs[f] -= iterations(path, singles, f, starts[bisect.bisect(starts, f)])
    wrong = {f: theirs[f] - ours.get(f, 0) for f in theirs if theirs[f] != ours.get(f, 0)}
    print(len(theirs) - len(wrong), len(theirs), sum(map(abs, wrong.values())),
          sum(theirs.values()))
    back = {address: name for name, address in names.items()}
    for f in sorted(wrong, key=lambda f: -abs(wrong[f]))[:12]:
        print("#", back.get(f, hex(f)), "callgrind", theirs[f], "bts", ours.get(f, 0))


main()
