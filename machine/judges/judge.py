# SPDX-License-Identifier: GPL-2.0
"""What the judges share: the places of things, and their options."""

import argparse
import os

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("BTS_BUILD", os.path.join(TOP, "build"))
RUN = os.path.join(TOP, "machine/vm/run")


def arguments(description, kernel="kernel"):
    """A parser with --qemu and --kernel, which is build/KERNEL's."""
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
    """The script NAME that a judge runs in the guest."""
    return os.path.join(HERE, "guest", name + ".sh")
