#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Draw the documentation's pictures: draw.sh DIR BTS. DIR must contain calls.dat (see record.sh) and
# grep.dat. Record grep.dat in the emulated machine, and let grep search files in memory (/tmp):
#
#	cp -r /usr/include /tmp/include
#	bts record -o DIR/grep.dat -- grep -rl EINVAL /tmp/include
#
# Copy DIR/flame.svg and DIR/tui.svg to Documentation/tools/bts. draw.sh needs tmux.

set -eu

dir=$1
bts=$2
here=$(cd -P -- "$(dirname -- "$0")" && pwd)
# shellcheck disable=SC2034 # used by tui.sh
work=$(mktemp -d)
trap 'tui_end; rm -rf "$work"' EXIT
# shellcheck source=tools/tracing/bts/tests/trace/tui.sh
. "$here/tui.sh"
cd "$dir"

"$bts" dump -f flame -o flame.svg grep.dat
tui 100 24 calls.dat
press /
press -l fib
press Enter
shows '+ fib'
press Right Down Down Right Down Down Right
sleep 0.5
term capture-pane -e -p | "$here/screen.py" >tui.svg
