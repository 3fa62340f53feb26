# Sourced by the scripts that build something of Linux's source: unpacks Debian's package of it.
#
#	unpack_source [FOLDER...]	into the working directory; only these folders of the source, if some are named

source_package=linux-source-6.1

unpack_source() {
	apt-get download -qq "$source_package" >&2 || {
		echo "$(basename "$0"): Debian's $source_package cannot be had here" >&2
		return 1
	}
	dpkg-deb -x "$source_package"_*.deb unpacked
	tar -xf "unpacked/usr/src/$source_package.tar.xz" "${@/#/$source_package/}"
}
