#!/usr/bin/env bash
# Puts kernels of Debian's packages into target/guest/, without installing them: vmlinuz-RELEASE with its config-RELEASE beside
# it. Prints the paths of the kernels, in the order asked for; what is there already is not fetched again.
#
#	scripts/kernels.sh [cloud] [generic] [history] [kvm]	without a word: all but kvm
#
#	cloud	the suite's newest for cloud machines: 6.1 on Debian 12, 6.12 on 13
#	generic	the same for any machine
#	history	three 6.12 for cloud machines: the newest, the oldest, and one between
#	kvm	the generic one whose modules for KVM on AMD are there, too, in kvm-RELEASE/
#
# Ends with 77 when not one kernel of a kind can be had here; the last line on stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/guest

main() {
	local kind
	[ $# -gt 0 ] || set -- cloud generic history
	mkdir -p "$folder"
	work=$(mktemp -d "$folder/fetch.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	for kind; do
		case $kind in
		cloud) have 1 cloud $(newest_first "$(series)" cloud-) ;;
		generic) have 1 generic $(newest_first "$(series)") ;;
		history) have 3 "6.12 cloud" $(newest_first 6.12 cloud- | spread) ;;
		kvm) modules=yes have 1 generic $(newest_first "$(series)") ;;
		*)
			echo "usage: scripts/kernels.sh [cloud] [generic] [history] [kvm]" >&2
			exit 2
			;;
		esac
	done
}

# The suite's own, 6.1: its other kernels are from elsewhere. Where apt no longer knows, what it was.
series() {
	local found
	found=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: linux-image-\([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
	[ -z "$found" ] || echo "$found" >"$folder/series"
	cat "$folder/series" 2>/dev/null || true
}

# newest_first SERIES [cloud-]: releases that apt knows a package of, 6.1.0-56-amd64 or 6.12.117+deb13-cloud-amd64, and those that were
# fetched before.
newest_first() {
	local form="${1//./\\.}\\.[0-9]+([+-][a-z0-9.]*[0-9][a-z0-9.]*)*-${2-}amd64"
	{
		apt-cache pkgnames linux-image- 2>/dev/null | sed -n 's/^linux-image-//; s/-unsigned$//; p'
		find "$folder" -name 'vmlinuz-*' -printf '%f\n' | sed 's/^vmlinuz-//'
	} | grep -xE -- "$form" | sort -ruV || true
}

# The first line, the last, the one between, and then the others.
spread() {
	awk '{ line[NR] = $0 }
		END {
			if (NR) { order[1] = 1; order[2] = NR; order[3] = int((NR + 1) / 2) }
			for (i = 1; i <= 3; i++) if (order[i] && !seen[order[i]]++) print line[order[i]]
			for (i = 1; i <= NR; i++) if (!seen[i]++) print line[i]
		}'
}

# have COUNT KIND RELEASE...: so many of these kernels, the first that can be had.
have() {
	local left=$1 kind=$2 release found=
	shift 2
	if [ $# = 0 ]; then
		echo "kernels.sh: apt knows no package of a $kind kernel here (on Debian, after apt-get update, it does)" >&2
		exit 77
	fi
	for release; do
		[ "$left" -gt 0 ] || return 0
		is_there "$release" || fetch "$release" || continue
		echo "$folder/vmlinuz-$release"
		left=$((left - 1)) found=yes
	done
	if [ -z "$found" ]; then
		echo "kernels.sh: not one package of a $kind kernel can be downloaded and unpacked here" >&2
		exit 77
	fi
}

# is_there RELEASE: with its modules if those are asked for.
is_there() {
	[ -s "$folder/vmlinuz-$1" ] && { [ -z "${modules-}" ] || [ -d "$folder/kvm-$1" ]; }
}

# A package's kernel is the same with and without a signature, but archives do not keep both for long.
fetch() {
	local release=$1 package
	for package in "linux-image-$release" "linux-image-$release-unsigned"; do
		# What says that all is there comes last.
		(
			cd "$work" && rm -rf -- * && apt-get download -qq "$package" >/dev/null 2>&1 &&
				dpkg-deb --fsys-tarfile "$package"_*.deb | tar -x --wildcards "./boot/vmlinuz-$release" "./boot/config-$release" \
					${modules:+"*lib/modules/$release/kernel/*"} &&
				keep_modules "$release" &&
				mv "boot/config-$release" "$folder" && mv "boot/vmlinuz-$release" "$folder"
		) && return 0
	done
	return 1
}

# keep_modules RELEASE: those of KVM, of what was unpacked here, if they are asked for. Packages have them in lib/ on Debian 12, and
# compressed in usr/lib/ on 13.
keep_modules() {
	[ -n "${modules-}" ] || return 0
	rm -rf "$folder/kvm-$1" && mkdir kvm &&
		find . -path "*/lib/modules/$1/*" \( -name 'irqbypass.ko*' -o -name 'kvm.ko*' -o -name 'ccp.ko*' -o -name 'kvm-amd.ko*' \) \
			-exec mv {} kvm \; &&
		find kvm -name '*.xz' -exec xz -d {} + &&
		[ -s kvm/kvm-amd.ko ] && mv kvm "$folder/kvm-$1"
}

main "$@"
