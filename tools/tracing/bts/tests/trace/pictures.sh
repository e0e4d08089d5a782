#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Open dumps in other programs: pictures.sh DIR BTS. DIR contains the traces of record.sh.
#
# A headless Chromium shows the flame graph and the page of bts diff. Chromium also opens folded
# stacks and the timeline in speedscope, which comes from npm and is kept in the cache. speedscope's
# page must show the name of the opened file or of a task. The pictures are saved as DIR/*.png for
# inspection, and each must have several colours. KernelShark's library must count the same
# branches as bts. Print KTAP.

set -u

dir=$1
bts=$2
version=1.25.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests=$(cd -P -- "$(dirname -- "$0")" && pwd)
# shellcheck source=tools/tracing/bts/tests/ktap.sh
. "$tests/../ktap.sh"
cd "$dir" || exit 1

fetch_speedscope() {
	[ -e "$cache/speedscope-$version.tgz" ] ||
		(cd "$cache" && npm pack "speedscope@$version" >"$work/npm" 2>&1) ||
		{ sed 's/^/# /' "$work/npm"; return 1; }
	tar -xf "$cache/speedscope-$version.tgz" -C "$work"
}

# browser URL OPTION...: open URL in a headless Chromium.
browser() {
	url=$1
	shift
	timeout 120 chromium --headless --no-sandbox --disable-dev-shm-usage --user-data-dir="$work/user" \
		--use-angle=swiftshader --enable-unsafe-swiftshader --allow-file-access-from-files \
		--virtual-time-budget=20000 --window-size=1000,600 "$@" "$url" 2>"$work/browser"
}

# colours FILE.png: the picture must have at least six colours with a thousand pixels each.
colours() {
	python3 - "$1" <<-'PYTHON'
	import collections, struct, sys, zlib

	data, at, packed = open(sys.argv[1], "rb").read(), 8, b""
	while at < len(data):
	    size, kind = struct.unpack(">I4s", data[at:at + 8])
	    if kind == b"IHDR":
	        width, height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
	    elif kind == b"IDAT":
	        packed += data[at + 8:at + 8 + size]
	    at += size + 12
	each = {2: 3, 6: 4}[colour]
	raw, last, points = zlib.decompress(packed), bytes(width * each), collections.Counter()

	def predict(a, b, c):
	    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]

	for y in range(height):
	    begin = y * (width * each + 1)
	    kind, line = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * each])
	    for i in range(len(line)) if kind else ():
	        a = line[i - each] if i >= each else 0
	        c = last[i - each] if i >= each else 0
	        line[i] = line[i] + (0, a, last[i], (a + last[i]) // 2,
	                             predict(a, last[i], c))[kind] & 255
	    last = line
	    points.update(bytes(line[i:i + 3]) for i in range(0, len(line), each))
	often = sum(times > 1000 for times in points.values())
	print("#", often, "colours")
	sys.exit(often < 6)
	PYTHON
}

flame() {
	"$bts" dump -f flame -o flame.svg calls-long.dat >"$work/bill" &&
		browser "file://$dir/flame.svg" --screenshot="$dir/flame.png" >/dev/null && colours flame.png
}

