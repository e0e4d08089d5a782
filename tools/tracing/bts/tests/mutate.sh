#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Are the judges worth something? mutate.sh DIR [NAME...], with the traces of record.sh in
# DIR, or make mutants TRACES=DIR. No machine is needed.
#
# Each mutants/NAME.patch breaks one line of the tool, and says in a line "Judge: NAME..."
# which judges of judge.sh are to notice; "archive" is tests/archive/check.sh. The broken tool
# is built, only these judges run, and one of them must fail. A patch that does not apply,
# or whose tool cannot be built, has failed. Before that all judges must pass with nothing
# broken (not with BTS_GREEN=0). KTAP.

set -u

here=$(cd -P -- "$(dirname -- "$0")" && pwd)
tree=$(cd -P -- "$here/../../../.." && pwd)
dir=$(cd -- "$1" && pwd) || exit 2
shift
work=$(mktemp -d)
bts=$work/tree/tools/tracing/bts
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$here/ktap.sh"

# A tree of links, but for the tool.
lay_out() {
	mkdir -p "$work/tree/tools/tracing" "$work/out"
	for file in "$tree"/*; do
		[ "${file##*/}" = tools ] || ln -s "$file" "$work/tree/"
	done
	for file in "$tree"/tools/*; do
		[ "${file##*/}" = tracing ] || ln -s "$file" "$work/tree/tools/"
	done
	cp -a "$here/.." "$bts"
}

build() {
	make -s -C "$bts" O="$work/out" >"$work/made" 2>&1 && return
	sed 's/^/# /' "$work/made" | tail -n 5
	return 1
}

# judges NAME...: do they all pass?
judges() {
	case " $* " in
	*" archive "*) "$bts/tests/archive/check.sh" "$work/archive" ;;
	*) BTS_JUDGES="$*" "$here/trace/judge.sh" "$dir" "$work/out/bts" ;;
	esac >"$work/said" 2>&1
}

judges_of() { # PATCH
	sed -n -e '/^---/q' -e 's/^Judge: *//p' "$1"
}

mutant() { # PATCH
	# shellcheck disable=SC2046 # names
	patch -d "$bts" -p1 -F0 -s --no-backup-if-mismatch <"$1" >"$work/patched" || {
		sed 's/^/# /' "$work/patched"
		return 1
	}
	# shellcheck disable=SC2046 # names
	build && ! judges $(judges_of "$1")
	caught=$?
	patch -d "$bts" -p1 -R -s --no-backup-if-mismatch <"$1"
	[ "$caught" -eq 0 ] || return 1
	grep -m 1 '^not ok' "$work/said" | sed 's/^/# /'
}

# Those named, or all.
patches() {
	if [ $# -gt 0 ]; then
		printf "$here/mutants/%s.patch\n" "$@"
	else
		printf '%s\n' "$here"/mutants/*.patch
	fi
}

echo "TAP version 13"
lay_out
build || exit 1
if [ "${BTS_GREEN:-1}" = 1 ]; then
	names=$(patches "$@" | while read -r patch; do judges_of "$patch"; done | tr ' ' '\n' |
		sort -u)
	for name in $names; do
		judges "$name"
		result $? "$name passes with nothing broken"
	done
fi
for patch in $(patches "$@"); do
	name=${patch##*/}
	mutant "$patch"
	result $? "${name%.patch}: $(sed -n '1s/^bts: //p' "$patch")"
done
echo "1..$n"
exit $failed
