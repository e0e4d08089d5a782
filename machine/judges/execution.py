# SPDX-License-Identifier: GPL-2.0
"""Derive the branches of the CPU from the emulator's log of executed instructions.

The log contains four kinds of lines:
    Trace:     The CPU is about to execute this instruction.
    Stopped:   The CPU did not execute the instruction of the last Trace line.
    in_asm:    The line contains the bytes of the instruction that was just translated.
    int:       An exception or interrupt is delivered. The line contains the interrupted IP.

The log does not depend on the Debug Store, so a judge can check the records against the log.
"""

import array
import os
import re
import subprocess
import threading

import branches
from judge import RUN
from monitor import Lost, connect, run_args

TRACE = re.compile(rb"Trace \d+: (0x[0-9a-f]+) \[[0-9a-f]+/([0-9a-f]+)/")
INTERRUPT = re.compile(rb" *\d+: v=[0-9a-f]+ e=[0-9a-f]+ i=\d cpl=\d "
                       rb"IP=[0-9a-f]+:([0-9a-f]+) ")
# The bytes of an instruction follow its address if the emulator has a disassembler. Otherwise the
# bytes are on a line that begins with OBJD-T.
IN_ASM = re.compile(rb"(?:OBJD-T: |0x[0-9a-f]+: +)([0-9a-f]{2}(?: ?[0-9a-f]{2})*)")


class Log:
    """A log of executed instructions, and the branches derived from its lines.

    `at` is the instruction of the latest Trace line: (pc, kind, length). After a Stopped line or
    an interrupt, `at` is None until the next Trace line. Between an interrupt and the first
    instruction of its handler, `interrupted` is the interrupted IP, and otherwise None.
    """

    def __init__(self):
        self.taken = array.array("Q")
        self.optional = set()
        self.at = None
        self.interrupted = None
        self.translated = None  # the bytes of an in_asm line, until the next Trace line
        self.blocks = {}  # maps a block's host address to (kind, length)
        self.lines = {}  # maps a Trace line to (pc, kind, length)
        self.lines_of = {}  # maps a block's host address to its Trace lines
        self.unexplained = []
        self.instructions = 0
        self.interrupts = 0

    def feed(self, line):
        known = self.lines.get(line) if self.translated is None else None
        if known is not None:
            self.execute(known)
        elif line.startswith(b"Trace"):
            self.trace(line)
        elif line.startswith(b"Stopped"):
            self.at = None
        elif line.startswith((b"OBJD-T", b"0x")):
            self.in_asm(line)
        elif b": v=" in line:
            self.interrupt(line)

    def in_asm(self, line):
        match = IN_ASM.match(line)
        if match:
            self.translated = bytes.fromhex(match.group(1).decode())

    def trace(self, line):
        match = TRACE.match(line)
        block, pc = match.group(1), int(match.group(2), 16)
        if self.translated is not None:
            self.claim(block)
        kind, length = self.blocks.get(block, (None, 0))
        if kind is None:
            self.unexplained.append(f"{pc:#x}: its bytes were never logged")
            kind = branches.NONE
        known = (pc, kind, length)
        self.lines[line] = known
        self.lines_of.setdefault(block, []).append(line)
        self.execute(known)

    def claim(self, block):
        """Store under `block` the kind and length of the instruction that was just translated."""
        code = self.translated
        self.translated = None
        self.blocks[block] = (branches.classify(code + bytes(8)), len(code))
        for line in self.lines_of.pop(block, ()):
            self.lines.pop(line, None)

    def execute(self, known):
        self.instructions += 1
        self.arrive(known[0])
        self.at = known

    def interrupt(self, line):
        ip = int(INTERRUPT.match(line).group(1), 16)
        self.interrupts += 1
        # If the last logged instruction is the interrupted instruction, the CPU did not complete
        # this instruction.
        if self.at is None or self.at[0] != ip:
            self.arrive(ip)
        self.at = None
        self.interrupted = ip

    def arrive(self, pc):
        """Record that the CPU has reached `pc`."""
        if self.interrupted is not None:
            self.take(self.interrupted, pc)
            self.interrupted = None
            return
        if self.at is None:
            return
        here, kind, length = self.at
        if kind == branches.ALWAYS:
            self.take(here, pc)
        elif pc == here + length:
            if kind == branches.MAYBE:
                self.optional.add(len(self.taken))
                self.take(here, pc)
        elif kind in (branches.CONDITIONAL, branches.MAYBE):
            self.take(here, pc)
        # If the CPU repeats or restarts an instruction, its address appears again in the log.
        elif pc != here:
            self.unexplained.append(f"{here:#x} to {pc:#x} is not a branch")

    def take(self, source, target):
        self.taken.append(source)
        self.taken.append(target)


def boot(options, directory, ready, *words):
    """Start machine/vm/run with `words`, and wait until a line of the guest begins with `ready`.

    Return the process, the monitor, and the match of `ready`.
    """
    path = os.path.join(directory, "monitor")
    command = [
        RUN, "--icount", "--mem", "768", "--timeout", str(options.timeout),
        "--append", "nokaslr nolapic_timer", "--kernel", options.kernel,
        "--qemu", options.qemu, "--console", os.path.join(directory, "console"),
        *run_args(path), *words,
    ]
    with open(os.path.join(directory, "errors"), "wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=errors)
    for line in process.stdout:
        match = re.match(ready, line)
        if match:
            return process, connect(path), match
    raise Lost(f"machine/vm/run ended with status {process.wait()}")


def follow(monitor, fifo, log, enough, begun=None):
    """Feed the emulator's log to `log`, and stop the machine when `enough(log)` is true.

    Switch the log on, let the machine continue, and then call `begun`.
    """
    stopper = None
    monitor.human("singlestep on")
    # The emulator's open() returns only when the fifo has a reader. To end the log, make the
    # emulator open another log file: it then closes the fifo.
    opener = threading.Thread(target=lambda: (
        monitor.human(f"logfile {fifo}"), monitor.human("log exec,int,in_asm,nochain")))
    opener.start()
    with open(fifo, "rb", buffering=1 << 20) as lines:
        opener.join()
        monitor.command("cont")
        if begun:
            begun()
        for line in lines:
            log.feed(line)
            if stopper is None and enough(log):
                stopper = threading.Thread(target=lambda: (
                    monitor.command("stop"), monitor.human("log none"),
                    monitor.human("logfile /dev/null")))
                stopper.start()
    if stopper is None:
        raise Lost("the log ended early")
    stopper.join()
    rip = re.search(r"RIP=([0-9a-f]+)", monitor.human("info registers"))[1]
    log.arrive(int(rip, 16))


def compare(log, got):
    """Return the first difference between the log's branches and `got`, or None."""
    taken = log.taken
    if not log.optional and taken == got:
        return None
    i = j = 0
    while i < len(taken) or j < len(got):
        if taken[i:i + 2] == got[j:j + 2]:
            i, j = i + 2, j + 2
        elif i in log.optional:
            i += 2
        else:
            return (f"record {j // 2} of {len(got) // 2} is {pair(got, j)}, the log's "
                    f"branch {i // 2} of {len(taken) // 2} is {pair(taken, i)}")
    return None


def pair(words, i):
    return f"{words[i]:#x} -> {words[i + 1]:#x}" if i < len(words) else "none"
