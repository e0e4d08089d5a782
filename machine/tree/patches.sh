# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
#
# The patches of a base, in order. The caller has set $top.
#
#	patches/linux	the series. Its patches fit every base, or 6.12 where another
#			has its own
#	patches/BASE	what is special to that base (6.12, mainline):
#			series		patches before the series: backports
#			NAME.patch	in place of the diff of patches/linux/NAME.patch;
#					the message is that one's
#
# Our files stand in this tree as they are after the last patch. What a patch changes in those
# that came with an earlier one is in patches/linux/NAME.diff, beside its NAME.patch or
# NAME.msg. Only machine/tree/series reads these: it takes them out of our files, the last one
# first, and puts them back one by one.
#
# In a series file:
#
#	0001-x86-ds-...patch		hunks in existing files, with the message
#	+ arch/x86/kernel/ds.c		a file of ours that goes into the same commit
#	0004-Documentation-....msg	only the message, where a commit has nothing but files
#	+ tools/testing/.../block-*.tc	a pattern stands for all such files
#	+ tools/testing/selftests/ftrace/test.d/bts	a directory stands for all in it that
#					no other line names
#	# B. The tracer			where a group of patches begins

# patches_base DIR: the base that a kernel source is.
patches_base() {
	case $(awk '$1 == "VERSION" || $1 == "PATCHLEVEL" { print $3 }' "$1/Makefile" | paste -sd. -) in
	6.12 | '') printf '6.12\n' ;;
	*) printf 'mainline\n' ;;
	esac
}

# patches_of BASE: lines "commit MESSAGE DIFF", "own DIFF", "file PATH" and "group NAME", with
# paths relative to $top. Group 0 are those before the series.
patches_of() {
	for series in "patches/$1/series" patches/linux/series; do
		[ -e "$top/$series" ] || continue
		[ "$series" = patches/linux/series ] || printf 'group 0\n'
		sed -e 's/^# \([A-Z]\)\. .*/group \1/' -e '/^#/d' -e '/^ *$/d' "$top/$series" |
		while read -r name path; do
			case $name in
			+)
				# shellcheck disable=SC2086 # a pattern
				(cd "$top" && printf 'file %s\n' $path)
				continue
				;;
			group) printf 'group %s\n' "$path"; continue ;;
			esac
			diff=patches/$1/$name
			[ -e "$top/$diff" ] || diff=${series%/*}/$name
			printf 'commit %s %s\n' "${series%/*}/$name" "$diff"
			steps=${series%/*}/${name%.*}.diff
			[ ! -e "$top/$steps" ] || printf 'own %s\n' "$steps"
		done
	done
}

# patches_unused BASE: fails for a patch that no series names, which would be left out silently.
patches_unused() {
	for patch in "$top/patches/$1"/*.patch; do
		[ ! -e "$patch" ] || cat "$top/patches/linux/series" "$top/patches/$1/series" 2>/dev/null |
			grep -qxF -- "${patch##*/}" || die "$patch: in no series"
	done
	for steps in "$top"/patches/linux/*.diff; do
		[ ! -e "$steps" ] || [ -e "${steps%diff}patch" ] || [ -e "${steps%diff}msg" ] ||
			die "$steps: of no patch"
	done
}

# The files that the patches in "$@" touch, new ones among them.
touched() {
	cat -- "$@" /dev/null | sed -n -e 's|^+++ b/\([^	]*\).*|\1|p' -e 's|^--- a/\([^	]*\).*|\1|p' | sort -u
}
