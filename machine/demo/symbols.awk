# SPDX-License-Identifier: GPL-2.0
#
# Print a bts trace, and show the addresses of one program as symbol+offset.
#
# Usage: awk -v symbols=FILE -f symbols.awk. FILE contains the output of nm -n. The program must run
# at its link addresses. All addresses must be below 2^52, because awk's numbers are floating-point.

function hex(s,    i, n) {
	n = 0
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}

# Return the last symbol at or below an address. The tables start[] and symbol[] are sorted.
function name(addr,    lo, hi, mid) {
	if (!count || addr < start[1] || addr > start[count] + 4096)
		return ""
	lo = 1
	hi = count
	while (lo < hi) {
		mid = int((lo + hi + 1) / 2)
		if (start[mid] <= addr)
			lo = mid
		else
			hi = mid - 1
	}
	return sprintf("%s+0x%x", symbol[lo], addr - start[lo])
}

BEGIN {
	while ((getline line < symbols) > 0) {
		split(line, field, " ")
		if (field[2] !~ /[tT]/)
			continue
		start[++count] = hex(tolower(field[1]))
		symbol[count] = field[3]
	}
}

{
	out = ""
	rest = $0
	while (match(rest, /0x[0-9a-f]+/)) {
		before = substr(rest, 1, RSTART - 1)
		addr = substr(rest, RSTART, RLENGTH)
		rest = substr(rest, RSTART + RLENGTH)
		# In sym+0x12/0x34, the numbers are an offset and a size, not addresses.
		sym = before ~ /[+\/]$/ ? "" : name(hex(substr(addr, 3)))
		out = out before (sym == "" ? addr : sym)
	}
	print out rest
}
