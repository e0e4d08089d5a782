#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check gdb's history against the steps of a single-stepper: history.py STEPS TEXT LEAST [faulted]

STEPS contains the addresses of the steps as 64-bit words. TEXT contains the output of gdb's command
"record instruction-history". The history must equal the last steps. LEAST is the minimum number of
instructions in the history. The stepper stops at each iteration of a REP instruction, which is a
single instruction in the history. "faulted" means that the last instruction of the history ended
the program. The stepper does not count this instruction.
"""

import re
import struct
import sys


def once(addresses):
    return [a for i, a in enumerate(addresses) if not i or addresses[i - 1] != a]


def main():
    with open(sys.argv[1], 'rb') as file:
        data = file.read()
    with open(sys.argv[2]) as file:
        text = file.read()
    steps = once(struct.unpack('<%dQ' % (len(data) // 8), data))
    found = re.findall(r'^\d+\t(?:=>)?\s+(0x[0-9a-f]+)', text, re.M)
    history = once([int(address, 16) for address in found])
    if sys.argv[4:] == ['faulted']:
        history.pop()
    print('# %d of %d instructions' % (len(history), len(steps)))
    if len(history) < int(sys.argv[3]):
        sys.exit('# too few')
    for i in range(1, len(history) + 1):
        if i > len(steps) or history[-i] != steps[-i]:
            sys.exit('# gdb wrongly shows %#x as instruction %d from the end' % (history[-i], i))


main()
