#!/usr/bin/env bash
# Puts Debian's Prometheus, node_exporter, NRPE and Nagios' plugin for it into target/monitoring/, without installing anything: packages are
# unpacked, none of their scripts is run, and no root is needed.
#
# Prints the folder; its bin/ has the programs. Ends with 77 where they cannot be had; the last line on stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/monitoring
programs=(usr/bin/promtool usr/bin/prometheus usr/bin/prometheus-node-exporter usr/sbin/nrpe usr/lib/nagios/plugins/check_nrpe)
packages=(prometheus prometheus-node-exporter nagios-nrpe-server nagios-nrpe-plugin libwrap0)

# In a folder beside it, which takes its place when all is there.
make_anew() {
	# Debian 12 has it in the package of Prometheus.
	! apt-cache show promtool >/dev/null 2>&1 || packages+=(promtool)
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/new/bin"
	(cd "$work" && apt-get download -qq "${packages[@]}" >/dev/null 2>&1) || { cannot "apt cannot fetch its packages"; return; }
	for package in "$work"/*.deb; do
		dpkg-deb -x "$package" "$work/new/root" || { cannot "$package cannot be unpacked"; return; }
	done
	for program in "${programs[@]}"; do
		[ -x "$work/new/root/$program" ] || { cannot "no package has $program"; return; }
		wrap "$program"
	done
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

# wrap PROGRAM: a script that runs it with the libraries of its folder before this machine's.
wrap() {
	cat >"$work/new/bin/${1##*/}" <<END
#!/bin/sh
root=\${0%/*}/../root
LD_LIBRARY_PATH=\$root/usr/lib/x86_64-linux-gnu:\$root/lib/x86_64-linux-gnu exec "\$root/$1" "\$@"
END
	chmod +x "$work/new/bin/${1##*/}"
}

cannot() {
	echo "monitoring.sh: Prometheus and NRPE cannot be had here: $1" >&2
	return 1
}

# Whether the folder has every program, and the script that runs it.
is_whole() {
	local program
	for program in "${programs[@]}"; do
		[ -x "$folder/root/$program" ] && [ -x "$folder/bin/${program##*/}" ] || return 1
	done
}

is_whole || make_anew || exit 77
echo "$folder"
