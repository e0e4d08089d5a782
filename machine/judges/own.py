# SPDX-License-Identifier: GPL-2.0
"""Find the tracer's own branches in the emulator's log.

The driver uses the records to find the tracer's own branches. This file uses the log, so the two
results are independent. The tracer's own branches are

 - all branches from the call of one of the following functions to the return from this call:
   the probes of task switches and of mappings, the hook before the return to user mode, and the
   function that the tracer runs on each CPU;
 - all branches from the entry into the NMI handler to the return to the interrupted
   instruction. In this machine, all NMIs come from the tracer.
"""

import collections
import re

from execution import Log

PROBE = "bts_probe_sched_switch"
HOOKS = ("bts_probe_mmap_exec", "__bts_resume_user")
CALLS = ("ds_run",)
NMI = "asm_exc_nmi"


class OwnLog(Log):
    """A log that marks the branches of the tracer itself.

    `inside` is a stack of unfinished NMIs and unfinished calls into the tracer.
    Each entry contains the address at which the traced code continues, and a flag that is true for
    an NMI. `own` has a byte for each taken branch, which is 1 for the tracer's own branches.
    `windows` contains the indexes of three branches: the first call of ds_run() (see CALLS), the
    first branch after ds_run() has returned, and the second call of ds_run().
    """

    def __init__(self, symbols):
        super().__init__()
        self.entries = {symbols[name]: name for name in (PROBE,) + HOOKS + CALLS
                        if name in symbols}
        self.nmi = symbols[NMI]
        self.text = range(symbols["__entry_text_start"], symbols["__entry_text_end"])
        self.inside = []
        self.own = bytearray()
        self.met = collections.Counter()
        self.windows = []

    def take(self, source, target):
        index = len(self.own)
        super().take(source, target)
        name = self.entries.get(target)
        if name and self.at:
            self.enter(name, source + self.at[2], False)
            if name in CALLS and len(self.inside) == 1:
                self.windows.append(index)
        elif target == self.nmi and self.interrupted is not None:
            self.enter(NMI, source, True)
        self.own.append(bool(self.inside))
        if self.inside and self.leaves(source, target):
            self.inside.pop()
            if len(self.windows) == 1 and not self.inside:
                self.windows.append(index + 1)

    def enter(self, name, resume, nmi):
        self.inside.append((resume, nmi))
        self.met[name] += 1

    def leaves(self, source, target):
        resume, nmi = self.inside[-1]
        return target == resume and (not nmi or source in self.text)

    def traced(self):
        """Return a Log of the branches that the trace must have."""
        first, last = self.windows[1:3]
        log = Log()
        for i in range(first, last):
            if self.own[i]:
                continue
            if 2 * i in self.optional:
                log.optional.add(len(log.taken))
            log.taken.extend(self.taken[2 * i:2 * i + 2])
        return log


def read_symbols(path):
    with open(path, encoding="ascii") as file:
        return {name: int(address, 16) for address, name in
                re.findall(r"^(\w+) \w (\S+)", file.read(), re.M)}
