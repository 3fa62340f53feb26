#!/usr/bin/env bash
# Makes sure that what a goal needs is on this machine; installs what is missing from Debian's packages, and says so.
#
#	scripts/need.sh build|test|bench|dist|kernel|selftests
set -euo pipefail

# command=package pairs
build=(gcc=gcc make=make)
test=("${build[@]}" strace=strace clang=clang clang-format=clang-format objdump=binutils unshare=util-linux pkill=procps ip=iproute2 man=man-db
	c++=g++ qemu-system-x86_64=qemu-system-x86 cpio=cpio bochs=bochs grub-mkrescue=grub-common xorriso=xorriso
	mformat=mtools xz=xz-utils zsh=zsh fish=fish script=bsdutils
	redis-server=redis-server redis-benchmark=redis-tools
	chromium=chromium chromedriver=chromium-driver python3=python3
	debootstrap=debootstrap rpm=rpm skopeo=skopeo runc=runc)
dist=("${build[@]}" readelf=binutils python3=python3 dpkg-deb=dpkg rpmbuild=rpm)
kernel=("${build[@]}" flex=flex bison=bison bc=bc xz=xz-utils)
selftests=("${build[@]}" xz=xz-utils)
bench=("${build[@]}" stress-ng=stress-ng perf=linux-perf qemu-system-x86_64=qemu-system-x86)

# file=package pairs: what no command tells
build_files=(/usr/include/linux/perf_event.h=libc6-dev)
test_files=("${build_files[@]}" /usr/share/bochs/BIOS-bochs-latest=bochsbios /usr/share/vgabios/vgabios.bin=vgabios
	/usr/lib/x86_64-linux-gnu/bochs/plugins/libbx_term_gui.so=bochs-term /usr/lib/grub/i386-pc=grub-pc-bin
	/usr/lib/grub/x86_64-efi=grub-efi-amd64-bin /usr/share/OVMF/OVMF_CODE_4M.fd=ovmf
	/bin/busybox=busybox-static /usr/lib/python3/dist-packages/yaml=python3-yaml /usr/share/doc/python3-venv=python3-venv)
dist_files=("${build_files[@]}")
kernel_files=("${build_files[@]}" /usr/include/gelf.h=libelf-dev)
selftests_files=("${build_files[@]}" /usr/include/sys/capability.h=libcap-dev)
bench_files=("${build_files[@]}")

# The oldest compiler that the workspace builds with (rust-version in Cargo.toml).
rust_version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "$0")/../Cargo.toml")

main() {
	local goal=${1:?usage: need.sh build|test|bench|dist|kernel|selftests}
	local -n pairs=$goal files=${goal}_files
	local missing=()
	need_rust # first: Debian's brings a C compiler along
	[ "$goal" != test ] || need_rustfmt
	case $goal in test | selftests) add_32_bit ;; esac
	for pair in "${pairs[@]}"; do
		command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
	done
	for pair in "${files[@]}"; do
		[ -e "${pair%%=*}" ] || missing+=("${pair#*=}")
	done
	install "${missing[@]}"
}

# What 32-bit programs are linked with. A compiler looks for a library of its own version: 12 in Debian 12, 14 in 13.
add_32_bit() {
	command -v gcc >/dev/null || install gcc
	local version
	version=$(gcc -dumpversion)
	version=${version%%.*}
	files+=(/usr/lib32/libc.a=libc6-dev-i386 "/usr/lib/gcc/x86_64-linux-gnu/$version/32/libgcc.a=lib32gcc-$version-dev")
}

# A Rust that is new enough: the one that is there, rustup's, or Debian's.
need_rust() {
	rust_is_new_enough && return
	if command -v rustup >/dev/null; then
		echo "need.sh: installing the stable Rust with rustup" >&2
		rustup toolchain install stable --profile minimal --component clippy,rustfmt
		rustup default stable
	else
		install rustc-web cargo-web rustfmt-web
	fi
	rust_is_new_enough && return
	echo "need.sh: Rust $rust_version or newer is needed, and this is $(rustc --version 2>&1 || true)" >&2
	echo "need.sh: on Debian 12, rustc-web from the security archive is new enough; elsewhere, use rustup" >&2
	exit 1
}

# Neither rustup's minimal profile nor rustc-web brings it.
need_rustfmt() {
	cargo fmt --version >/dev/null 2>&1 && return
	if command -v rustup >/dev/null; then
		rustup component add rustfmt clippy
	else
		install rustfmt-web
	fi
}

rust_is_new_enough() {
	local found
	command -v cargo >/dev/null || return 1
	found=$(rustc --version 2>/dev/null | awk '{print $2}') || return 1
	[ -n "$found" ] && [ "$(printf '%s\n' "$rust_version" "$found" | sort -V | head -n 1)" = "$rust_version" ]
}

install() {
	[ $# -gt 0 ] || return 0
	local as_root=()
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null || give_up "$@"
		as_root=(sudo)
	fi
	command -v apt-get >/dev/null || give_up "$@"
	echo "need.sh: installing $*" >&2
	"${as_root[@]}" apt-get update -qq >&2
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

give_up() {
	echo "need.sh: please install these packages (Debian's names) and try again: $*" >&2
	exit 1
}

main "$@"
