#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a call tree with the program's own report: tree.py REPLAY TOLD [PROGRAM]

REPLAY is the output of `bts replay`. With PROGRAM, TOLD contains the depths and addresses that
the instrumented PROGRAM prints (see told.c). Without PROGRAM, TOLD contains depths and names. The
functions of TOLD must have the same order and depths in REPLAY. Other functions are ignored.
"""
import re
import subprocess
import sys

NUMBERS = 25    # width of the columns with numbers
COLUMNS = 49    # width of all columns before the call tree


def plain(name):
    return re.sub(r"\(.*", "", name)


def told_names(path):
    with open(path) as lines:
        entries = [line.rstrip("\n").split(" ", 1) for line in lines]
    return [(int(depth), name) for depth, name in entries]


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


def entries(path):
    """For each call that `bts replay` prints, yield the frames of the stack, outermost first. A
    frame is (column, name, jumped)."""
    stacks, current = {}, {}
    for line in open(path):
        task, text = line[NUMBERS:COLUMNS], line[COLUMNS:].rstrip("\n")
        change = re.match(r" *// stack (\d+)$", text)
        if change:
            current[task] = change[1]
        frames = stacks.setdefault((task, current.get(task, "0")), [])
        match = re.match(r"( *)(.*?)\(\)(?: \{|;)(.*)", text)
        if not match or match[2].startswith("//"):
            continue
        while frames and frames[-1][0] >= len(match[1]):
            frames.pop()
        frames.append((len(match[1]), match[2], match[3] == "  // jump"))
        yield frames


def shown(path, functions):
    found = []
    for frames in entries(path):
        if frames[-1][1] in functions:
            found.append((sum(name in functions for _, name, _ in frames), frames[-1][1]))
    return found


def main():
    wanted = told(*sys.argv[2:]) if len(sys.argv) > 3 else told_names(sys.argv[2])
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


if __name__ == "__main__":
    sys.exit(main())
