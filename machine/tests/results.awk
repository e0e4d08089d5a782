# SPDX-License-Identifier: GPL-2.0
#
# Print the results of a part as lines "ok|not ok NAME [# SKIP]", and check the plan of the part.
# Ignore nested results, because they are only details of a test.
#
#	awk -f results.awk -v status=EXIT-STATUS -v guest=0|1 [-v filtered=1] KTAP
#
# If a part runs no test, the part counts as failed, unless filtered=1. With filtered=1, the user
# has chosen test cases (machine/tests/run --case), and the part may contain none of these cases.
# A test case that is skipped in a guest counts as failed, because every guest meets the
# requirements of all test cases.

/^1\.\.[0-9]+/ && !plan {
	plan = substr($1, 4) + 0
	next
}

/^ok |^not ok / {
	n++
	ok = /^ok /
	sub(/^(not )?ok [0-9]* *(- )?/, "")
	if (guest && / # SKIP/) {
		ok = 0
		sub(/ # SKIP.*/, " (skipped)")
	}
	bad += !ok
	print (ok ? "ok " : "not ok ") $0
}

END {
	if (plan == "0" && !filtered)
		print "not ok no tests ran"
	else if (plan == "" || n != plan)
		print "not ok plan: " n + 0 " of " plan + 0 " tests ran"
	else if (!bad && status != 0 && (status < 123 || status > 125))
		print "not ok exit status " status " though nothing failed"
}
