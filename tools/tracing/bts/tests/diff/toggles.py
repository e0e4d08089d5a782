#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check that bts diff finds exactly the differences that were made.

    toggles.py list RUNS EQUAL PROGRAM...   print a list for record.sh: RUNS runs of each PROGRAM.
                                            Of these, the first EQUAL runs get the same argument.
    toggles.py judge DIR BTS PAIRS [STEPS]  compare PAIRS pairs of the traces in DIR, and print
                                            KTAP. STEPS is the single-stepping program.

In a program's source, "toggle N" marks the line whose branch depends on bit N of the argument. If
bit N is different in two runs, the line is toggled, and the runs must differ at this line. At all
other lines, the runs must not differ.

As a second check, GNU diff compares the addresses of all executed instructions, which steps.c found
by single-stepping the program. The branch of each difference (of bts diff) must be in a hunk (of
GNU diff) or right before it. GNU diff may split a difference into several hunks. But if bts diff
finds that the runs meet again between two hunks, the second hunk must belong to another difference.

For each pair, page.py checks the HTML page of bts diff. The page must contain each difference that
the text output shows, and the source line of each difference.

PYTHONPATH must contain tests/lib.
"""
import glob
import itertools
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree

import page

import addr2line

SOURCES = os.path.dirname(os.path.abspath(__file__))
SEED = 25
# The number of pairs of runs to single-step. Single-stepping a run may take seconds.
STEPPED_PAIRS = 12
# The number of inlined functions that bts diff --inline has shown for each program.
INLINED = {}


def source_of(program):
    for ending in ('.c', '.cc', '.rs'):
        path = os.path.join(SOURCES, program.split('-')[0] + ending)
        if program.split('-')[1].startswith(ending[1:] + '_') and os.path.exists(path):
            return path
    sys.exit('%s: no source' % program)


def toggles_of(program):
    with open(source_of(program), encoding='utf-8') as source:
        lines = [(int(m.group(1)), nr) for nr, line in enumerate(source, 1)
                 for m in re.finditer(r'toggle (\d+)', line) if 'toggle N' not in line]
    return dict(lines)


def make_list(nr_runs, nr_equal, programs):
    rng = random.Random(SEED)
    for program in programs:
        nr = len(toggles_of(program))
        masks = [rng.getrandbits(nr) for _ in range(nr_runs - nr_equal + 1)]
        for i, mask in enumerate([masks[0]] * (nr_equal - 1) + masks):
            text = ''.join(str(mask >> bit & 1) for bit in range(16))
            print('%s.%d.%s %s %s' % (program, i, text, program, text))


def compare(bts, a, b, *options):
    """Return pairs (thread number, difference), or (number, None) if one run lacks the thread."""
    done = subprocess.run([bts, 'diff', '--json', *options, a, b], stdout=subprocess.PIPE,
                          check=False)
    if done.returncode not in (0, 1):
        sys.exit('bts diff: status %d' % done.returncode)
    found = []
    tasks = [json.loads(line) for line in done.stdout.splitlines()]
    tasks.sort(key=lambda task: (task['a'] or task['b'])['pid'])
    for nr, task in enumerate(tasks):
        if not task['a'] or not task['b']:
            found.append((nr, None))
        found += [(nr, difference) for difference in task['differences']]
    if done.returncode != bool(found):
        sys.exit('bts diff: status %d with %d differences' % (done.returncode, len(found)))
    return found


def filtered(bts, a, b):
    """Run bts diff with --dso, and return the errors in the status and in the output's syntax. Do
    not check the differences, because --dso hides branches, so some differences are missing."""
    wrong = []
    for words in [], ['--json'], ['--html', '-']:
        done = subprocess.run([bts, 'diff', *words, '--dso', 'libc.so.6', a, b],
                              stdout=subprocess.PIPE, check=False)
        if done.returncode not in (0, 1):
            wrong.append('--dso: status %d' % done.returncode)
        elif '--html' in words:
            xml.etree.ElementTree.fromstring(done.stdout)
        elif words:
            for line in done.stdout.splitlines():
                json.loads(line)
    return wrong


def without_place(found):
    """Return an error message for each difference whose JSON object has no place ("at")."""
    return ['bts diff shows no place for a difference of kind %s' % d['kind'] for _, d in found
            if d and not d['at']]


def with_inline(bts, program, found, a, b):
    """Run bts diff --inline. Return error messages, and the number of inlined functions in the
    output. The differences must be the same as without --inline. At each place, --inline must show
    the inlined functions that LLVM finds."""
    more = compare(bts, a, b, '--inline')
    wrong = without_place(more)
    if wrong:
        return wrong, 0
    places = [int(d['at']['address'], 16) for _, d in more
              if d and d['at']['object'] == os.path.basename(program)]
    names = addr2line.inlined(program, places) if places else {}
    for (_, less), (_, d) in zip(found, more):
        if not d or not less:
            continue
        path = [name for name in d['in'] if not name.endswith(' [inlined]')]
        if {**d, 'in': path} != less:
            wrong.append('--inline changes the difference at %s' % d['at']['place'])
        own = names.get(int(d['at']['address'], 16), [])
        last = [addr2line.plain(name) for name in d['in'][len(d['in']) - len(own):]]
        if own and last != own:
            wrong.append('--inline: %s at %s, not %s' % (last, d['at']['place'], own))
    wrong += ['--inline changes the number of differences'] * (len(more) != len(found))
    return wrong, sum(name.endswith(' [inlined]') for _, d in more if d for name in d['in'])


def line_of(difference):
    if not difference:
        return ('thread', 0)
    at = difference['at']
    return (os.path.basename(at.get('file', at['object'])), at.get('line', at['place']))


class Steps:
    """The instructions that each thread of a run executed."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        self.texts = {}

    def logs(self, trace):
        program, _, text = os.path.basename(trace).split('.')[:3]
        out = os.path.join(self.folder, 'stepped', program + '.' + text)
        if not glob.glob(out + '.*'):
            os.makedirs(os.path.dirname(out), exist_ok=True)
            subprocess.run([self.program, out, os.path.join(self.folder, program), text],
                           check=True)
        logs = [log for log in glob.glob(out + '.*') if log.split('.')[-1].isdigit()]
        return sorted(logs, key=lambda log: int(log.split('.')[-1]))

    def text(self, program):
        """Return the addresses of .text. Ignore the PLT, whose branches depend on lazy binding."""
        if program not in self.texts:
            said = subprocess.run(['readelf', '-SW', os.path.join(self.folder, program)],
                                  stdout=subprocess.PIPE, text=True, check=True).stdout
            at, size = re.search(r' \.text +PROGBITS +(\w+) \w+ (\w+)', said).groups()
            self.texts[program] = range(int(at, 16), int(at, 16) + int(size, 16))
        return self.texts[program]

    def read(self, path, program):
        """Return the executed addresses in .text. Also write them to a file for GNU diff."""
        text = self.text(program)
        with open(path, encoding='ascii') as log:
            lines = [int(line, 16) for line in log]
        lines = [line for line in lines if line in text]
        with open(path + '.text', 'w', encoding='ascii') as log:
            log.writelines('%x\n' % line for line in lines)
        return lines

    @staticmethod
    def hunks(a, b):
        """Yield each hunk's first and last line in both files. A hunk may be empty in one file."""
        done = subprocess.run(['diff', '--speed-large-files', a, b], stdout=subprocess.PIPE,
                              text=True, check=False)
        for line in done.stdout.splitlines():
            m = re.match(r'(\d+)(?:,(\d+))?([acd])(\d+)(?:,(\d+))?$', line)
            if m:
                a1, a2, kind, b1, b2 = m.groups()
                yield (int(a1) + (kind == 'a'), int(a2 or a1), int(b1) + (kind == 'd'),
                       int(b2 or b1))

    @staticmethod
    def judge_thread(a, b, hunks, differences):
        """Compare GNU diff's hunks with the differences of bts diff. Return error messages."""
        places = {int(d['at']['address'], 16): d for d in differences}
        used = set()
        last = []
        last_line = 0
        wrong = []
        for a1, a2, b1, b2 in hunks:
            inside = set(a[max(a1 - 2, 0):a2] + b[max(b1 - 2, 0):b2])
            begun = [places[p] for p in inside if p in places]
            used |= inside & set(places)
            # If the runs differ in the depth of a recursion, ignore the address at which they meet
            # again. Returns from deeper calls reach this address even before the runs meet.
            meets = {int(d['meet']['address'], 16) for d in last
                     if 'meet' in d and d['kind'] != 'recursion'}
            if not begun and (not last or meets & set(a[last_line:a1 - 1])):
                wrong.append('bts diff misses a hunk: %s' % ' '.join(map(hex, sorted(inside)[:4])))
            last = begun or last
            last_line = a2
        return wrong + ['the difference at %#x is in no hunk' % p for p in places if p not in used]

    def judge(self, a, b, found):
        program = os.path.basename(a).split('.')[0]
        wrong = []
        for nr, paths in enumerate(zip(self.logs(a), self.logs(b))):
            left, right = (self.read(path, program) for path in paths)
            hunks = self.hunks(*(path + '.text' for path in paths))
            wrong += self.judge_thread(left, right, hunks,
                                       [d for i, d in found
                                        if i == nr and d and d['at']['object'] == program])
        return wrong


