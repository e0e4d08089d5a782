#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the inlined functions in the rows of bts report with LLVM's: inlined.py BTS PROGRAM

The trace is PROGRAM.dat. PYTHONPATH must contain tests/lib.
"""
import json
import re
import subprocess
import sys

import addr2line


def main():
    bts, program = sys.argv[1:]
    symbols = subprocess.run(["nm", program], text=True, check=True,
                             capture_output=True).stdout
    starts = {name: int(addr, 16) for addr, name in re.findall(r"^(\w+) [tT] (\S+)", symbols, re.M)}
    report = subprocess.run([bts, "report", "--json", "--inline", "--dso", program,
                             program + ".dat"], text=True, check=True, capture_output=True)
    ours = {}
    for row in map(json.loads, report.stdout.splitlines()):
        for end in ("from", "to") if "from" in row else ():
            name, _, offset = row[end + "_sym"].rpartition("+")
            if name in starts:
                ours[starts[name] + int(offset, 16)] = row[end + "_inlined"]
    theirs = addr2line.inlined(program, ours)
    wrong = {hex(a): (names, theirs[a]) for a, names in ours.items()
             if [addr2line.plain(name) for name in names] != theirs[a] or
             not all(name.endswith(" [inlined]") for name in names)}
    print("#", len(ours), "places of", program, wrong or "")
    # The test program contains two levels of inlined calls.
    return bool(wrong) or max(map(len, ours.values())) < 2


if __name__ == "__main__":
    sys.exit(main())
