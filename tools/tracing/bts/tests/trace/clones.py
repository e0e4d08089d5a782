#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Compare TRACE with COPY, in which N processes repeat the run of TRACE at different addresses.

    clones.py BTS TRACE COPY N

generate.c made COPY from TRACE, with BTS_PROCESSES=N. In process K, the PIDs are 1000 * K
higher than in TRACE, and the files are mapped 4096 * K bytes higher. Each branch must begin and end
in the same functions as in TRACE. Within main(), bts replay must show the same calls.
"""
import csv
import subprocess
import sys

PIDS = 1000
PAGE = 4096


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def shifted(address, by):
    return address if address >> 63 else address + by


def branches(bts, trace):
    """Return the branches of each task as tuples (source, target, names, kind, instructions)."""
    tasks = {}
    rows = csv.reader(run(bts, "dump", "-f", "csv", trace).splitlines())
    at = {name: i for i, name in enumerate(next(rows))}
    for row in rows:
        if row[0].startswith("#") or row[at["kind"]] == "row":
            continue
        branch = (int(row[at["from"]], 16), int(row[at["to"]], 16), row[at["from_sym"]],
                  row[at["to_sym"]], row[at["kind"]], row[at["instructions"]])
        tasks.setdefault(int(row[at["pid"]]), []).append(branch)
    return tasks


def cloned(tasks, clone):
    """Return a copy of `tasks`. Add `clone` * PIDS to PIDs and `clone` * PAGE to user addresses."""
    return {pid + clone * PIDS: [(shifted(source, clone * PAGE), shifted(target, clone * PAGE),
                                  *rest) for source, target, *rest in taken]
            for pid, taken in tasks.items()}


def at(bts, trace, pid, address):
    """Return how many branches of a task lead to an address."""
    rows = run(bts, "dump", "-f", "csv", "--pid", str(pid), "--to", hex(address), trace)
    return sum(",row," not in row for row in rows.splitlines())


def calls(bts, trace, pid):
    """Return what bts replay prints for main(). Omit task names, and lines with addresses."""
    replay = subprocess.run([bts, "replay", "-F", "main", "--pid", str(pid), trace],
                            stdout=subprocess.PIPE, text=True)
    return [line[:25] + line[49:] for line in replay.stdout.splitlines()
            if line[:1] != "#" and "user_ip=" not in line]


def main():
    bts, trace, copy, clones = sys.argv[1:]
    original = branches(bts, trace)
    wanted = {}
    for clone in range(int(clones)):
        wanted.update(cloned(original, clone))
    if branches(bts, copy) != wanted:
        sys.exit("# the branches differ")
    pid = next(iter(wanted))
    for clone in range(int(clones)):
        own = pid + clone * PIDS
        if at(bts, copy, own, wanted[own][0][1]) != at(bts, trace, pid, wanted[pid][0][1]):
            sys.exit("# --to finds a different number of branches in COPY than in TRACE")
    trees = {pid: calls(bts, trace, pid) for pid in original}
    if max(map(len, trees.values())) < 10:
        sys.exit("# no calls")
    for pid, tree in trees.items():
        for clone in range(int(clones)):
            if calls(bts, copy, pid + clone * PIDS) != tree:
                sys.exit("# the calls of %d differ" % (pid + clone * PIDS))
    total = sum(map(len, wanted.values()))
    print("# %d branches of %d tasks" % (total, len(wanted)))


main()
