# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test the screen of bts tui. The terminal is tmux, which sends the keys and stores the screen.
# judge.sh sets $bts and $work, and then sources this file in the directory with the traces.
#
# shellcheck disable=SC2154

tui_nr=0

# Use a new tmux server for each terminal: otherwise, tmux may connect to a server that is ending.
term() {
	tmux -L "bts-$$-$tui_nr" -f /dev/null "$@"
}

# Print the screen. If the tmux server has ended, print nothing.
screen() {
	term capture-pane -p
}

press() {
	term send-keys "$@"
}

# wait_for COMMAND...: repeat COMMAND until it succeeds, for at most ten seconds.
wait_for() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || {
			echo "# still fails after ten seconds: $*"
			screen | sed 's/^/# | /'
			return 1
		}
		sleep 0.1
	done
}

matches() { # PATTERN
	screen | grep -q -e "$1"
}

# shows PATTERN: wait until a line of the screen matches PATTERN.
shows() {
	wait_for matches "$1"
}

differs() { # LINE
	[ "$1" != "$(screen | head -n 1)" ]
}

# tui COLUMNS ROWS TRACE [OTHER|OPTION]: run bts tui in a terminal of this size. When bts exits, the
# terminal shows the exit status.
tui() {
	other=${4:+"'$4'"}
	term new-session -d -x "$1" -y "$2" \
		"'$bts' tui '$3' $other 2>'$work/tui.errors'; echo status \$?; read -r end" &&
		shows 'instructions  *branches'
}

tui_end() {
	term kill-server 2>/dev/null
	tui_nr=$((tui_nr + 1))
}

# Search the call tree, and fold and unfold calls.
tui_calls() {
	tui 100 30 calls.dat && shows '^ *instructions  *branches  calls of calls-[0-9]' &&
		press / && press -l apply && press Enter && shows '[-+] apply' &&
		shows '^  *[0-9][0-9]*  *[0-9][0-9]*  *[+-] main' || return 1
	press Right && shows '  add$' && press Left && shows '+ apply' || return 1
	! screen | grep -q '  add$' || return 1
	press / && press -l no_such && press Enter && shows 'no_such: not found' &&
		press e && press Home && shows '- _dl_start$' && press c && shows '+ _dl_start$' &&
		press l && shows 'loss: not found'
}

# The counts of instructions must equal those of bts top. Show the source of a function.
tui_top() {
	"$bts" top -n 0 calls.dat >"$work/top"
	wanted=$(awk '$6 == "fib" { print $1 }' "$work/top")
	tui 100 30 calls.dat && press t && shows "^  *$wanted .* fib  (calls)" &&
		shows 'instructions  *branches  *calls  function' &&
		press -N "$(awk '$6 == "fib" { print NR - 2 }' "$work/top")" Down && press s &&
		shows '^ *[1-9][0-9]*  *[0-9]*  .*fib(n - 1)' && shows 'calls\.c$' &&
		press NPage && press PPage && press q &&
		shows 'instructions  *branches  *calls  function' && press r &&
		shows 'calls of calls-'
}

# Inlined calls must be in the tree and in the list, with the source of the inlined function.
tui_inline() {
	tui 100 30 inlines.dat --inline && press / && press -l 'inner [' && press Enter &&
		shows '[-+] inner \[inlined]' && shows '[-+] outer \[inlined]' && press t &&
		press -N "$("$bts" top --inline -n 0 inlines.dat | awk '/ inner / { print NR - 2 }')" Down &&
		shows ' 5  inner \[inlined]  (inlines)' && press s && shows 'void inner(int n)'
}

# Make the terminal smaller, then too small for any text, and then large again.
tui_resize() {
	tui 100 30 calls.dat && press e && for size in 60x10 20x3 8x2 120x40; do
		term resize-window -x "${size%x*}" -y "${size#*x}" && sleep 0.3 &&
			[ "$(term list-panes -F '#{pane_width}x#{pane_height}')" = "$size" ] ||
			return 1
	done
	shows '^q quit .* s source$' && [ "$(screen | grep -c .)" -eq 40 ]
}

