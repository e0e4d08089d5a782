# SPDX-License-Identifier: GPL-2.0
#
# Check that the counters account for each record: awk -f account.awk [-v least=N] bts_stats
#
# The counter "records" must be at least N, and must equal the sum of the counters "delivered",
# "filtered", "own", "held" and "dropped_*".

BEGIN {
	FS = ": "
}

$1 == "records" {
	records = $2
}

/^(delivered|filtered|own|held|dropped_[a-z_]*): / {
	sum += $2
}

END {
	print "# records " records ", accounted for " sum
	exit records == "" || records != sum || records < least + 0
}
