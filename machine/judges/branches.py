# SPDX-License-Identifier: GPL-2.0
"""Decide which instructions of x86-64 are branches.

A judge knows the addresses of two consecutively executed instructions. The bytes of the first
instruction and the address of the second instruction show whether the CPU branched. This file
shares no code with the emulator.
"""

NONE = 0  # not a branch
STRING = 1  # a string instruction, which may repeat itself, but is not a branch
CONDITIONAL = 2  # a branch, unless the CPU continues at the next instruction in memory
ALWAYS = 3  # always a branch
MAYBE = 4  # a conditional branch to the next instruction; the addresses do not show if it was taken

PREFIXES = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3}
REP = {0xf2, 0xf3}
STRING_OPCODES = {0x6c, 0x6d, 0x6e, 0x6f, 0xa4, 0xa5, 0xa6, 0xa7,
                  0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}
# near call, near and short jmp, near and far ret, iret
ALWAYS_OPCODES = {0xe8, 0xe9, 0xeb, 0xc2, 0xc3, 0xca, 0xcb, 0xcf}
# syscall, sysret, sysenter, sysexit
ALWAYS_0F = {0x05, 0x07, 0x34, 0x35}


def classify(code):
    """Return the kind of the first instruction of `code`, which is 64-bit code."""
    i = 0
    rep = False
    while code[i] in PREFIXES:
        rep = rep or code[i] in REP
        i += 1
    if code[i] & 0xf0 == 0x40:
        i += 1
    opcode = code[i]
    if opcode == 0x0f:
        return classify_0f(code, i + 1)
    if 0x70 <= opcode <= 0x7f or 0xe0 <= opcode <= 0xe3:
        return CONDITIONAL if code[i + 1] else MAYBE
    if opcode in ALWAYS_OPCODES:
        return ALWAYS
    # near and far call and jmp through a register or memory
    if opcode == 0xff and 2 <= code[i + 1] >> 3 & 7 <= 5:
        return ALWAYS
    return STRING if rep and opcode in STRING_OPCODES else NONE


def classify_0f(code, i):
    if 0x80 <= code[i] <= 0x8f:
        return CONDITIONAL if any(code[i + 1:i + 5]) else MAYBE
    return ALWAYS if code[i] in ALWAYS_0F else NONE


def conditional_length(code):
    """Return the length of an instruction of the kind CONDITIONAL."""
    i = 0
    while code[i] in PREFIXES:
        i += 1
    return i + (6 if code[i] == 0x0f else 2)
