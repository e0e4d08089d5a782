# SPDX-License-Identifier: GPL-2.0
#
# Print the results of all parts as one KTAP stream. The last line contains the totals:
#
#	N passed, N failed, N skipped
#
# Exit status: 0 all passed, 1 a test failed or none ran, 4 a test was skipped.

BEGIN {
	print "TAP version 13"
}

/^ok |^not ok / {
	ok = /^ok /
	sub(/^(not )?ok /, "")
	print (ok ? "ok " : "not ok ") ++n " - " $0
	if (!ok)
		failed++
	else if (/ # SKIP/)
		skipped++
	else
		passed++
	next
}

{
	print
}

END {
	print "1.." n + 0
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed || !n ? 1 : skipped ? 4 : 0
}
