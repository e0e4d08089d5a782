#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# perfetto.py TEXT JSON: check that TEXT and JSON contain the same calls. TEXT is the output of bts
# dump -f perfetto after decoding by protoc. JSON is the output of bts dump -f chrome.

import collections
import json
import sys


def packets(path):
    """Yield each packet as a list of pairs (field path, value)."""
    stack, fields = [], []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word = line.split()
            if word[-1] == "{":
                stack.append(word[0])
            elif word[0] == "}":
                stack.pop()
                if not stack:
                    yield fields
                    fields = []
            else:
                name, value = line.strip().split(": ", 1)
                fields.append((".".join(stack[1:] + [name]), json.loads(value)
                               if value[0] == '"' else value))


def calls(path):
    names, open_calls, done, last = {}, collections.defaultdict(list), [], {}
    for fields in packets(path):
        one = dict(fields)
        iids = [value for name, value in fields if name == "interned.event_names.iid"]
        texts = [value for name, value in fields if name == "interned.event_names.name"]
        names.update(zip(iids, texts))
        if one.get("sequence_id") != "1":
            sys.exit("a packet without a sequence")
        task, at = one.get("event.track_uuid"), int(one.get("timestamp", 0))
        if task and at < last.get(task, 0):
            sys.exit("a packet is older than the previous packet of its task")
        last[task] = at
        if one.get("event.type") == "SLICE_BEGIN":
            open_calls[task].append((names[one["event.name_iid"]], at))
        elif one.get("event.type") == "SLICE_END":
            name, begin = open_calls[task].pop()
            counts = [value for name_, value in fields
                      if name_ == "event.annotations.uint_value"]
            done.append((int(task) - 1, name, begin, at, int(counts[0]), int(counts[1])))
    if any(open_calls.values()):
        sys.exit("a call that does not end")
    return sorted(done)


def chrome(path):
    with open(path, encoding="utf-8") as file:
        return sorted((e["tid"], e["name"], round(1000 * e["ts"]),
                       round(1000 * e["ts"]) + round(1000 * e["dur"]),
                       e["args"]["instructions"], e["args"]["branches"])
                      for e in json.load(file)["traceEvents"] if e["ph"] == "X")


ours, theirs = calls(sys.argv[1]), chrome(sys.argv[2])
print("#", len(ours), "calls")
sys.exit(not ours or ours != theirs)
