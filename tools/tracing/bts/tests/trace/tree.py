#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compares a call tree with what the program says: tree.py REPLAY TOLD PROGRAM

REPLAY is what `bts replay` prints, TOLD the depths and addresses that the instrumented
PROGRAM (see told.c) prints. Of the tree, the program's functions count: they must be the
same list of depths and names.
"""
import re
import subprocess
import sys

COLUMNS = 49    # of numbers and task


def plain(name):
    return re.sub(r"\(.*", "", name)


def told(path, program):
    names = {}
    for line in subprocess.run(["nm", "-C", program], check=True, text=True,
                               capture_output=True).stdout.splitlines():
        address, kind, name = line.split(" ", 2) if line[0] != " " else ("0", "U", "")
        if kind in "tTwW":
            names[int(address, 16)] = plain(name)
    with open(path) as lines:
        entries = [line.split() for line in lines if re.match(r"\d+ [0-9a-f]+$", line)]
    return [(int(depth), names[int(address, 16)]) for depth, address in entries]


def shown(path, functions):
    entries, stacks, levels = [], {}, []
    for line in open(path):
        text = line[COLUMNS:].rstrip("\n")
        change = re.match(r" *// stack (\d+)$", text)
        if change:
            stacks.setdefault("0", levels)
            levels = stacks.setdefault(change[1], [])
        match = re.match(r"( *)(.*?)\(\)(?: \{|;)", text)
        if not match or match[2].startswith("//"):
            continue
        level = len(match[1])
        while levels and levels[-1][0] >= level:
            levels.pop()
        own = match[2] in functions
        depth = (levels[-1][1] if levels else 0) + own
        levels.append((level, depth))
        if own:
            entries.append((depth, match[2]))
    return entries


def main():
    wanted = told(sys.argv[2], sys.argv[3])
    found = shown(sys.argv[1], {name for _, name in wanted})
    same = 0
    while same < min(len(wanted), len(found)) and wanted[same] == found[same]:
        same += 1
    print(f"# {same} of {len(wanted)} entries are the same, {len(found)} are shown")
    if wanted == found and len(wanted) > 50:
        return 0
    for i in range(max(0, same - 3), same + 5):
        print("#", *[f"{e[i][0]} {e[i][1]}".ljust(24) if i < len(e) else "-".ljust(24)
                     for e in (wanted, found)])
    return 1


sys.exit(main())
