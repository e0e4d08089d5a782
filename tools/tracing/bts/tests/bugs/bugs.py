#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that bts diff finds randomly chosen bugs.

    bugs.py draw DIR SEED NR PROGRAM    make NR random mutants of PROGRAM from the source in
                                        DIR/tree, and list the runs of the mutants in DIR/runs
    bugs.py judge BTS DIR...            judge the traces that record.sh made, and print KTAP

A mutant has one broken line (see mutate.py), which makes some runs of the program's own tests fail.
bts diff ranks the branches that separate failed runs from passed runs. The broken line counts as
found if one of the highest-ranked branches is in this line or leads to this line.
"""
import collections
import concurrent.futures
import difflib
import hashlib
import itertools
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys

import mutate
from programs import PROGRAMS

PASSED, FAILED = 20, 5
# The maximum number of inputs to choose at random from the tests of a program.
INPUTS = 150
# The maximum CPU time of an unrecorded run in seconds. Recording may make the run 100 times longer.
SECONDS = 0.1
HANGS = 3
# For WANTED * 100% of the mutants, bts diff must name the broken line in its first ROWS rows.
ROWS = 3
WANTED = 0.6
COVERAGE = '-g -O0 --coverage'


def limit():
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def encoded(text):
    return text.encode('utf-8', 'surrogateescape')


def result_of(binary, item):
    """Return the status of a run and hashes of its output, or None if the run takes too long."""
    try:
        done = subprocess.run([binary, *map(encoded, item.args)], input=encoded(item.stdin),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={'LC_ALL': 'C'}, timeout=60, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode == -signal.SIGPROF:
        return None
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    said = done.stderr.replace(binary.encode(), b'program')
    return '%d %s %s' % (status, *(hashlib.sha256(text).hexdigest()[:16]
                                   for text in (done.stdout, said)))


class Drawing:
    """Choose a program's mutants, and their runs, at random."""

    def __init__(self, folder, program, seed):
        self.folder = folder
        self.program = program
        self.rng = random.Random('%s %s' % (seed, program.name))
        self.inputs = []
        self.wanted = []
        self.idle = set()
        self.refused = {}

    def results(self, binary):
        """Return the results for all inputs, or None if too many runs take too long."""
        hangs = 0
        found = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for result in pool.map(lambda item: result_of(binary, item), self.inputs):
                hangs += result is None
                found.append(result)
                if hangs > HANGS:
                    pool.shutdown(cancel_futures=True)
                    return None
        return found

    def prepare(self):
        """Build the program. Keep only inputs with which the program ends quickly, and gives the
        same result twice."""
        self.program.prepare()
        self.program.make_or_exit(COVERAGE)
        self.inputs = self.program.inputs()
        if len(self.inputs) > INPUTS:
            self.inputs = [self.inputs[i] for i in
                           sorted(self.rng.sample(range(len(self.inputs)), INPUTS))]
        for item in self.inputs:
            result_of(self.program.path(), item)
        self.idle = self.program.idle_lines()
        self.program.clean()
        self.program.make_or_exit()
        binary = self.program.path()
        runs = [[result_of(binary, item) for item in self.inputs] for _ in range(2)]
        same = [i for i, result in enumerate(runs[0]) if result and result == runs[1][i]]
        self.inputs = [self.inputs[i] for i in same]
        self.wanted = [runs[0][i] for i in same]
        print('# %s: %d inputs, %d left out' %
              (self.program.name, len(same), len(runs[0]) - len(same)))

    def binary(self, name):
        return os.path.join(self.folder, 'bin', name, self.program.name)

    def refuse(self, why):
        self.refused[why] = self.refused.get(why, 0) + 1

    def text(self, i):
        return '\n'.join([*self.inputs[i].args, self.inputs[i].stdin])

    def choose(self, passed, failed):
        """Choose failed runs at random, and passed runs whose inputs are similar to theirs."""
        failed = sorted(self.rng.sample(failed, FAILED))
        left = set(passed)
        for i in itertools.islice(itertools.cycle(failed), PASSED):
            match = difflib.SequenceMatcher(None, '', self.text(i), False)

            def likeness(j):
                match.set_seq1(self.text(j))
                return match.ratio(), -abs(j - i)

            left.remove(max(left, key=likeness))
        return {'passed': sorted(set(passed) - left), 'failed': failed}

    def attempt(self):
        """Return the indexes of the inputs with which the mutant passes, and of the inputs with
        which it fails. If the mutant is not suitable, return None."""
        if not self.program.make():
            return self.refuse('not compiled')
        results = self.results(self.program.path())
        if not results:
            return self.refuse('endless')
        passed = [i for i, result in enumerate(results) if result == self.wanted[i]]
        failed = [i for i, result in enumerate(results) if result and result != self.wanted[i]]
        if not failed:
            return self.refuse('not noticed')
        if len(passed) < PASSED or len(failed) < FAILED:
            return self.refuse('too few passed' if len(passed) < PASSED else 'too few failed')
        return passed, failed

    def mutant(self, site, number):
        """Make a mutant. Return its description, or None if attempt() refuses the mutant."""
        backup = site.path + '.orig'
        shutil.copy2(site.path, backup)
        mutate.write(site)
        try:
            chosen = self.attempt()
            if not chosen:
                return None
            name = '%s-%d' % (self.program.name, number)
            os.makedirs(os.path.join(self.folder, 'bin', name))
            shutil.copy2(self.program.path(), self.binary(name))
        finally:
            shutil.copyfile(backup, site.path)
        return {
            'name': name, 'program': self.program.name, 'kind': site.kind, 'line': site.line,
            'file': os.path.relpath(site.path, self.program.tree),
            'before': site.before.strip(), 'after': site.after.strip(),
            'inputs': [len(chosen[0]), len(chosen[1])],
            **self.choose(*chosen),
        }

    def draw(self, number):
        """Return `number` mutants, or fewer if no more are found."""
        self.prepare()
        found = []
        for site in mutate.draw(self.program.mutable(), self.rng):
            if len(found) == number:
                break
            if (site.path, site.line) in self.idle:
                self.refuse('not run')
                continue
            mutant = self.mutant(site, len(found) + 1)
            if mutant:
                found.append(mutant)
        print('# %s: refused: %s' % (self.program.name, self.refused))
        return found


