# SPDX-License-Identifier: GPL-2.0-only
"""Compare the structures and constants in libbts.py and libbts.h: layout.py CC..."""
import ctypes
import subprocess
import sys

import libbts

FIELDS = {"_sym": "sym", "_kind": "kind", "_type": "type", "_text": "text", "_user": "user",
          "from_": "from"}
STRUCTS = {"place": libbts.Place, "branch": libbts.Branch, "row": libbts.Row,
           "frame": libbts.Frame, "totals": libbts.Totals}
ENUMS = {"": libbts.Kind, "ROW_": libbts.RowType, "FRAME_": libbts.FrameKind}

values = {}
for name, struct in STRUCTS.items():
    values[f"sizeof(struct bts_{name})"] = ctypes.sizeof(struct)
    for field, *_ in struct._fields_:
        offset = f"offsetof(struct bts_{name}, {FIELDS.get(field, field)})"
        values[offset] = getattr(struct, field).offset
for prefix, enum in ENUMS.items():
    for constant in enum:
        values[f"BTS_{prefix}{constant.name}"] = int(constant)
for flag in "GAP", "NO_CODE", "HEAD":
    values[f"BTS_BRANCH_{flag}"] = getattr(libbts, flag)

source = "#include <libbts.h>\n" + "".join(
    f'_Static_assert({what} == {value}, "{what}");\n' for what, value in values.items())
sys.exit(subprocess.run(sys.argv[1:] + ["-fsyntax-only", "-x", "c", "-"], input=source,
                        text=True).returncode)
