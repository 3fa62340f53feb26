#!/usr/bin/env bash
# Pages of `kentry report` in a headless Chromium: they render, load nothing, filter, open, print; and nothing that a document
# says becomes markup. Pictures of `kentry bill`, `kentry anatomy`, `kentry linux` and `kentry reproduce` the same. With SCREENSHOTS=FOLDER, pictures of what was seen are kept there.
set -uo pipefail
. "$(dirname "$0")/check.sh"

for needed in chromium chromedriver python3; do
	if ! command -v $needed >/dev/null; then
		skip "pages in a browser" "no $needed here (Debian: chromium, chromium-driver, python3)"
		finish
	fi
done

limit=600 example samples
check "documents" 0 "$example" "$work"
for name in ordinary noisy hybrid lab hostile harmless; do
	check "the page of $name" 0 "$kentry" report "$work/$name.json" -o "$work/$name.html"
done
check "a page of two runs" 0 "$kentry" report "$work/ordinary.json" "$work/later.json" -o "$work/several.html"
# Some rows of the later one lack a figure, and of one next to nothing is known.
check "a page of two runs of which one has gaps" 0 "$kentry" report "$work/ordinary.json" "$work/gaps.json" -o "$work/uneven.html"
# Names of files are texts from outside, too.
injecting="$work/<img src=x onerror='window.injected=1'>.json"
cp "$work/hostile.json" "$injecting"
check "a page of two runs with hostile texts" 0 "$kentry" report "$injecting" "$work/hostile.json" -o "$work/hostile-pair.html"
check "a page of two runs with other texts" 0 "$kentry" report "$work/harmless.json" "$work/harmless.json" -o "$work/harmless-pair.html"
check "a page of runs that are not comparable" 0 "$kentry" report "$work/ordinary.json" "$work/later.json" "$work/lab.json" -o "$work/refused.html"
# A machine of another maker.
sed 's/GenuineIntel/AuthenticAMD/g' "$work/later.json" >"$work/other.json"
check "a catalogue" 0 "$kentry" catalogue --output "$work/catalogue" "$work"/{ordinary,noisy,hybrid,lab,other}.json
check "a catalogue of hostile texts" 0 "$kentry" catalogue --output "$work/catalogue-hostile" "$injecting" --title "</title><img src=x>"
for name in counted cycles shrinking nothing many hostile; do
	check "the picture of the bill $name" 0 "$kentry" show "$work/bill-$name.json" --output "$work/bill-$name.svg"
done
for name in one two hostile; do
	check "the picture of the path $name" 0 "$kentry" show "$work/anatomy-$name.json" --output "$work/anatomy-$name.svg"
done
for name in made-up hostile; do
	check "the picture of the kernels $name" 0 "$kentry" show "$work/kernels-$name.json" --output "$work/kernels-$name.svg"
done
check "a page of this machine" 0 "$kentry" "${quick[@]}" --name here
check "a page of this machine" 0 "$kentry" report here --title "This machine" -o "$work/here.html"

# It prints sums of its own, which are added to those of here.
current="in the browser"
if ! PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/page.py" "$work"; then fail "see above"; fi
finish
