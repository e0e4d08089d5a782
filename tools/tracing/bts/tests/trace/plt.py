#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the names of stubs with objdump's: plt.py BTS PROGRAM

The trace is PROGRAM.dat. For each address of a stub, bts and objdump must print the same name. With
IBT, the first call of a function leads from the named stub to a second stub, which binds the
function. objdump does not name the second stub.
"""
import csv
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=False, text=True, capture_output=True).stdout


def main():
    bts, program = sys.argv[1:]
    sections = [word for name in (".plt", ".plt.sec", ".plt.got") for word in ("-j", name)]
    stubs = {int(address, 16): name + "@plt+0x0" for address, name in re.findall(
        "^([0-9a-f]+) <(.*)@plt>:$", output("objdump", "-d", *sections, program), re.M)}
    main_at = int(re.search("^(.*) T main$", output("nm", program), re.M)[1], 16)
    text = output(bts, "dump", "-f", "csv", program + ".dat")
    rows = [row for row in csv.reader(text.splitlines()) if row[6].startswith("0x")]
    bias = next(int(row[6], 16) for row in rows if row[7] == "main+0x0") - main_at
    named = {(int(row[6], 16) - bias, row[7]) for row in rows if int(row[6], 16) - bias in stubs}
    if program == "plt-ibt":
        lazy = {row[7] for row in rows if row[5] == "puts@plt+0x4" and row[7] == "puts@plt+0x0"}
    else:
        lazy = {row[7] for row in rows if row[5].startswith("puts@plt+") and row[7] == "[plt]+0x0"}
    wrong = [stub for stub in named if stubs[stub[0]] != stub[1]]
    wanted = {"abs@plt+0x0", "puts@plt+0x0"}
    if program != "plt-lld":
        wanted.add("__cxa_finalize@plt+0x0")
    print("#", program, len(named), "of", len(stubs), "stubs, lazy:", lazy, "wrong:", wrong)
    return bool(wrong) or not lazy or not wanted <= {name for _, name in named}


sys.exit(main())