# The picture's script must react to clicks on main and "back", and to a search for fib.
flame_clicks() {
	[ -s flame.svg ] || return
	cat - flame.svg >"$work/clicks.html" <<-'HTML'
		<!DOCTYPE html><body onload="test()"><script>
		function test() {
		    const svg = document.querySelector("svg"), said = [];
		    const title = g => g.querySelector("title").textContent;
		    const box = name => [...svg.querySelectorAll("g")].find(g => title(g).startsWith(name + "  ("));
		    const word = text => [...svg.querySelectorAll("text")].find(t => t.textContent.match(text));
		    const click = e => e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		    const width = g => +g.querySelector("rect").getAttribute("width");
		    const whole = g => Math.abs(width(g) - 980) < .01;
		    const fill = g => g.querySelector("rect").getAttribute("fill");
		    const check = (good, what) => said.push((good ? "good: " : "bad: ") + what);
		    const main = box("main"), fib = box("fib"), other = box("_dl_start"), before = width(main);
		    const label = main.querySelector("text").textContent;
		    check(!word(/^back$/), "no label 'back' before the first click");
		    click(main);
		    check(whole(main) && before < 970, "zoom");
		    check(width(fib) < 980 && width(fib) > 300, "callees");
		    check(other.style.display === "none", "other functions");
		    check(whole(box("_start")) && box("_start").style.opacity < 1, "callers");
		    click(fib);
		    click(word(/^back$/));
		    check(whole(main), "back from fib");
		    click(word(/^back$/));
		    check(Math.abs(width(main) - before) < .01 && other.style.display === "", "back from main");
		    check(main.querySelector("text").textContent === label, "the same name");
		    window.prompt = () => "fib";
		    click(word(/^search$/));
		    check(fill(fib) === "#e6e" && fill(main) !== "#e6e", "marks");
		    const x = g => +g.querySelector("rect").getAttribute("x");
		    const y = g => +g.querySelector("rect").getAttribute("y");
		    const fibs = [...svg.querySelectorAll("g")].filter(g => title(g).startsWith("fib  ("));
		    const lowest = fibs.filter(g => !fibs.some(f => y(f) === y(g) + 16 && x(f) <= x(g) + .01 &&
		        x(f) + width(f) >= x(g) + width(g) - .01));
		    const part = lowest.reduce((sum, g) => sum + +title(g).match(/, ([\d.]+)%$/)[1], 0);
		    check(Math.abs(word(/^fib: /).textContent.slice(5, -1) - part) < .01 * lowest.length,
		        `${word(/^fib: /).textContent}, of ${lowest.length} boxes`);
		    window.prompt = () => "";
		    click(word(/^search$/));
		    check(fill(fib) !== "#e6e" && !word(/^fib: /), "no marks");
		    document.body.innerText = said.join("\n");
		}
		</script>
	HTML
	browser "file://$work/clicks.html" --dump-dom | sed 's/<br>/\n/g' >"$work/clicks"
	grep -o 'bad: .*\|good: .*' "$work/clicks" | sed 's/^/# /'
	[ "$(grep -c 'good: ' "$work/clicks")" -eq 11 ] && ! grep -q 'bad: ' "$work/clicks"
}

# add_script <PAGE: add a script to a page of bts diff. In the page's section for main(), the script
# clicks twice on the first row that hides equal or similar code. Then it clicks twice on the row of
# main(). The page's title then lists the lines that were visible at first and after each click.
add_script() {
	sed 's|^</body>|<script>\
		const seen = [], main = [...document.querySelectorAll(".pair>summary")].find(\
			s => s.textContent.startsWith("main"));\
		const same = main.parentElement.querySelector(".same");\
		const look = () => seen.push([same.querySelector(".l"),\
			...document.querySelectorAll("section .at")].map(\
			e => e.checkVisibility() ? e.textContent.trim() : "-").join(" "));\
		look();\
		for (const fold of [same, same, main.parentElement, main.parentElement]) {\
			fold.querySelector("summary").click();\
			look();\
		}\
		document.title = "seen: " + seen.join(" / ");\
		</script>&|'
}

# The runs differ in the depth of a recursion that main starts. The page shows this difference at
# line 8, "if (n < 2)". The page's title must show what each click did. The first two clicks unfold
# and fold the line at which main begins. The last two clicks fold and unfold the difference.
diff_page() {
	"$bts" diff --html diff.html calls-more.dat calls-long.dat >"$work/said"
	[ $? -eq 1 ] && add_script <diff.html | sed '/Content-Security-Policy/d' \
		>"$work/open.html" && browser "file://$work/open.html" --dump-dom >"$work/page" || return 1
	grep '<title>' "$work/page" | sed 's/^/# /'
	line='8[[:space:]]*if (n &lt; 2)'
	begin='[0-9][^/]*'
	grep -q "<title>seen: - $line / $begin $line / - $line / - - / - $line</title>" "$work/page" &&
		browser "file://$dir/diff.html" --screenshot="$dir/diff.png" >/dev/null && colours diff.png
}

