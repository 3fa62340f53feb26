#!/usr/bin/env bash
# Puts what the examples of fleet/ are for into target/engines/, without installing anything: Debian's Slurm, munge, Ansible, sshd, systemd,
# kubectl. Packages are unpacked, none of their scripts is run, and no service is started.
#
# Prints the folder, whose usr/ and etc/ go over this machine's (tests/fleet/host.sh). Ends with 77 where they cannot be had; the last line on
# stderr says why.
set -euo pipefail

folder=$(cd "$(dirname "$0")/.." && pwd)/target/engines
packages=(slurmctld slurmd slurm-client munge ansible-core openssh-server openssh-client iproute2 systemd kubernetes-client python3-pip
	python3-jsonschema python3-yaml)
programs=(usr/sbin/slurmctld usr/sbin/slurmd usr/sbin/slurmstepd usr/bin/srun usr/sbin/munged usr/bin/ansible-playbook usr/sbin/sshd usr/bin/ssh
	usr/bin/systemd-analyze usr/bin/kubectl usr/bin/pip3 usr/lib/python3/dist-packages/jsonschema usr/lib/python3/dist-packages/yaml)

# In a folder beside it, which takes its place when all is there.
make_anew() {
	mkdir -p "${folder%/*}"
	work=$(mktemp -d "$folder.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"/debs/partial "$work"/new/{usr,etc}
	command -v apt-get >/dev/null || { cannot "there is no apt here"; return; }
	# Those that they need and this machine lacks come along.
	apt-get install --download-only -qq -y --no-install-recommends -o Dir::Cache::archives="$work/debs" -o Debug::NoLocking=true "${packages[@]}" \
		>/dev/null 2>"$work/said" || { cannot "apt cannot fetch their packages: $(tail -n 1 "$work/said")"; return; }
	for package in "$work"/debs/*.deb; do
		[ -e "$package" ] || continue # this machine has all of them
		dpkg-deb -x "$package" "$work/one" || { cannot "$package cannot be unpacked"; return; }
	done
	arrange
	for program in "${programs[@]}"; do
		is_here "$work/new" "$program" || { cannot "no package has $program"; return; }
	done
	rm -rf "$folder"
	mv "$work/new" "$folder"
}

# Debian 12 still has packages with files in /lib and /sbin, which are links into /usr on every machine.
arrange() {
	local part program
	[ -d "$work/one" ] || return 0
	for part in lib bin sbin lib64; do
		[ ! -d "$work/one/$part" ] || { mkdir -p "$work/one/usr/$part" && cp -a "$work/one/$part/." "$work/one/usr/$part/"; }
	done
	for part in usr etc; do
		[ ! -d "$work/one/$part" ] || cp -a "$work/one/$part/." "$work/new/$part/"
	done
	# Slurm's daemons have their names by links that the packages' scripts would make.
	for program in "$work"/new/usr/sbin/*-wlm; do
		[ ! -e "$program" ] || ln -s "${program##*/}" "${program%-wlm}"
	done
	rm -rf "$work"/new/usr/share/{doc,man,locale}
}

# is_here FOLDER PROGRAM: whether it is there or on this machine
is_here() {
	[ -e "$1/$2" ] || [ -e "/$2" ]
}

cannot() {
	echo "engines.sh: the engines of fleet/ cannot be had here: $1" >&2
	return 1
}

is_whole() {
	local program
	[ -d "$folder" ] || return 1
	for program in "${programs[@]}"; do
		is_here "$folder" "$program" || return 1
	done
}

is_whole || make_anew || exit 77
echo "$folder"
