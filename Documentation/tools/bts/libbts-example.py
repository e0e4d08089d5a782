# SPDX-License-Identifier: GPL-2.0-only
"""Print how often each function of a program was called: libbts-example.py TRACE PROGRAM"""
import collections
import sys

import libbts

calls = collections.Counter()


def count(task, frame):
    if frame.kind == libbts.FrameKind.CALL and frame.sym.object == sys.argv[2]:
        calls[frame.sym] += 1


with libbts.open(sys.argv[1]) as trace:
    trace.run(call=count)
    for sym, times in calls.items():
        print(times, sym.name)