# The page's content security policy must block the script that add_script adds.
diff_policy() {
	add_script <diff.html >"$work/closed.html" &&
		browser "file://$work/closed.html" --dump-dom >"$work/page" &&
		grep -q '<title>bts diff</title>' "$work/page" && grep -q '<script>' "$work/page"
}

# speedscope FORMAT FILE WORDS: open FILE in speedscope. The page must then show WORDS.
speedscope() {
	"$bts" dump -f "$1" -o "$work/$2" calls-long.dat >"$work/bill" || return 1
	printf 'speedscope.loadFileFromBase64("%s", "%s")\n' "$2" "$(base64 -w 0 "$work/$2")" \
		>"$work/load.js"
	page="file://$work/package/dist/release/index.html#localProfilePath=$work/load.js"
	browser "$page" --dump-dom >"$work/page" && grep -q "$3" "$work/page" &&
		browser "$page" --screenshot="$dir/speedscope-$1.png" >/dev/null &&
		colours "speedscope-$1.png"
}

# If no file is opened, speedscope's page must not show the words that the tests above look for.
no_file() {
	browser "file://$work/package/dist/release/index.html" --dump-dom >"$work/page" &&
		grep -q 'Drag and drop' "$work/page" &&
		! grep -q 'calls\.folded\|pid [0-9]*, tid' "$work/page"
}

# Each bts_pack row shows the number of its branches. These numbers must add up to the number of
# branches in the summary.
kernelshark() {
	# shellcheck disable=SC2046 # words
	gcc -O1 -o "$work/kshark" "$tests/kshark.c" \
		$(pkg-config --cflags --libs libkshark) &&
		"$work/kshark" calls-long.dat >"$work/rows" || return 1
	sed 's/^/# /' "$work/rows"
	grep -q ' [1-9][0-9]* packs' "$work/rows" &&
		[ "$(sed 's/ .*//' "$work/rows")" = "$("$bts" top calls-long.dat | awk 'END { print $2 }')" ]
}

skip() { # NAME WHY
	result 0 "$1 # SKIP $2"
}

echo "TAP version 13"
mkdir -p "$cache"
if pkg-config --exists libkshark; then
	kernelshark
	result $? "KernelShark's library reads a trace with packs"
else
	skip "KernelShark's library reads a trace with packs" "no libkshark-dev"
fi
if command -v chromium >/dev/null; then
	flame
	result $? "Chromium shows the flame graph"
	flame_clicks
	result $? "the flame graph reacts to clicks and a search"
	diff_page
	result $? "Chromium unfolds and folds rows in a page that compares runs"
	diff_policy
	result $? "the page of bts diff blocks a script that the test adds"
else
	skip "Chromium shows the flame graph" "no chromium"
	skip "the flame graph reacts to clicks and a search" "no chromium"
	skip "Chromium shows a page that compares runs" "no chromium"
fi
if command -v chromium >/dev/null && command -v npm >/dev/null && fetch_speedscope; then
	speedscope folded calls.folded 'calls\.folded'
	result $? "speedscope opens folded stacks"
	speedscope chrome calls.json 'calls (pid [0-9]*, tid [0-9]*)'
	result $? "speedscope opens the timeline"
	no_file
	result $? "before a file is opened, speedscope shows neither file names nor task names"
else
	skip "speedscope opens folded stacks and the timeline" "no chromium, npm or speedscope"
fi
echo "1..$n"
exit $failed
