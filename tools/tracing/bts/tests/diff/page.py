# SPDX-License-Identifier: GPL-2.0-only
"""Check that the HTML page of bts diff contains everything that the text contains.

For two traces, faults() compares the page with the text. For passed and failed runs, rank_faults()
does the same. Expat parses the page. The page must be well-formed XML, must not refer to anything
outside the page, and must contain each difference that the text reports, with the descriptions of
both runs. If the source is available, the page must also contain the source line of each
difference.
"""
import json
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree


def differences_of_text(text):
    """Return {title of the tasks: [[place, what run A does, what run B does, where they meet]]}."""
    tasks = {}
    found = None
    for line in text.splitlines():
        m = re.match(r' *\d+ (\S.*)', line)
        if re.match(r'\S+-\d+( and |: only in )', line):
            found = tasks.setdefault(line, [])
        elif m and found is not None:
            found.append([m.group(1)])
        elif found and re.match(' {5}([AB] |they )', line):
            found[-1].append(line.strip())
    return tasks


def text_of(element):
    return ''.join(element.itertext()) if element is not None else ''


def differences_of_page(root):
    tasks = {}
    found = None
    for element in root.iter():
        if element.tag == 'h2':
            found = tasks.setdefault(text_of(element), [])
        elif element.tag == 'section' and element.get('id'):
            found.append([text_of(element.find('h3/span')),
                          text_of(element.find('div/div[@class="a"]/p')),
                          text_of(element.find('div/div[@class="b"]/p')),
                          text_of(element.find('p'))])
        elif element.tag == 'section' and found and not found[-1][3]:
            # This section describes where the runs meet again after the previous difference.
            found[-1][3] = text_of(element.find('p'))
    return tasks


def outside(page, root):
    """Return the parts of the page that refer to something outside the page, or could run code."""
    wrong = ['<%s %s="%s">' % (e.tag, name, value) for e in root.iter()
             for name, value in e.attrib.items()
             if name in ('src', 'srcset', 'action', 'style') or name.startswith('on') or
             name == 'href' and not value.startswith('#')]
    wrong += ['<%s>' % e.tag for e in root.iter()
              if e.tag in ('script', 'link', 'img', 'iframe', 'object', 'embed', 'base', 'form')]
    style = ''.join(text_of(e) for e in root.iter('style'))
    wrong += re.findall(r'url\(|@import', style)
    if b"default-src 'none'" not in page:
        wrong.append('no policy')
    return wrong


def links(root):
    """Return the links to missing ids, and the ids that occur twice."""
    ids = [e.get('id') for e in root.iter() if e.get('id')]
    return ['link to %s' % e.get('href') for e in root.iter('a')
            if e.get('href')[1:] not in ids] + \
        ['twice %s' % i for i in set(ids) if ids.count(i) > 1]


def missing_lines(root, sources):
    """Return the differences whose source line is known, but not shown in their section."""
    wrong = []
    for section in root.iter('section'):
        m = re.search(r'\(([^ :()]+):(\d+)\)', text_of(section.find('h3/span')))
        if not section.get('id') or not m or m.group(1) not in sources:
            continue
        line = sources[m.group(1)][int(m.group(2)) - 1].strip()
        if not any(line == text_of(e)[len(text_of(e.find('i'))):].strip()
                   for e in section.iter('div') if e.get('class', '').startswith('l')):
            wrong.append('without its line: %s' % m.group(0))
    return wrong


def read_both(bts, words):
    """Return the text output of bts diff, and the element tree and the errors of its HTML page."""
    text = subprocess.run([bts, 'diff', *words], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'page.html')
        done = subprocess.run([bts, 'diff', '--html', path, *words], stdout=subprocess.PIPE,
                              text=True, check=False)
        if done.returncode not in (0, 1) or not done.stdout.startswith(path + ': '):
            return text, None, ['status %d: %s' % (done.returncode, done.stdout)]
        with open(path, 'rb') as file:
            page = file.read()
    try:
        root = xml.etree.ElementTree.fromstring(page)
    except xml.etree.ElementTree.ParseError as error:
        return text, None, ['the page is not well-formed: %s' % error]
    return text, root, outside(page, root) + links(root)


def order_faults(bts, words):
    """Check that among branches with the same score, the C library's branches come last."""
    done = subprocess.run([bts, 'diff', '--json', *words], stdout=subprocess.PIPE, check=False)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    order = [(-row['score'], bool(re.match('libc[.]|ld-', row['dso']))) for row in rows]
    return [] if order == sorted(order) else ['the branches are in the wrong order: %s' % order]


def rank_faults(bts, passed, failed):
    words = [*passed, '--against', *failed]
    text, root, wrong = read_both(bts, words)
    wrong += order_faults(bts, words)
    if root is None:
        return wrong
    wanted = [re.split(' +', line.strip(), maxsplit=3) for line in text.splitlines()
              if re.match(r' *[01]\.\d+ ', line)]
    found = [[text_of(cell.find('details/summary')) if cell.find('details') else text_of(cell)
              for cell in row.iter('td')] for row in root.iter('tr') if row.find('td') is not None]
    if not wanted or wanted != found:
        wrong.append('text %s, page %s' % (wanted, found))
    return wrong


def faults(bts, a, b, source):
    text, root, wrong = read_both(bts, [a, b])
    if root is None:
        return wrong
    wanted = differences_of_text(text)
    found = differences_of_page(root)
    if not wanted or wanted != found:
        wrong.append('text %s, page %s' % (wanted, found))
    with open(source, encoding='utf-8') as file:
        wrong += missing_lines(root, {os.path.basename(source): file.readlines()})
    return wrong
