# SPDX-License-Identifier: GPL-2.0
#
# Check that no emulated CPU failed to store a record. The input is the output of `info bts`.

BEGIN {
	FS = ": *"
}

/has no emulated branch trace store/ {
	none = 1
}

$1 == "failed" {
	n++
	failed += $2
}

END {
	if (none)
		exit
	if (!n || failed)
		print "not ok stores that failed:", n ? failed : "no answer"
	else
		print "ok no store failed"
}
