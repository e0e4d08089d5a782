#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that bts prints valid JSON and HTML for a hostile trace, and cannot harm a terminal.

    output.py BTS TRACE ODD     print KTAP

ODD (see odd.c) wrote TRACE, TRACE-3 and TRACE-stacks. TRACE-3 contains one more call than TRACE.
In TRACE-stacks, a task switches between call stacks. At one switch, bts guesses the wrong stack. A
later branch shows the error. Check that each command then corrects its output.
"""
import collections
import json
import os
import pty
import shutil
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree

BTS, TRACE, MAKER = sys.argv[1:]
NUMBER = 0
# The tool prints U+FFFD for the invalid byte of a name.
ODD = 'q"\\<i>&\u00fc\ufffd\x1b]0;x\a\x9b'
FAILED = []


def result(good, name):
    global NUMBER
    NUMBER += 1
    print(f'{"" if good else "not "}ok {NUMBER} {name}')
    if not good:
        FAILED.append(name)


def run(*words):
    return subprocess.run([BTS, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout


def objects(*words):
    """Return the JSON objects that a command prints, one per line."""
    out = run(*words)
    done = subprocess.run(['jq', '-c', '.'], input=out, stdout=subprocess.PIPE, check=False) \
        if any(os.access(os.path.join(d, 'jq'), os.X_OK) for d in os.get_exec_path()) else None
    rows = [json.loads(line) for line in out.decode().splitlines()]
    if done and [json.loads(line) for line in done.stdout.decode().splitlines()] != rows:
        raise ValueError('jq reads the output differently')
    return rows


def check_json(name, words, wanted):
    """Check that each line is a JSON object, and that one object contains `wanted`."""
    try:
        rows = objects(*words, TRACE)
        good = any(wanted.items() <= row.items() for row in rows)
        if not good:
            print(f'# {rows[:4]}')
    except ValueError as error:
        print(f'# {error}')
        good = False
    result(good, name)


def on_terminal(*words):
    """Return the bytes that a command sends to a terminal, including errors."""
    seen = bytearray()

    def read(fd):
        data = os.read(fd, 65536)
        seen.extend(data)
        return b''

    with open(os.devnull, 'rb') as null:
        saved = os.dup(0)
        os.dup2(null.fileno(), 0)
        pty.spawn([BTS, *words], read, lambda fd: b'')
        os.dup2(saved, 0)
    return bytes(seen)


def harmless(data):
    """Check that the text has no control characters, C0 or C1, except newlines and tabs."""
    text = data.decode(errors='replace')
    return len(text) > 20 and not [c for c in text if ord(c) < 32 and c not in '\r\n\t'
                                   or 0x7f <= ord(c) < 0xa0]


def page():
    """Check that the page of bts diff is well-formed. HTML tags in names must appear as text."""
    out = run('diff', '--html', '-', TRACE, TRACE.replace('.dat', '-3.dat'))
    try:
        root = xml.etree.ElementTree.fromstring(out)
    except xml.etree.ElementTree.ParseError as error:
        print(f'# {error}')
        return False
    text = ''.join(root.itertext())
    return (harmless(out) and 'calls inner' + shown(ODD) in text and
            'script' not in {e.tag for e in root.iter()} and
            [e.text for e in root.iter('i') if e.text and not e.text.isdigit()] == [])


def graph_park(trace):
    """Check that each call of park() is counted, although bts first guesses a wrong stack."""
    ends = [row for row in objects('replay', '--json', trace) if row.get('return') == 'park']
    wanted = {'calls': len(ends), 'branches': sum(row['branches'] for row in ends)}
    found = [row for row in objects('graph', '--json', 'park', trace) if 'calls' in row]
    print(f'# {wanted}')
    return wanted['calls'] == 7 and any(wanted.items() <= row.items() for row in found)


def nested(trace):
    """Check that the calls on each track of the timeline are nested."""
    tracks = collections.defaultdict(list)
    for event in json.loads(run('dump', '-f', 'chrome', trace))['traceEvents']:
        if event['ph'] == 'X':
            begin, length = (round(1000 * event[key]) for key in ('ts', 'dur'))
            tracks[event['tid']].append((begin, -length))
    for calls in tracks.values():
        ends = []
        for begin, length in sorted(calls):
            while ends and ends[-1] <= begin:
                ends.pop()
            if ends and begin - length > ends[-1]:
                return False
            ends.append(begin - length)
    return len(tracks) == 3


def tui(trace):
    """Run bts tui, quit it with the key q, and return its exit status and its output."""
    seen = bytearray()
    pid, fd = pty.fork()
    if not pid:
        os.execvpe(BTS, [BTS, 'tui', trace], {**os.environ, 'TERM': 'vt100'})
    try:
        while data := os.read(fd, 65536):
            seen.extend(data)
            os.write(fd, b'q')
    except OSError:
        pass
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), bytes(seen)


def flame():
    """Check that a flame graph is well-formed, and shows the name of a function in full."""
    try:
        root = xml.etree.ElementTree.fromstring(run('dump', '-f', 'flame', '-b', TRACE))
    except xml.etree.ElementTree.ParseError as error:
        print(f'# {error}')
        return False
    return [e for e in root.iter() if e.text and e.text.startswith('inner' + shown(ODD))] != []


def names_of_jit(path, began):
    """Make a trace. Return what bts top and bts archive print, and whether `path` is archived."""
    trace = TRACE.replace('.dat', '-jit.dat')
    for old in trace, trace + '.old':
        if os.path.exists(old):
            os.unlink(old)
    info = time.strftime('date: %Y-%m-%d %H:%M:%S +0000\nseconds: 5.000\n', time.gmtime(began))
    subprocess.run([MAKER, trace], check=True, env={
        **os.environ, 'ODD_STACKS': '1', 'ODD_PID': str(os.getpid()), 'ODD_INFO': info,
        'ODD_DUMP': f'/tmp/jit-{os.getpid()}.dump'})
    names = run('top', '-n', '0', trace)
    said = subprocess.run([BTS, 'archive', trace], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, check=False).stderr
    archived = os.path.basename(path) in os.listdir(trace + '.archive')
    subprocess.run(['rm', '-r', trace + '.archive'], check=True)
    return names, said, archived


def check_jit(path, content):
    """Check the names in a JIT compiler's file. Any user can write this file at any time."""
    kind = path.rsplit('.')[-1]
    with open(path, 'xb') as file:
        file.write(content)
    try:
        names, _, archived = names_of_jit(path, time.time() + 100)
        result(b' leaf  ' in names and path.encode() not in names and archived,
               f'a JIT .{kind} file that is older than the trace is used and archived')
        names, said, archived = names_of_jit(path, time.time() - 100)
        result(b' leaf?  ' in names and f'# {path}: may have changed'.encode() in names and
               b'not archived, because the file may have changed' in said and not archived,
               f'a JIT .{kind} file that is newer than the trace is used, but is not archived')
        if os.geteuid():
            result(True, f'a JIT .{kind} file of another user is not used # SKIP not root')
            return
        os.chown(path, 65534, 65534)
        names, said, archived = names_of_jit(path, time.time() + 100)
        result(b'leaf' not in names and f'# {path}: cannot be read'.encode() in names and
               b'belongs to another user' in said and not archived,
               f'a JIT .{kind} file of another user is not used')
    finally:
        os.unlink(path)


