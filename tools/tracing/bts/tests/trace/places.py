#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a program's stacks in bts and in gdb: places.py REPLAY PLACE... -- PROGRAM [ARGS]

The file REPLAY contains the output of `bts replay` for the program. PLACE is FUNCTION:N, the moment
when the program enters the function for the Nth time. At each place, gdb and REPLAY must show the
same frames of the program's own functions.
"""
import re
import subprocess
import sys

from tree import entries, plain


def own_functions(program):
    """Return the functions' names, without parameters. Omit names that begin with an underscore."""
    text = subprocess.run(["nm", "-C", "--defined-only", program], check=True, text=True,
                          capture_output=True).stdout
    names = {plain(line.split(" ", 2)[2]) for line in text.splitlines() if line[17] in "tTwW"}
    return {name for name in names if not name.startswith("_")}


def by_gdb(program, place):
    function, nth = place.rsplit(":", 1)
    commands = ["set print frame-arguments none", f"break *{function}",
                f"ignore 1 {int(nth) - 1}", "handle all nostop noprint pass",
                "handle SIGTRAP SIGINT stop", "run >/dev/null", "bt"]
    run = subprocess.run(["gdb", "-nx", "-batch", *[f"-ex={c}" for c in commands],
                          "--args", *program], text=True, capture_output=True)
    return [plain(name) for name in
            re.findall(r"^#\d+ +(?:0x[0-9a-f]+ in )?(.*?) \(", run.stdout, re.M)]


def by_trace(replay, place):
    """Return the stack at a place, without functions that ended with a jump to another function."""
    function, nth = place.rsplit(":", 1)
    for frames in entries(replay):
        nth = int(nth) - (plain(frames[-1][1]) == function)
        if not nth:
            kept = [frame for frame, inner in zip(frames, frames[1:]) if not inner[2]]
            return [plain(name.replace(" [inlined]", "")) for _, name, _ in kept +
                    [frames[-1]]][::-1]
    return []


def main():
    split = sys.argv.index("--")
    program = sys.argv[split + 1:]
    own = own_functions(program[0])
    bad = False
    for place in sys.argv[2:split]:
        theirs, ours = [[name for name in names if name in own]
                        for names in (by_gdb(program, place), by_trace(sys.argv[1], place))]
        bad |= not theirs or theirs != ours
        print(f"# {program[0]} {place}: gdb {theirs}" + (f", bts {ours}" if theirs != ours else ""))
    return bad


sys.exit(main())
