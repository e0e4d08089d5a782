#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that bts restore keeps the data that was written before a recording was killed.

    killed.py BTS KILLED DIR     print KTAP

KILLED writes a trace until it is killed. Then bts restores the trace. For each CPU, the restored
rows must be the first rows of this CPU in a whole trace. If KILLED was killed after all chunks were
written, no row may be missing. A later kill must not leave fewer rows than an earlier kill.
"""
import glob
import os
import re
import subprocess
import sys
import time

BTS, KILLED, DIR = sys.argv[1:]
TRACE = os.path.join(DIR, 'killed.dat')
NUMBER = 0
STATUS = 0


def result(good, name):
    global NUMBER, STATUS
    NUMBER += 1
    print(f'{"" if good else "not "}ok {NUMBER} {name}')
    STATUS |= not good


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout.decode(errors='replace')


def rows():
    """Return the mappings, and the branches of each task, without times and task names. A recording
    writes the task names at its end, so a restored trace may lack the names."""
    out = subprocess.run([BTS, 'dump', '-f', 'csv', TRACE], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=False).stdout.splitlines()
    out = [row.split(b',', 2)[2] for row in out[1:]]
    branches = [row for row in out if row.endswith(b',?,0')]
    found = {pid: [row for row in branches if row.startswith(pid)] for pid in (b'77', b'78')}
    return [row for row in out if b'/usr/bin/killed' in row], found


def remove():
    for path in glob.glob(TRACE + '*'):
        os.unlink(path)


def is_prefix(part, whole):
    return all(whole[task][:len(rows)] == rows for task, rows in part.items())


def restored(last):
    """Kill the recording at write number `last`, and restore the trace. Return None on failure."""
    remove()
    status, text = run(KILLED, TRACE, str(last))
    if status != -9 or os.path.exists(TRACE):
        raise ValueError(f'write {last}: status {status}: {text}')
    status, text = run(BTS, 'restore', TRACE)
    if status:
        if 'before it wrote' not in text and 'not the beginning' not in text:
            raise ValueError(f'write {last}: {text}')
        return None
    if glob.glob(TRACE + '.new*'):
        raise ValueError(f'write {last}: files remain')
    told = []
    for words in (['report', '--tail', '1'], ['info']):
        status, said = run(BTS, *words, TRACE)
        if status:
            raise ValueError(f'write {last}: {said}')
        told.append('recorder killed' in said)
    status, said = run(BTS, 'info', '--json', TRACE)
    killed = re.search(r'"key":"killed_at","value":"(\d+)"', said)
    if 'recorder killed' in text and not (killed and time.time() - int(killed[1]) < 60):
        raise ValueError(f'write {last}: no time')
    return *rows(), 'recorder killed' in text, told


def check_all():
    remove()
    writes = int(run(KILLED, TRACE)[1])
    mappings, whole = rows()
    full = sum(map(len, whole.values()))
    print(f'# {writes} writes, {full} branches')
    before, found, ended, sizes = 0, None, 0, set()
    # The last writes only copy the chunks, so testing every fifth of these writes is enough.
    for last in [*range(1, 30), *range(30, writes + 1, 5)]:
        found = restored(last)
        if not found:
            if before:
                raise ValueError(f'write {last}: nothing is left')
            continue
        maps, part, cut, told = found
        if maps != mappings or len(maps) != 2:
            raise ValueError(f'write {last}: {len(maps)} mappings')
        size = sum(map(len, part.values()))
        if size < before or not is_prefix(part, whole):
            raise ValueError(f'write {last}: {size} branches, {before} before')
        if not cut and size != full or told != [cut, cut]:
            raise ValueError(f'write {last}: the summary is wrong')
        ended += not cut
        sizes.add(size)
        before = size
    print(f'# {len(sizes)} different numbers of branches, {ended} complete traces')
    result(len(sizes) > 3 and ended > 5, 'restore: data written before a kill is kept')


def check_messages():
    remove()
    status, text = run(BTS, 'restore', TRACE)
    result(status == 1 and 'nothing to restore' in text,
           'restore: nothing to restore')
    run(KILLED, TRACE, '30')
    status, text = run(KILLED, TRACE)
    result(status == 1 and 'complete its trace with bts restore' in text,
           'record: the files of a killed recording are not overwritten')
    with subprocess.Popen(['flock', TRACE + '.new', 'sh', '-c', 'echo; cat'],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        status, text = run(BTS, 'restore', TRACE)
        other = run(KILLED, TRACE)[1]
        running.communicate()
    result(status == 1 and 'is still running' in text and 'another recording' in other,
           'restore: a recording that is still running')
    os.rename(TRACE + '.new.cpu0', TRACE + '.x')
    os.symlink(TRACE + '.x', TRACE + '.new.cpu0')
    status, text = run(BTS, 'restore', TRACE)
    result(status == 1 and 'killed.dat.new.cpu0' in text, 'restore: a link is not followed')
    remove()


print('1..5')
try:
    check_all()
except ValueError as error:
    print(f'# {error}')
    result(False, 'restore: data written before a kill is kept')
check_messages()
sys.exit(STATUS)
