#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# includes.sh: print each #include in src/ that the included header does not allow. Each header
# lists the files that may include it, in a line such as
#
#	 * Included by: FOLDER/, FILE, any file.
#
# An included header without an "Included by:" line is printed, too.

set -u

cd "$(dirname -- "$0")/../src" || exit

# allowed FILE WORD...: report whether any WORD is FILE itself or a folder that contains FILE.
allowed() {
	file=$1
	shift
	for word; do
		case $word in
		*/) word="$word*" ;;
		esac
		# shellcheck disable=SC2254 # a pattern
		case $file in
		$word) return ;;
		esac
	done
	return 1
}

set -f
find . -name '*.[ch]' | sort | while IFS= read -r file; do
	file=${file#./}
	sed -n 's/^#include "\(.*\)"$/\1/p' "$file" | while IFS= read -r header; do
		case $header in
		bts/*) continue ;;	# the kernel's headers
		*/*) ;;
		*) header=${file%/*}/$header ;;
		esac
		users=$(sed -n 's/^ \* Included by: \(.*\)\.$/\1/p' "$header")
		[ -n "$users" ] || echo "$header: no line \"Included by\""
		[ "$users" = "any file" ] && continue
		# shellcheck disable=SC2046 # words
		allowed "$file" $(echo "$users" | tr -d ,) || echo "$file: includes $header, which is for $users"
	done
done