def runs_of(mutant):
    """For each run of a mutant, yield the name of the trace and the index of the input."""
    for kind in 'passed', 'failed':
        for nr, item in enumerate(mutant[kind], 1):
            yield '%s.%s.%d' % (mutant['name'], kind, nr), item


def write_runs(folder, drawing, mutants):
    """Write the inputs, and add a line for each run to the list that record.sh reads."""
    for number in sorted({i for m in mutants for _, i in runs_of(m)}):
        path = os.path.join(folder, 'inputs', '%s.%d' % (drawing.program.name, number))
        with open(path, 'wb') as out:
            out.write(encoded(drawing.inputs[number].stdin))
    with open(os.path.join(folder, 'runs'), 'a', encoding='utf-8') as out:
        for mutant in mutants:
            for name, number in runs_of(mutant):
                words = ['./bin/%s/%s' % (mutant['name'], mutant['program']),
                         *drawing.inputs[number].args]
                out.write('run %s inputs/%s.%d %s\n' %
                          (name, mutant['program'], number, shlex.join(words)))


def draw(folder, seed, number, name):
    os.makedirs(os.path.join(folder, 'inputs'))
    drawing = Drawing(folder, PROGRAMS[name](os.path.join(folder, 'tree', name)), seed)
    mutants = drawing.draw(number)
    write_runs(folder, drawing, mutants)
    for mutant in mutants:
        mutant['results'] = {run: drawing.wanted[i] for run, i in runs_of(mutant)}
    with open(os.path.join(folder, 'mutants.json'), 'w', encoding='utf-8') as out:
        json.dump(mutants, out, indent=1)