def dump():
    """Return a file in the format of perf's jitdump, with the code of leaf()."""
    head = struct.pack('<6I2Q', 0x4a695444, 1, 40, 62, 0, os.getpid(), 0, 0)
    code = b'leaf\0' + 0x100 * b'\x90'
    return head + struct.pack('<2IQ2I4Q', 0, 56 + len(code), 0, os.getpid(), os.getpid(),
                              0x10500, 0x10500, 0x100, 0) + code


def shown(name):
    """Return the form in which HTML pages and flame graphs show a name."""
    return name.replace('\x1b', '\\u001b').replace('\a', '\\u0007').replace('\x9b', '\\u009b')


def refuses(words, other=None, stdin=None):
    """Check that a command refuses to write over its input, and leaves the input unchanged."""
    trace = TRACE + '.copy'
    for path in (trace, trace + '.hard'):
        if os.path.lexists(path):
            os.unlink(path)
    shutil.copyfile(TRACE, trace)
    if other:
        other(trace, trace + '.hard')
    words = [trace if word == 'COPY' else trace + '.hard' if word == 'OTHER' else word
             for word in words]
    with open(trace if stdin else os.devnull, 'rb') as f:
        done = subprocess.run([BTS, *words], stdin=f, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
    with open(trace, 'rb') as copy, open(TRACE, 'rb') as whole:
        good = copy.read() == whole.read()
    good &= done.returncode == 2 and b'because this file is an input' in done.stderr
    if not good:
        print(f'# {words}: {done.returncode} {done.stderr}')
    return good


def overwrites():
    """Check that -o and --html do not overwrite an input, even if a link or stdin leads to it."""
    outputs = [['dump', '-f', name, '--dso', 'x', '-o', 'COPY', TRACE, 'COPY']
               for name in ('profgen', 'autofdo', 'bolt', 'bolt-pa')]
    outputs += [['dump', '-f', name, '-o', 'COPY', 'COPY'] for name in
                ('folded', 'flame', 'callgrind', 'chrome', 'perfetto', 'perf', 'csv', 'json')]
    outputs += [['cover', '-f', name, '-o', 'COPY', TRACE, 'COPY']
                for name in ('lcov', 'drcov', 'pcs')]
    outputs += [['diff', '--html', 'COPY', 'COPY', TRACE],
                ['diff', '--html', 'COPY', TRACE, 'COPY'],
                ['diff', '--html', 'COPY', TRACE, TRACE, '--against', 'COPY'],
                ['dump', '-f', 'csv', '-o', 'COPY', '--vmlinux', 'COPY', TRACE]]
    good = [refuses(words) for words in outputs]
    words = ['dump', '-f', 'csv', '-o', 'OTHER', 'COPY']
    good += [refuses(words, os.symlink), refuses(words, os.link),
             refuses(['dump', '-f', 'csv', '-o', 'COPY', '-'], stdin=True)]
    return all(good)


def keeps_output():
    """Check that bts cover does not truncate its output file if it cannot open the trace."""
    out = TRACE + '.info'
    with open(out, 'w', encoding='utf-8') as f:
        f.write('kept')
    done = subprocess.run([BTS, 'cover', '-f', 'pcs', '-o', out, TRACE + '.none'],
                          stderr=subprocess.DEVNULL, check=False)
    with open(out, encoding='utf-8') as f:
        return done.returncode == 1 and f.read() == 'kept'


def times():
    """Check which branches --time selects. All branches occur after time 0."""
    good = True
    for given, branches in ((',', 4), ('0,', 4), (',1e30', 4), (',0', 0), ('0,0', 0), ('1e30,', 0),
                            ('1e30,1e31', 0), ('nan,', None), (',nan', None), ('inf,', None),
                            (',inf', None), ('-1,', None), ('5,4', None), ('5,4x', None)):
        done = subprocess.run([BTS, 'top', '--json', '--time', given, TRACE],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        seen = None
        if done.returncode != 2:
            seen = json.loads(done.stdout.splitlines()[-1])['bill']['branches']
        if seen != branches:
            print(f'# --time {given}: {seen} branches')
            good = False
    return good


def gdb(*words):
    """Return the messages of the gdb stub, and the reply that lists the libraries."""
    packet = b'qXfer:libraries-svr4:read::0,1000'
    done = subprocess.run([BTS, 'gdb', '--stdio', *words, TRACE.replace('.dat', '-gdb.dat')],
                          input=b'$%s#%02x' % (packet, sum(packet) % 256),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.stderr, done.stdout


def gdb_idle():
    """Check that gdb does not see the idle task, which runs at the end of the trace."""
    good = True
    for words in [], ['-k']:
        said, _ = gdb(*words)
        if b'process 77 (' not in said:
            print(f'# {words}: {said}')
            good = False
    return good


def gdb_library():
    """Check that gdb does not see a library that another library has replaced."""
    _, libraries = gdb('--pid', '77')
    print(f'# {libraries}')
    return libraries.count(b'<library ') == 1 and b'/b.so"' in libraries


def delays():
    """Check that bts top accepts only delays of more than 0 seconds and at most a day."""
    good = True
    for given, status in (('0', 2), ('-1', 2), ('nan', 2), ('inf', 2), ('1e300', 2), ('1s', 2),
                          ('', 2), ('86401', 2), ('86400', 0), ('.2', 0)):
        done = subprocess.run([BTS, 'top', '--delay', given, TRACE], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode != status:
            print(f'# --delay {given}: status {done.returncode}')
            good = False
    return good


def main():
    print('1..33')
    check_json('report', ['report', '--json'], {'task': ODD[:14], 'kind': '?'})
    check_json('replay', ['replay', '--json'], {'call': 'inner' + ODD, 'kind': 'call'})
    check_json('top', ['top', '--json'], {'function': 'inner' + ODD, 'dso': '[anon]'})
    check_json('graph', ['graph', '--json', 'inner*'], {'dso': '[anon]'})
    check_json('info', ['info', '--json'], {'version': 7})
    check_json('dump -f json', ['dump', '-f', 'json', '-i'], {'pid': 77})
    info = objects('info', '--json', TRACE)[0]
    result({'key': 'command', 'value': ODD} in info['recorded'] and
           info['bill']['lost'].keys() == {'DS buffer full', 'rows of switches and mappings'} and
           not [line for line in info['recorded'] if line['key'] == 'rows_lost'],
           'info prints the recorded command and the losses')
    bill = objects('top', '--json', TRACE)[-1]['bill']
    result(bill['lost'].keys() == {'DS buffer full'} and bill['branches'] == 4,
           'bts top names the losses in the same way as bts info')
    rows = objects('check', '--json')
    result(len(rows) > 1 and all('state' in row or 'records_with' in row for row in rows), 'check')
    for words in (['report'], ['replay'], ['top'], ['info'],
                  ['report', '--from', 'no\033such', '-i']):
        result(harmless(on_terminal(*words, TRACE)), 'plain text on a terminal: bts ' + words[0])
    result(page(), 'diff --html: a well-formed page')
    result(b'\033]0;x\a' in run('report', TRACE), 'output to a pipe keeps control characters')
    stacks = TRACE.replace('.dat', '-stacks.dat')
    result(graph_park(stacks), 'graph: each call is counted, even if bts guesses a wrong stack')
    result(nested(stacks), 'dump -f chrome: calls are nested, even if bts guesses a wrong stack')
    status, seen = tui(stacks)
    result(status == 0, 'tui: no error if bts guesses a wrong stack')
    lines = [line for line in seen.split(b'\n') if b'cannot be read' in line]
    result(lines and not [line for line in lines if b'\033]0;' in line],
           'tui: a file name in the summary contains no control sequences')
    result(flame(), 'dump -f flame')
    result(times(), '--time')
    result(delays(), 'top --delay')
    result(gdb_idle(), 'gdb: a trace that ends in an idle task')
    result(gdb_library(), 'gdb: a library that replaces another library')
    result(overwrites(), 'no command writes over its input')
    result(keeps_output(), 'cover: an older output is kept if the trace cannot be opened')
    check_jit(f'/tmp/perf-{os.getpid()}.map', b'10500 100 leaf\n')
    check_jit(f'/tmp/jit-{os.getpid()}.dump', dump())
    sys.exit(1 if FAILED else 0)


main()
