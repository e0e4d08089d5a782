#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that a profile predicts the directions of branches: profile.py COUNTED PROFILED

Both files are LLVM's intermediate representation of one program, with the weights of branches. The
weights in COUNTED are the counts of an instrumented program. The weights in PROFILED come from a
profile. For at least 95 % of the branches that were executed more than 1000 times, the successor
with the higher weight must be the same in both files.
"""

import re
import sys


def read(path):
    with open(path) as file:
        text = file.read()
    weights = {}
    for name, numbers in re.findall(r'^(!\d+) = !\{!"branch_weights", (.*)\}$', text, re.M):
        weights[name] = [int(n) for n in re.findall(r'i32 (\d+)', numbers)]
    return [weights.get(''.join(re.findall(r'!prof (!\d+)', line)))
            for line in re.findall(r'^  br i1 .*', text, re.M)]


def main():
    counted, profiled = read(sys.argv[1]), read(sys.argv[2])
    hot = same = 0
    if len(counted) != len(profiled):
        sys.exit('# %d and %d branches' % (len(counted), len(profiled)))
    for ours, theirs in zip(profiled, counted):
        if theirs and sum(theirs) > 1000:
            hot += 1
            same += bool(ours) and (ours[0] > ours[1]) == (theirs[0] > theirs[1])
    print('# the profile predicts the more frequent direction of %d of %d branches' % (same, hot))
    sys.exit(hot < 25 or same < 0.95 * hot)


main()
