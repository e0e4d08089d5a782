# SPDX-License-Identifier: GPL-2.0
#
# Check tables of mutants: awk -v tree=DIR [-v only=NAME] -f break.awk TABLE...
#
# A mutant is a deliberate bug, which replaces old lines of the sources in DIR with new lines. See
# machine/tests/mutate. Report each incomplete mutant, and each mutant whose old lines do not occur
# exactly once in the file that it changes. If anything is reported, exit with status 1. With NAME,
# write a broken copy PATH.broken of each file PATH that the mutant NAME changes, and print PATH.

function problem(what) {
	print name ": " what > "/dev/stderr"
	bad = 1
}

# Remove a line's indentation, which need not be the same in the table and in the source file.
function bare(line) {
	sub(/^[ \t]+/, "", line)
	return line
}

function read_source(   line) {
	if (file in size)
		return
	for (size[file] = 0; (getline line < (tree "/" file)) > 0; ) {
		text[file, ++size[file]] = line
		code[file, size[file]] = bare(line)
	}
}

# Return the line number at which the old lines begin in the file. The old lines must occur exactly
# once.
function find(   from, places, at, i) {
	for (from = 1; from + nr_old - 1 <= size[file]; from++) {
		for (i = 0; i < nr_old && code[file, from + i] == old[i]; i++)
			;
		if (i == nr_old) {
			places++
			at = from
		}
	}
	if (places != 1)
		problem("the old lines occur " places + 0 " times in " file ": " old[0])
	return at
}

function end_pair(   at, i) {
	if (!nr_old)
		return
	read_source()
	at = find()
	for (i = 0; i < nr_old; i++)
		broken[file, at + i] = ""
	broken[file, at] = new
	touched[file]
	nr_old = 0
	new = ""
	pairs++
}

function end_mutant() {
	end_pair()
	if (only == "" && (name != "") != (tests && pairs))
		problem("a name, a test (Case, Part or Judge) or a line to replace (-) is missing")
	name = ""
	tests = pairs = 0
}

function write_broken(path,   i) {
	for (i = 1; i <= size[path]; i++)
		printf "%s", (path, i) in broken ? broken[path, i] : text[path, i] "\n" \
			> (tree "/" path ".broken")
	print path
}

/^$/ || FNR == 1 { end_mutant() }
/^(#|$)/ { next }
/^[a-z][a-z0-9-]*: / {
	name = substr($1, 1, length($1) - 1)
	if (seen[name]++)
		problem("two mutants have this name")
	next
}
only != "" && name != only { next }
/^-/ {
	if (new != "")
		end_pair()
	old[nr_old++] = bare(substr($0, 2))
	next
}
/^\+/ { new = new substr($0, 2) "\n"; next }
{ end_pair() }
/^File: / { file = $2; next }
/^(Case|Part|Judge): / { tests++; next }
!/^Red: console$/ { problem("not understood: " $0) }
END {
	end_mutant()
	if (only != "" && !bad)
		for (file in touched)
			write_broken(file)
	exit bad
}