class Judged:
    """A mutant's traces, and the rows that bts diff prints for these traces."""

    def __init__(self, folder, bts, mutant):
        self.folder = folder
        self.bts = bts
        self.mutant = mutant
        self.category = None
        self.runs = {'passed': [], 'failed': []}
        for name, _ in runs_of(mutant):
            with open(os.path.join(folder, 'results', name), encoding='utf-8') as result:
                same = result.read().strip() == mutant['results'][name]
            self.runs['passed' if same else 'failed'].append(self.trace(name))
        done = subprocess.run([bts, 'diff', '--json', *self.runs['passed'], '--against',
                               *self.runs['failed']], stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            raise SystemExit('bts diff: status %d' % done.returncode)
        self.rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.ranks = [nr for nr, row in enumerate(self.rows, 1) if self.names(row)]

    def trace(self, name):
        return os.path.join(self.folder, 'traces', name + '.dat')

    def is_at(self, file, line):
        return file.endswith('/' + self.mutant['file']) and line == self.mutant['line']

    def names(self, row):
        """Report whether the row names the mutated line."""
        return self.is_at(row.get('file', ''), row.get('line')) or \
            self.is_at(row.get('to_file', ''), row.get('to_line'))

    def ran_in(self, kind):
        """Return how many runs of this kind (passed or failed) executed the line."""
        nr = 0
        for trace in self.runs[kind]:
            done = subprocess.run([self.bts, 'cover', '-f', 'lcov', '--dso', self.mutant['program'],
                                   trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, check=True)
            file = ''
            for line in done.stdout.splitlines():
                if line.startswith('SF:'):
                    file = line[3:]
                elif line.startswith('DA:%d,' % self.mutant['line']) and \
                        self.is_at(file, self.mutant['line']):
                    nr += line.split(',')[1] != '0'
        return nr

    def text(self, row):
        return '%.3f %s:%s > %s:%s' % (
            row['score'], os.path.basename(row.get('file', '?')), row.get('line', '?'),
            os.path.basename(row.get('to_file', '?')), row.get('to_line', '?'))

    def reason(self):
        """Explain why bts diff missed the changed line. Return two strings: reason and numbers."""
        passed, failed = self.ran_in('passed'), self.ran_in('failed')
        ran = 'it ran in %d of %d passed and %d of %d failed runs' % (
            passed, len(self.runs['passed']), failed, len(self.runs['failed']))
        if not self.ranks and not passed + failed:
            return 'no code is left at the line of the deleted statement', ran
        if not self.ranks and passed == len(self.runs['passed']):
            return 'the changed line takes the same branches in all runs; only values differ', ran
        if not self.ranks:
            return 'no branch begins or ends at the line of the mutation', ran
        row = self.rows[self.ranks[0] - 1]
        better = sum(other['score'] > row['score'] for other in self.rows)
        ran = 'row %d, score %.3f, %d rows with higher scores; %s' % (
            self.ranks[0], row['score'], better, ran)
        if better:
            return 'passing runs also take the same branches at the changed line', ran
        return 'other lines have the same score as the changed line, and are listed first', ran

    def show(self):
        m = self.mutant
        found = bool(self.ranks) and self.ranks[0] <= ROWS
        print('# %s: %s in %s:%d: %s' % (m['name'], m['kind'], m['file'], m['line'],
                                         'row %d' % self.ranks[0] if found else 'missed'))
        print('#     - %s\n#     + %s' % (m['before'], m['after']))
        if not found:
            self.category, details = self.reason()
            print('#     %s (%s)' % (self.category, details))
            for row in self.rows[:ROWS]:
                print('#     %s' % self.text(row))
        return found


def judge(bts, folders):
    print('KTAP version 1\n1..1')
    found = number = 0
    missed = collections.Counter()
    for folder in folders:
        with open(os.path.join(folder, 'mutants.json'), encoding='utf-8') as source:
            mutants = [Judged(folder, bts, mutant) for mutant in json.load(source)]
        shown = sum(mutant.show() for mutant in mutants)
        print('# %s: %d of %d' % (os.path.basename(folder), shown, len(mutants)))
        missed.update(mutant.category for mutant in mutants if mutant.category)
        found += shown
        number += len(mutants)
    for category, times in missed.most_common():
        print('# missed %d: %s' % (times, category))
    good = found >= WANTED * number
    print('%s 1 the first %d rows name the broken line of %d of %d mutants, at least %.0f %% needed'
          % ('ok' if good else 'not ok', ROWS, found, number, 100 * WANTED))
    return 0 if good else 1


def main():
    if sys.argv[1] == 'draw':
        return draw(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    return judge(sys.argv[2], sys.argv[3:])


if __name__ == '__main__':
    sys.exit(main())