# Show a trace with several tasks. On exit, bts tui must restore the screen and print the summary.
tui_quit() {
	tui 100 30 throws.dat && first=$(screen | head -n 1) && press Tab && wait_for differs "$first" &&
		shows 'calls of throws-' && press q && shows '^# [0-9]* branches,' && shows '^status 0' &&
		! screen | grep -q 'calls of'
}

# The key l must jump to the loss in the trace.
tui_loss() {
	build_generate && "$work/generate" calls.dat "$work/lossy.dat" 1 packs none 7 || return 1
	tui 100 30 "$work/lossy.dat" && press l && shows '# GAP (the loss'
}

# A percentage is shown while a long trace is read. At the end, the percentage must disappear.
tui_progress() {
	build_generate && "$work/generate" calls.dat "$work/long.dat" 1500 packs none || return 1
	for command in "report --no-lines '$work/long.dat' >/dev/null" "replay '$work/long.dat' >/dev/null"; do
		term new-session -d -x 80 -y 10 "'$bts' $command; echo status \$?; read -r end" &&
			shows '^ *[1-9][0-9]* %' && shows '^status 0' && ! screen | grep '%' || return 1
		tui_end
	done
	# If bts prints rows on the terminal, it must not show a percentage there.
	term new-session -d -x 80 -y 10 "'$bts' replay -D 4 '$work/long.dat'; echo status \$?; read -r end" &&
		shows '^status 0' && ! screen | grep '%'
}

# The recursion in calls-more.dat is deeper than in calls.dat. Both trees must show the difference
# in the twelfth nested call of fib, which is the innermost call in calls.dat.
tui_differences() {
	tui 120 40 calls.dat calls-more.dat && shows 'calls of calls-[0-9]* in A$' && press d &&
		shows '#  *they meet at fib+0x' && difference_in_fib || return 1
	press x && shows 'calls of calls-[0-9]* in B$' && shows '#  *B goes straight on' &&
		difference_in_fib || return 1
	press Home D && shows '# difference 1: fib+' && press q && shows '^status 0' && tui_end ||
		return 1
	term new-session -d "'$bts' tui --from main calls.dat calls-more.dat; echo status \$?; read -r end" &&
		shows 'cannot be used, because calls are followed' && shows '^status 2' && tui_end ||
		return 1
	tui 100 30 calls.dat && press d && shows 'bts tui A B compares two traces'
}

# The difference must follow the last of the twelve lines that show calls to fib.
difference_in_fib() {
	screen | grep -B 1 '# difference 1: fib+' | head -n 1 | grep -q -e '- fib$' &&
		[ "$(screen | sed -n '/# difference 1/q; p' | grep -c -e '- fib$')" -eq 12 ]
}

tui_bad() {
	"$bts" tui calls.dat </dev/null >/dev/null 2>"$work/said"
	[ $? -eq 1 ] && grep -q '^bts: open the terminal: standard input: not a terminal$' \
		"$work/said" || return 1
	term new-session -d "TERM=none-such '$bts' tui calls.dat; echo status \$?; read -r end" &&
		shows '^bts: open the terminal: none-such: ' && shows '^status 1' && tui_end || return 1
	term new-session -d "'$bts' tui none.dat; echo status \$?; read -r end" &&
		shows '^bts: read: none.dat: No such file' && shows '^status 1'
}

# coloured VARIABLE=VALUE: set VARIABLE, run bts diff, and report whether the output has colours.
coloured() {
	term new-session -d -x 100 -y 30 \
		"$1 '$bts' diff -n 1 calls.dat calls-more.dat; read -r end" &&
		shows '^not compared' || return 2
	term capture-pane -p -e | grep -q "$(printf '\033')\[3"
}

tui_colour() {
	coloured NO_COLOR= && tui_end || return 1
	coloured NO_COLOR=1
	[ $? -eq 1 ] || return 1
	"$bts" diff --color calls.dat calls-more.dat | grep -q "^$(printf '\033\[1m')   1 " &&
		! "$bts" diff calls.dat calls-more.dat | grep -q "$(printf '\033')"
}

# judge_tui NAME: run one test, and close the terminal of the test.
judge_tui() {
	"tui_$1"
	tui_status=$?
	tui_end
	return $tui_status
}
