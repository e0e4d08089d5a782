# SPDX-License-Identifier: GPL-2.0
"""The emulator's monitor, for scripts. It speaks QMP: a JSON object in each line.

This module does not use the package qemu.qmp from the emulator's source tree, because the
package does not accept an open socket, and the emulator may be a binary without sources.
"""

import json
import re
import socket
import time

# The bits TR and BTS of DEBUGCTL.
RECORDS = 0xc0


class Lost(Exception):
    """The machine did not start, has ended, or does not answer."""


def emulator_args(where):
    """Return the emulator's arguments for a monitor on the socket `where` (for example "fd=3")."""
    return ["-chardev", f"socket,id=qmp,{where}", "-mon", "chardev=qmp,mode=control"]


def run_args(path):
    """Return arguments that make machine/vm/run open a monitor at `path`."""
    return [word for arg in emulator_args(f"path={path},server=on,wait=off")
            for word in ("--qemu-arg", arg)]


def connect(path, timeout=None):
    """Connect to the monitor at `path` (see run_args). `timeout` limits the wait for an answer."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(timeout)
    sock.connect(path)
    return Monitor(sock)


class Monitor:
    """The monitor at the other end of a socket.

    `panicked` is true if the emulator has reported that the guest panicked. The emulator
    reports nothing before the first command.
    """

    def __init__(self, sock):
        self.socket = sock
        self.file = sock.makefile("r")
        self.greeted = False
        self.panicked = False

    def close(self):
        self.file.close()
        self.socket.close()

    def message(self):
        """Return the next message, or None if the emulator has closed the monitor."""
        line = self.file.readline()
        if not line:
            return None
        message = json.loads(line)
        if message.get("event") == "GUEST_PANICKED":
            self.panicked = True
        return message

    def command(self, name, **arguments):
        if not self.greeted:
            self.greeted = True
            self.message()
            self.command("qmp_capabilities")
        request = json.dumps({"execute": name, "arguments": arguments})
        self.socket.sendall(request.encode() + b"\n")
        while True:
            message = self.message()
            if message is None:
                raise Lost(f"the monitor closed during {name}")
            if "error" in message:
                raise Lost(f"{name}: {message['error']['desc']}")
            if "return" in message:
                return message["return"]

    def human(self, command, cpu=0):
        """Run a human-monitor command for `cpu`, and return its output."""
        return self.command("human-monitor-command", **{
            "command-line": command, "cpu-index": cpu}).replace("\r", "")

    def info_bts(self, name):
        """Return the values of `name` in the output of `info bts`, one for each CPU."""
        return [int(number, 0) for number in
                re.findall(rf"^{name}: (0x\w+|\d+)$", self.human("info bts"), re.M)]

    def records(self, cpu=0):
        """Return whether the CPU was storing its branches when the machine stopped."""
        return self.info_bts("debugctl")[cpu] & RECORDS == RECORDS

    def stop_recording(self, cpu=0):
        """Stop the machine at a moment when the CPU has BTS switched on."""
        for _ in range(100):
            time.sleep(0.05)
            self.command("stop")
            if self.records(cpu):
                return
            self.command("cont")
        raise Lost(f"CPU {cpu} never stores its branches")
