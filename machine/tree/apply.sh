# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
#
# List and apply the kernel patches, in order. The caller must set $top.
#
#	patches/linux		the series, for the newest kernel
#	patches/6.12		backports that 6.12 needs before the series
#	patches/6.12/overrides	NAME.patch here replaces hunks of the series' NAME.patch on 6.12
#
# A file "series" contains these lines:
#
#	# A. Facilities		the beginning of a group of patches
#	0001-NAME.patch		a patch: a commit message, and any hunks in existing files
#	+ PATH			a new file in the commit of the patch above
#	+ NAME.[ch]		NAME.c and NAME.h
#	+ DIR			all files in DIR that are not listed above
#
# An override begins with lines "drop FILE N..." or "drop FILE all", which list the patch's hunks
# that are left out. After these lines, the override contains the hunks to apply instead. On 6.12,
# apply_patch() accepts fuzz in hunks of the series, but not in hunks of an override.

# patches_base DIR: print the base, 6.12 or mainline, of the kernel source in DIR.
patches_base() {
	case $(awk '$1 == "VERSION" || $1 == "PATCHLEVEL" { print $3 }' "$1/Makefile" | paste -sd. -) in
	6.12 | '') printf '6.12\n' ;;
	*) printf 'mainline\n' ;;
	esac
}

# patches_of BASE: print the series as lines "group NAME", "patch PATH" and "file PATH". The
# backports form group 0.
patches_of() {
	[ ! -e "$top/patches/$1/series" ] ||
		sed -n -e '1i group 0' -e "s|^[^#+ ].*|patch patches/$1/&|p" "$top/patches/$1/series"
	sed -n -e 's|^[^#+ ].*|patch patches/linux/&|p' -e 's/^# \([A-Z]\)\. .*/group \1/p' \
		-e 's/^+ \(.*\)\[ch\]$/file \1c\nfile \1h/p; t' -e 's/^+ /file /p' \
		"$top/patches/linux/series"
}

# kept_hunks OVERRIDE PATCH: print the patch without the hunks that the override drops.
kept_hunks() {
	awk -v override="$1" '
		FILENAME == override {
			for (i = 3; $1 == "drop" && i <= NF; i++)
				drop[$2, $i]
			next
		}
		/^diff --git / { head = ""; file = substr($3, 3); n = 0; kept = 0 }
		/^@@ / { kept = !((file, ++n) in drop || (file, "all") in drop) }
		n == 0 { head = head $0 "\n" }
		n && kept { printf "%s%s\n", head, $0; head = "" }
		n { met[file, n]; met[file, "all"] }
		END { for (what in drop) if (!(what in met)) exit 1 }' "$1" "$2"
}

# apply_patch BASE DIR PATH: apply the patch, and print the hunks that needed fuzz.
apply_patch() {
	override=$top/patches/$1/overrides/${3##*/}
	if [ "$1" = mainline ] || [ "${3%/*}" != patches/linux ]; then
		apply_diff "$top/$3" "$2" 0
	elif [ ! -e "$override" ]; then
		apply_diff "$top/$3" "$2" 2
	else
		kept_hunks "$override" "$top/$3" >"$build/kept-hunks" || die "$override drops hunks that do not exist in $3"
		apply_diff "$build/kept-hunks" "$2" 2 "$3"
		apply_diff "$override" "$2" 0
	fi
}

apply_diff() { # FILE DIR FUZZ [NAME]
	grep -q '^--- ' "$1" || return 0
	patch -d "$2" -p1 -F"$3" --no-backup-if-mismatch <"$1" >"$build/patch-said" ||
		{ printf '%s\n' "$1"; cat "$build/patch-said"; return 1; }
	name=${4:-$1}
	awk -v name="${name##*/}" '$1 == "patching" { file = $3 } / fuzz / { print "fuzz: " name ": " file ": " $0 }' \
		"$build/patch-said"
}
