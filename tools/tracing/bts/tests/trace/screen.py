#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Convert a terminal's screen, in the format of `tmux capture-pane -e -p`, into SVG. Text in
# reverse video gets a dark background.

import re
import sys
from xml.sax.saxutils import escape

LETTER, LINE, MARGIN = 7.25, 16, 8


def parts(line):
    """Yield the pieces of the line. For each piece, yield (text, reversed, bold)."""
    reverse = bold = False
    for piece in re.split(r"(\x1b\[[0-9;]*m|\x1b\([0AB]|\x0e|\x0f)", line):
        sgr = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if sgr:
            for code in sgr[1].split(";"):
                reverse = code == "7" or (reverse and code not in ("", "0", "27"))
                bold = code == "1" or (bold and code not in ("", "0", "22"))
        elif piece and not piece.startswith(("\x1b", "\x0e", "\x0f")):
            yield piece, reverse, bold


def main():
    lines = sys.stdin.read().splitlines()
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m|\x1b\([0AB]", "", line)) for line in lines)
    width, height = round(columns * LETTER) + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
          f'viewBox="0 0 {width} {height}" font-family="monospace" font-size="12">\n'
          f'<rect width="100%" height="100%" rx="4" fill="#fdfdf8" stroke="#bbb"/>')
    for row, line in enumerate(lines):
        column = 0
        pieces = list(parts(line))
        if pieces and pieces[-1][1]:
            pieces[-1] = (pieces[-1][0].ljust(columns), *pieces[-1][1:])
        for text, reverse, bold in pieces:
            x, y = MARGIN + column * LETTER, MARGIN + row * LINE
            length = len(text) * LETTER
            if reverse:
                print(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{LINE}" '
                      f'fill="#334"/>')
            if text.strip():
                skip = len(text) - len(text.lstrip())
                shown = text.strip()
                print(f'<text x="{x + skip * LETTER:.1f}" y="{y + 12}" '
                      f'textLength="{len(shown) * LETTER:.1f}"'
                      f'{" fill=" + chr(34) + "#fff" + chr(34) if reverse else ""}'
                      f'{" font-weight=" + chr(34) + "bold" + chr(34) if bold else ""}>'
                      f'{escape(shown).replace(" ", chr(0xa0))}</text>')
            column += len(text)
    print("</svg>")


if __name__ == "__main__":
    main()
