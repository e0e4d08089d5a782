#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Choose mutants of C sources at random. A mutant has one broken line.

sites(path) returns all mutations of a file. A mutation changes one line in one of these ways:

    comparison  == and !=, < and >, <= and >= are exchanged
    off-by-one  < and <=, > and >= are exchanged; + 1 or - 1 is deleted
    negation    ! is deleted; && and || are exchanged
    constant    a number is incremented, except that 1 becomes 0
    statement   an assignment or a call that is alone on its line is deleted

Comments, strings and preprocessor directives are not changed. Declarations are not deleted.
"""
import re
from collections import namedtuple

Site = namedtuple('Site', 'path line kind before after')

# Columns: kind of mutation, pattern, replacements for the first group of the pattern.
SWAPS = [
    ('comparison', r'(?<![<>=!&|+\-*/%^-])([=!]=)(?!=)', {'==': '!=', '!=': '=='}),
    ('comparison', r'(?<= )([<>]=?)(?= )', {'<': '>', '>': '<', '<=': '>=', '>=': '<='}),
    ('off-by-one', r'(?<= )([<>]=?)(?= )', {'<': '<=', '>': '>=', '<=': '<', '>=': '>'}),
    ('off-by-one', r'(?<=[\w)\]])( ?[+-] ?1)(?![\w.])', None),
    ('negation', r'(!)(?=[\w(*])', {'!': ''}),
    ('negation', r'(&&|\|\|)', {'&&': '||', '||': '&&'}),
]
NUMBER = re.compile(r'(?<![\w.\'"])(\d+)(?![\w.\'"])')
STATEMENT = re.compile(r'^(\s+)(?!return\b|goto\b|case\b|else\b|if\b|for\b|while\b|do\b|typedef\b)'
                       r'[\w>.\[\]*()+-]+( [-+*/|&^%]?= [^;{}]+|\+\+|--| ?\([^;{}]*\));\s*$')
DECLARATION = re.compile(r'^\s*(static|extern|const|struct|union|enum|typedef|register|unsigned|'
                         r'signed|char|int|long|short|bool|void|size_t|\w+_t|jv|jq_state|block|'
                         r'bc_num|inst)\b[\w\s*,\[\]=]*\b\w+(\s*=|\s*[,;\[]|\s*\()')


def blank(text):
    """Return the text with all comments, string literals and character constants replaced by
    blanks."""
    def blanks(match):
        return re.sub(r'[^\n]', ' ', match.group(0))

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blanks, text,
                  flags=re.DOTALL)


def code_lines(text):
    """Yield each line in a function: its number, its text, and the text that blank() returns."""
    lines = text.split('\n')
    depth = 0
    directive = False
    for number, code in enumerate(blank(text).split('\n'), 1):
        was_directive = directive or code.lstrip().startswith('#')
        directive = was_directive and code.endswith('\\')
        if was_directive:
            continue
        if depth and '{' not in code[:1]:
            yield number, lines[number - 1], code
        depth = max(0, depth + code.count('{') - code.count('}'))
        if code.startswith('}'):
            depth = 0


def of_line(path, number, line, code):
    """Yield the mutations of one line."""
    def site(kind, start, end, new):
        return Site(path, number, kind, line, line[:start] + new + line[end:])

    declares = DECLARATION.match(code)
    if STATEMENT.match(code) and not declares:
        yield Site(path, number, 'statement', line, re.match(r'\s*', line).group(0) + ';')
    for kind, pattern, new in SWAPS:
        for match in re.finditer(pattern, code):
            yield site(kind, match.start(1), match.end(1), new[match.group(1)] if new else '')
    if declares and '=' not in code:
        return
    for match in NUMBER.finditer(code):
        value = int(match.group(1), 8 if match.group(1).startswith('0') else 10) \
            if not re.search('^0.*[89]', match.group(1)) else 0
        yield site('constant', match.start(1), match.end(1), '0' if value == 1 else str(value + 1))


def sites(path):
    """Return all mutations of a file."""
    with open(path, encoding='utf-8', errors='surrogateescape') as source:
        text = source.read()
    return [site for row in code_lines(text) for site in of_line(path, *row)]


def draw(paths, rng):
    """Yield all mutations in random order. Choose a kind, and then a mutation of this kind."""
    kinds = {}
    for path in paths:
        for found in sites(path):
            kinds.setdefault(found.kind, []).append(found)
    for kind in sorted(kinds):
        rng.shuffle(kinds[kind])
    while any(kinds.values()):
        kind = rng.choice(sorted(kinds))
        if kinds[kind]:
            yield kinds[kind].pop()


def write(site):
    """Write the mutated line into the source file."""
    with open(site.path, encoding='utf-8', errors='surrogateescape') as source:
        lines = source.read().split('\n')
    lines[site.line - 1] = site.after
    with open(site.path, 'w', encoding='utf-8', errors='surrogateescape') as out:
        out.write('\n'.join(lines))
