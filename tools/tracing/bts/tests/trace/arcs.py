#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the callers and callees of two profiles: arcs.py THEIRS OURS OBJECT

THEIRS is the output of callgrind. OURS is the output of `bts dump -f callgrind`. An arc is a pair
of a caller and a callee in the object. The first line of the output has the number of arcs with
equal counts, and the number of all arcs. The differences follow.

If the object has no local symbols, a jump may lead to a function without a name. callgrind counts
this function as a part of the function that jumps, but bts counts it as a separate function.
"""
import collections
import os
import re
import subprocess
import sys


def plain(name):
    """Return the name without arguments, symbol version, source file, Rust's hash, a template's
    result type, and callgrind's recursion number. For a function without a symbol, return the
    address."""
    address = re.match(r"0x([0-9a-f]+)|\[.*\+0x([0-9a-f]+)\]$", name)
    if address:
        return hex(int(address[1] or address[2], 16))
    name = re.sub(r"('\d+|@@?[A-Z].*| \[[^]]*\])$", "", name)
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    name = re.sub(r"\(.*\)( const)?", "", name)
    return re.sub(r"^[^<]* (?=[^ <]*<)", "", name)


def aliases(path):
    """Map all names of a function to one name, because callgrind and bts may use different ones."""
    names, first = {}, {}
    text = "".join(subprocess.run(["nm", "-C", *option, path], text=True, check=False,
                                  capture_output=True).stdout for option in ([], ["-D"]))
    for line in text.splitlines():
        if line[0] != " " and line[17:18] in set("tTwWi"):
            address, _, name = line.split(" ", 2)
            names[plain(name)] = first.setdefault(address, plain(name))
            names[hex(int(address, 16))] = first[address]
    return names


def arcs(path, wanted, names):
    counts = collections.Counter()
    for line in open(path, errors="replace"):
        key, _, value = line.rstrip("\n").partition("=")
        if key == "ob":
            own = callee_object = os.path.basename(value)
        elif key == "fn":
            function, callee_object = plain(value), own
        elif key == "cob":
            callee_object = os.path.basename(value)
        elif key == "cfn":
            callee = plain(value)
        elif key == "calls":
            if own == callee_object == wanted:
                arc = names.get(function, function), names.get(callee, callee)
                counts[arc] += int(value.split()[0])
            callee_object = own
    return counts


def same(theirs, ours, arc, nameless):
    """Report whether the counts are equal, or differ only by calls that nameless functions make."""
    caller, callee = arc
    more = sum(ours[c, callee] - theirs[c, callee] for c in nameless[callee])
    lacks = theirs[arc] - ours[arc]
    return not lacks or (caller in nameless[callee] and more >= 0) or 0 < lacks <= more


def main():
    path = os.path.realpath(sys.argv[3])
    wanted = os.path.basename(path)
    names = aliases(path)
    theirs, ours = (arcs(file, wanted, names) for file in sys.argv[1:3])
    nameless = collections.defaultdict(set)
    for caller, callee in [*theirs, *ours]:
        if caller.startswith("0x"):
            nameless[callee].add(caller)
    wrong = {arc: (n, ours[arc]) for arc, n in theirs.items()
             if not same(theirs, ours, arc, nameless)}
    print(len(theirs) - len(wrong), len(theirs))
    for arc, (a, b) in sorted(wrong.items(), key=lambda w: -abs(w[1][0] - w[1][1]))[:12]:
        print("#", *arc, "callgrind", a, "bts", b)


if __name__ == "__main__":
    main()
