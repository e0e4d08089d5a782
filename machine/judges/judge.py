# SPDX-License-Identifier: GPL-2.0
"""Functions for the judges: directories, options, KTAP results and the exit status."""

import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BTS_BUILD", os.path.join(TOP, "build"))
RUN = os.path.join(TOP, "machine/vm/run")

sys.path.append(os.path.join(TOP, "machine/vm"))
from monitor import Lost  # noqa: E402

RESULTS = []


def arguments(description, kernel="kernel"):
    """Return a parser for the options --qemu and --kernel."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--qemu", metavar="BINARY", help="the emulator",
                        default=os.environ.get("BTS_QEMU") or
                        os.path.join(BUILD, "qemu-build/qemu-system-x86_64"))
    parser.add_argument("--kernel", metavar="IMAGE",
                        help="the unpatched kernel" if kernel == "kernel-plain"
                        else "the patched kernel",
                        default=os.environ.get("BTS_KERNEL") or
                        os.path.join(BUILD, kernel, "arch/x86/boot/bzImage"))
    return parser


def guest(name):
    return os.path.join(HERE, "guest", name + ".sh")


def ok(passed, name, *why):
    """Print a test result. If the test failed, also print `why`, the lines of an explanation."""
    RESULTS.append(passed)
    for line in why if not passed else ():
        print("#", line)
    print("ok" if passed else "not ok", len(RESULTS), name, flush=True)


def run(plan, judge, where=None):
    """Call judge(directory), which must print as many results as `plan` says.

    Return the exit status. The directory is temporary, and is created in `where`. If the machine
    or a command fails, print the directory's file `errors`.
    """
    print(f"KTAP version 1\n1..{plan}", flush=True)
    try:
        with tempfile.TemporaryDirectory(dir=where) as directory:
            judge_or_explain(judge, directory)
    except (Lost, OSError, subprocess.SubprocessError) as error:
        print(f"Bail out! {error}")
        return 125
    return 0 if RESULTS and all(RESULTS) else 1


def judge_or_explain(judge, directory):
    try:
        judge(directory)
    except (Lost, OSError, subprocess.SubprocessError):
        errors = os.path.join(directory, "errors")
        if os.path.exists(errors):
            with open(errors, errors="replace") as file:
                sys.stderr.write(file.read())
        raise