def judge_pair(bts, steps, a, b):
    """Return two lists of error messages. The first list is about the source lines of the
    differences, and about some options of bts diff. The second list shows each contradiction
    between the outputs of bts diff and GNU diff."""
    program = os.path.basename(a).split('.')[0]
    texts = [os.path.basename(path).split('.')[2] for path in (a, b)]
    toggles = toggles_of(program)
    name = os.path.basename(source_of(program))
    wanted = {(name, line) for bit, line in toggles.items() if texts[0][bit] != texts[1][bit]}
    found = compare(bts, a, b)
    wrong = without_place(found)
    if wrong:
        return wrong, []
    places = {line_of(difference) for _, difference in found}
    wrong = ['missing %s:%s' % place for place in sorted(wanted - places, key=str)]
    wrong += ['too much %s:%s' % place for place in sorted(places - wanted, key=str)]
    wrong += filtered(bts, a, b)
    wrong_inline, inlined = with_inline(bts, os.path.join(os.path.dirname(a), program), found, a, b)
    INLINED[program] = INLINED.get(program, 0) + inlined
    wrong += wrong_inline
    return wrong, steps.judge(a, b, found) if steps else []


def pairs_of(traces, nr_pairs):
    """Return pairs of runs with equal arguments, and random pairs with different arguments."""
    rng = random.Random(SEED)

    def text(trace):
        return trace.split('.')[-2]

    first = [t for t in traces if text(t) == text(traces[0])]
    others = [p for p in itertools.combinations(traces, 2) if text(p[0]) != text(p[1])]
    return list(zip(first, first[1:])), rng.sample(others, min(nr_pairs, len(others)))


