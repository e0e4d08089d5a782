# SPDX-License-Identifier: GPL-2.0
#
# From the comments in a program's source, extract the list of the branches that the program must
# take.
#
#   nm PROG | awk -f expect.awk - PROG.S
#
# The output has lines "TASK FROM TO COUNT", the format that bts_compare reads and bts_step writes.
# The file prog.h describes the comments in PROG.S. A label that is not in the output of nm is
# an error, so that a renamed label cannot silently remove a line from the list.

function address(name)
{
	if (name == "kernel")
		return name
	if (!(name in symbol)) {
		printf "expect.awk: unknown label: %s\n", name > "/dev/stderr"
		failed = 1
		exit 1
	}
	return symbol[name]
}

# Parse a count: "x", followed by a number or the name of an absolute symbol.
function number(count, i, n)
{
	if (count == "")
		return 1
	sub(/^x/, "", count)
	if (count ~ /^[0-9]+$/)
		return count + 0
	count = address(count)
	for (i = 1; i <= length(count); i++)
		n = n * 16 + index("0123456789abcdef", substr(count, i, 1)) - 1
	return n
}

function emit(line)
{
	if (repeating)
		held[++n_held] = line
	else
		print line
}

BEGIN {
	task = 0
}

FNR == NR {
	sub(/^0+/, "", $1)
	symbol[$3] = $1
	next
}

/expect: task / {
	sub(/.*expect: task */, "")
	task = $1 + 0
	next
}

/expect: repeat / {
	sub(/.*expect: repeat */, "")
	repeating = number($1)
	n_held = 0
	next
}

/expect: end/ {
	for (i = 0; i < repeating; i++)
		for (j = 1; j <= n_held; j++)
			print held[j]
	repeating = 0
	next
}

/expect: / {
	sub(/.*expect: */, "")
	sub(/ *\*\/.*/, "")
	count = number($4)
	if ($2 != "->" || count < 1) {
		print "expect.awk: bad line: " $0 > "/dev/stderr"
		failed = 1
		exit 1
	}
	emit(task " " address($1) " " address($3) " " count)
	next
}

END {
	if (!failed && repeating) {
		print "expect.awk: repeat without end" > "/dev/stderr"
		failed = 1
	}
	if (failed)
		exit 1
}
