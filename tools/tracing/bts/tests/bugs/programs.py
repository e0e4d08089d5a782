#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Debian's bc, jq and grep: how to build them, and the inputs of their own tests.

An input consists of the arguments and the standard input of one run. All inputs come from the tests
in the source packages:

    bc     runs each statement of Test/*.b and Test/signum. Each run begins with the assignments
           and definitions that precede the statement. These tests loop over up to a million
           numbers, so only a few random iterations of each loop are used. checklib.b and testfn.b
           are left out, because each of their statements takes minutes.
    jq     runs each program of tests/*.test with this program's input.
    grep   runs each search in tests/*.tests (pattern and input), and each search in tests/foad1.
"""
import glob
import json
import os
import random
import re
import subprocess
import tempfile
from collections import namedtuple

Input = namedtuple('Input', 'args stdin')

CFLAGS = '-g -O0'
ITERATIONS = 8


class Program:
    """A program that mutate.py mutates. @tree is the folder of the unpacked source."""

    name = None
    configure = ['./configure', '--quiet']
    # the (folder, target) pairs and the variables for make, and the resulting program
    targets = []
    words = ('AUTOMAKE=:', 'AUTOCONF=:', 'ACLOCAL=:', 'AUTOHEADER=:')
    binary = None
    # patterns for the sources to mutate, and the names of generated sources to leave out
    sources = []
    generated = ()

    def __init__(self, tree):
        self.tree = tree

    def run(self, *command, **options):
        done = subprocess.run(command, cwd=self.tree, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, **options)
        return done.returncode == 0, done.stdout.decode(errors='replace')

    def must(self, *command):
        done, said = self.run(*command)
        if not done:
            raise SystemExit('%s: %s\n%s' % (self.name, ' '.join(command), said[-3000:]))

    def prepare(self):
        """Configure the source."""
        self.must(*self.configure, 'CFLAGS=' + CFLAGS)

    def make(self, cflags=CFLAGS):
        """Build the program. Return whether the build succeeded."""
        return all(self.run('make', '-s', '-C', folder, 'CFLAGS=' + cflags, *self.words, target)[0]
                   for folder, target in self.targets)

    def make_or_exit(self, cflags=CFLAGS):
        if not self.make(cflags):
            raise SystemExit('%s: make fails in %s' % (self.name, self.tree))

    def clean(self):
        for folder, _ in self.targets:
            self.must('make', '-s', '-C', folder, *self.words, 'clean')

    def idle_lines(self):
        """Return the lines that no run has reached. The program must be built with --coverage."""
        counts = {}
        for path in glob.glob(os.path.join(self.tree, '**', '*.gcda'), recursive=True):
            done = subprocess.run(['gcov', '--json-format', '--stdout', path], cwd=self.tree,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
            for text in done.stdout.splitlines():
                data = json.loads(text)
                for file in data['files']:
                    name = os.path.normpath(os.path.join(data['current_working_directory'],
                                                         file['file']))
                    for line in file['lines']:
                        key = (name, line['line_number'])
                        counts[key] = counts.get(key, 0) + line['count']
        return {key for key, count in counts.items() if not count}

    def path(self):
        return os.path.join(self.tree, self.binary)

    def mutable(self):
        found = [path for pattern in self.sources
                 for path in glob.glob(os.path.join(self.tree, pattern))]
        return sorted(path for path in found if os.path.basename(path) not in self.generated)

    def text(self, name):
        path = os.path.join(self.tree, name)
        with open(path, encoding='utf-8', errors='surrogateescape') as source:
            return source.read()


def statements(text):
    """Yield the statements of a bc program. A newline within braces does not end a statement."""
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL).replace('\\\n', '')
    statement, depth, quoted = '', 0, False
    for char in text:
        quoted ^= char == '"'
        depth += 0 if quoted else (char in '{(') - (char in '})')
        if char == '\n' and not depth and not quoted:
            if statement.strip() and statement.strip() != 'quit':
                yield statement
            statement = ''
        else:
            statement += char
    if statement.strip():
        yield statement


class Bc(Program):
    name = 'bc'
    targets = [('lib', 'all'), ('bc', 'all')]
    binary = 'bc/bc'
    sources = ['bc/*.c', 'lib/number.c']
    generated = ('bc.c', 'scan.c', 'getopt.c', 'warranty.c')
    skipped = ('checklib.b', 'testfn.b')

    def values(self, setup, loop, name):
        """Return a few of the values that a loop's variable takes."""
        text = '\n'.join([*setup, loop.group(1) + name]) + '\n'
        done = subprocess.run([self.path(), '-l', '-q'], input=text.encode(), check=True,
                              stdout=subprocess.PIPE)
        found = done.stdout.decode().replace('\\\n', '').split()
        rng = random.Random(text)
        return sorted(set(rng.sample(found, min(ITERATIONS, len(found)))), key=found.index)

    def of_file(self, text):
        """Yield one test's bc programs. Each program begins with definitions that print nothing."""
        setup, then = [], list(statements(text))
        for nr, statement in enumerate(then):
            loop = re.match(r'\s*(for ?\((\w+)\s*=[^;]*;[^;]*;[^)]*(?:\([^)]*\)[^)]*)*\) ?)'
                            r'(?!;)(.+)$', statement, re.DOTALL)
            prints = [s for s in then[nr + 1:nr + 2] if not re.search(r'[^=<>!]=[^=]|\bfor\b', s)]
            if loop:
                name, body = loop.group(2), loop.group(3).strip()
                for value in self.values(setup, loop, name):
                    yield '\n'.join([*setup, '%s=%s' % (name, value), body, *prints])
            elif re.match(r'\s*define\b|\s*\w+ *=(?! *(g|p|m|m1) ?\()', statement):
                setup.append(statement)
            else:
                yield '\n'.join([*setup, statement])

    def inputs(self):
        found = []
        for path in sorted(glob.glob(os.path.join(self.tree, 'Test', '*'))):
            name = os.path.basename(path)
            if name not in self.skipped and name != 'timetest':
                found += self.of_file(self.text('Test/' + name))
        return [Input(['-l', '-q'], text + '\n') for text in dict.fromkeys(found)]


class Jq(Program):
    name = 'jq'
    configure = ['./configure', '--quiet', '--disable-docs', '--disable-maintainer-mode',
                 '--enable-static', '--disable-shared']
    targets = [('.', 'src/builtin.inc'), ('.', 'src/version.h'), ('.', 'jq')]
    binary = 'jq'
    sources = ['src/*.c']
    generated = ('lexer.c', 'parser.c', 'jq_test.c', 'inject_errors.c')

    def prepare(self):
        self.must('autoreconf', '-i')
        super().prepare()

    def inputs(self):
        found = []
        for path in sorted(glob.glob(os.path.join(self.tree, 'tests', '*.test'))):
            text = re.sub('^#.*\n', '', self.text(path), flags=re.MULTILINE)
            for test in re.split(r'\n\s*\n', text.strip('\n')):
                lines = test.strip('\n').split('\n')
                if lines[0].startswith('%%FAIL'):
                    found.append((lines[1], 'null'))
                elif len(lines) >= 2:
                    found.append((lines[0], lines[1]))
        modules = os.path.join(self.tree, 'tests', 'modules')
        return [Input(['-L', modules, '-c', program], value + '\n')
                for program, value in dict.fromkeys(found)]


# A replacement for grep that saves its arguments and its input.
FAKE = '''#!/bin/sh
n=$(ls "$NOTES" | wc -l)
for arg; do printf '%s\\n' "$arg"; done > "$NOTES/$n.args"
cat > "$NOTES/$n.in"
'''


class Grep(Program):
    name = 'grep'
    configure = ['./configure', '--quiet', '--without-included-regex', '--disable-nls']
    targets = [('lib', 'all'), ('src', 'all')]
    binary = 'src/grep'
    sources = ['src/*.c', 'lib/dfa.c', 'lib/localeinfo.c']
    generated = ('dosbuf.c',)

    def foad1(self):
        """Run the script tests/foad1 with a grep that saves its arguments and its input."""
        with tempfile.TemporaryDirectory() as work:
            notes = os.path.join(work, 'notes')
            os.mkdir(notes)
            with open(os.path.join(work, 'init.sh'), 'w', encoding='utf-8') as init:
                init.write('path_prepend_() { :; }\nExit() { exit $1; }\n')
            with open(os.path.join(work, 'grep'), 'w', encoding='utf-8') as fake:
                fake.write(FAKE)
            os.chmod(fake.name, 0o755)
            subprocess.run(['sh', os.path.join(self.tree, 'tests/foad1')], cwd=work, check=False,
                           env={'srcdir': work, 'NOTES': notes, 'LC_ALL': 'C',
                                'PATH': work + ':' + os.environ['PATH']},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for nr in range(len(os.listdir(notes)) // 2):
                path = os.path.join(notes, '%d' % (2 * nr))
                with open(path + '.args', encoding='utf-8', errors='surrogateescape') as args, \
                        open(path + '.in', encoding='utf-8', errors='surrogateescape') as stdin:
                    yield Input(args.read().split('\n')[:-1], stdin.read())

    def inputs(self):
        found = []
        for table, option in ('bre', '-G'), ('ere', '-E'), ('spencer1', '-E'):
            for line in self.text('tests/%s.tests' % table).split('\n'):
                fields = line.split('@')
                if not line.startswith('#') and len(fields) == 3:
                    found.append(Input([option, '-e', fields[1]], fields[2] + '\n'))
        found += self.foad1()
        return list({(tuple(i.args), i.stdin): i for i in found}.values())


PROGRAMS = {program.name: program for program in (Bc, Jq, Grep)}