def judge(folder, bts, nr_pairs, stepper=None):
    steps = Steps(folder, stepper) if stepper else None
    runs = {}
    for entry in sorted(os.listdir(folder), key=lambda e: [int(x) if x.isdigit() else x
                                                           for x in e.split('.')[:2]]):
        if entry.endswith('.dat'):
            runs.setdefault(entry.split('.')[0], []).append(os.path.join(folder, entry))
    # Do not single-step Rust programs. Their runs may differ in the code of the locks in Rust's
    # library. GNU diff reports these differences, but bts diff ignores them.
    alone = {program for program in runs if not steps or program.startswith('toggles-rs')}
    print('1..%d' % (4 * len(runs) - len(alone)))
    test = failed = 0
    for program, traces in sorted(runs.items()):
        equal, others = pairs_of(traces, nr_pairs)
        stepped = [] if program in alone else (equal[:1] + others)[:STEPPED_PAIRS]
        results = {pair: judge_pair(bts, steps if pair in stepped else None, *pair)
                   for pair in equal + others}
        if program.startswith('toggles-cc') and 'O0' not in program and not INLINED[program]:
            results[others[0]][0].append('--inline: no inlined functions')
        for pair in results:
            results[pair] += (page.faults(bts, *pair, source_of(program)),)
        ranks = page.rank_faults(bts, traces[:2], traces[-2:])
        for problem in ranks:
            print('# %s: %s' % (program, problem))
        for pair, result in results.items():
            for problem in itertools.chain(*result):
                print('# %s %s: %s' % (*map(os.path.basename, pair), problem))
        for what, wrong, nr in (
                ('pairs of equal runs: bts diff finds no difference',
                 [results[p][0] for p in equal], len(equal)),
                ('pairs differ at the toggled lines', [results[p][0] for p in others], len(others)),
                ('HTML pages of bts diff show the same differences as its text output',
                 [r[2] for r in results.values()] + [ranks], len(results) + 1),
                ('pairs agree with GNU diff',
                 [results[p][1] for p in stepped], len(stepped)))[:3 if program in alone else 4]:
            bad = sum(map(bool, wrong))
            test += 1
            failed += bad > 0 or not nr
            print('%sok %d %s: %d %s%s' % ('not ' if bad or not nr else '', test, program, nr,
                                           what, ', but %d' % bad if bad else ''))
    sys.exit(failed > 0)


if __name__ == '__main__':
    if sys.argv[1] == 'list':
        make_list(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    else:
        judge(sys.argv[2], sys.argv[3], int(sys.argv[4]), *sys.argv[5:])
