#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Test bts why and bts diff with system calls that contain deeply nested function calls.

Usage: deep.py BTS TRACE. BTS is the tool. Write the files TRACE and TRACE.other, and print KTAP.

The second of two system calls fails. They differ only in their innermost function calls. If 50,000
function calls are nested, bts must compare all of them. If 150,000 are nested, bts must report that
it skipped some of them. bts why gets one trace with both system calls. bts diff gets two traces.
"""
import json
import struct
import subprocess
import sys

BTS, TRACE = sys.argv[1:]
PAGE = 4096
PID = 77
BRANCH, EXIT = 18, 19
COMMON = ('\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n'
          '\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n'
          '\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n'
          '\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n')
FIELDS = '\tfield:{0} {1};\toffset:8;\tsize:8;\tsigned:{3};\n' \
         '\tfield:{0} {2};\toffset:16;\tsize:8;\tsigned:{3};\n\nprint fmt: ""\n'
KERNEL = 0xffffffff81000000
ENTRY, CALL, PING, PONG, LEAF = (KERNEL + 0x1000 * i for i in range(5))
NAMES = 'entry_SYSCALL_64', '__x64_sys_kill', 'ping', 'pong', 'leaf'


def form(name, number, fields):
    text = f'name: {name}\nID: {number}\nformat:\n{COMMON}{fields}'.encode()
    return struct.pack('<Q', len(text)) + text


def branch(source, target):
    return struct.pack('<HHiQQ', BRANCH, 0, PID, source, target)


def system_call(depth, result):
    """Return a system call's entries. ping() and pong() call each other. If the system call
    succeeds, the last pong() calls leaf(). The last pong() returns directly to __x64_sys_kill()."""
    chain = [PING, PONG] * (depth // 2)
    rows = [branch(0x401000, ENTRY), branch(ENTRY + 0x10, CALL), branch(CALL + 0x10, PING)]
    rows += [branch(at + 0x10, to) for at, to in zip(chain, chain[1:])]
    if not result:
        rows += [branch(PONG + 0x10, LEAF), branch(LEAF + 0x10, PONG + 0x14)]
    return rows + [branch(PONG + 0x20, CALL + 0x14), branch(CALL + 0x20, ENTRY + 0x14),
                   struct.pack('<HHiqq', EXIT, 0, PID, 62, result),
                   branch(ENTRY + 0x20, 0x401002)]


def pages(rows):
    """Put entries into pages of a ring buffer. All entries have the same size."""
    size = 4 + len(rows[0])
    each = (PAGE - 16) // size
    for i in range(0, len(rows), each):
        some = rows[i:i + each]
        data = b''.join(struct.pack('<I', len(row) // 4) + row for row in some)
        yield struct.pack('<QQ', 1000, len(data)) + data.ljust(PAGE - 16, b'\0')


def write(path, rows):
    """Write a trace of version 6."""
    data = b''.join(pages(rows))
    symbols = ''.join(f'{KERNEL + 0x1000 * i:x} T {name}\n' for i, name in enumerate(NAMES))
    head = (b'\x17\x08\x44tracing6\0\0\x08' + struct.pack('<I', PAGE) +
            b'header_page\0' + bytes(8) + b'header_event\0' + bytes(8) + struct.pack('<I', 1) +
            form('bts_branch', BRANCH, FIELDS.format('unsigned long', 'from', 'to', 0)) +
            struct.pack('<I', 1) + b'raw_syscalls\0' + struct.pack('<I', 1) +
            form('sys_exit', EXIT, FIELDS.format('long', 'id', 'ret', 1)) +
            struct.pack('<I', len(symbols)) + symbols.encode() + bytes(12) +
            struct.pack('<I', 1) + b'flyrecord\0' + struct.pack('<QQ', PAGE, len(data)))
    with open(path, 'wb') as file:
        file.write(head.ljust(PAGE, b'\0') + data)


def run(*words):
    done = subprocess.run([BTS, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    return done.returncode, done.stdout.decode(errors='replace')


def show(good, output):
    if not good:
        print('# status %d\n# %s' % (output[0], output[1].replace('\n', '\n# ')))
    return good


def why(depth, wanted):
    """Check that bts why finds the failed call, and prints `wanted`."""
    write(TRACE, system_call(depth, 0) + system_call(depth, -1))
    text, rows = run('why', TRACE), run('why', '--json', TRACE)
    good = not text[0] and 'kill() failed with EPERM\n' in text[1] and wanted in text[1]
    deep = 'not compared' in wanted
    return show(good, text) & show(json.loads(rows[1]).get('too_deep') is deep, rows)


def diff(depth, wanted):
    """Check that bts diff says whether it compared all calls."""
    other = TRACE + '.other'
    write(TRACE, system_call(depth, 0))
    write(other, system_call(depth, -1))
    rows = run('diff', '--json', '-k', TRACE, other)
    return show(json.loads(rows[1].splitlines()[0]).get('too_deep') is wanted, rows)


def main():
    failed = False
    print('1..4')
    for number, (check, depth, wanted, name) in enumerate((
            (why, 50000, '   1 pong+0x10\n', 'why: a difference in a deeply nested call'),
            (why, 150000, '\n# the innermost calls were not compared\n',
             'why: calls that are nested too deeply'),
            (diff, 50000, False, 'diff: a difference in a deeply nested call'),
            (diff, 150000, True, 'diff: calls that are nested too deeply')), 1):
        good = check(depth, wanted)
        failed |= not good
        print(f'{"" if good else "not "}ok {number} {name}')
    sys.exit(failed)


main()
