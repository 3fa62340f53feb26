# Sourced by the scripts that fetch packages of another suite of Debian: apt with a state of its own, in which nothing is installed.
#
#	renew FOLDER [PART]			prints FOLDER. When there is no PART of it (all of it), or it is older than a week, make_anew, which is
#						the script's own, makes it first. An old one is kept where that fails; without one, ends with 77
#	set_apart FOLDER SUITE [ARCHITECTURE]	makes that state in FOLDER, and fetches the suite's lists, of this machine's architecture
#						unless another one is said
#	apart COMMAND...			apt-get or apt-cache with it; what they say goes to stderr
#	cannot WHY				the script's own: says what cannot be had, and ends with 1

keys=/usr/share/keyrings/debian-archive-keyring.gpg

renew() {
	local part=$1${2+/$2}
	if [ -z "$(find "$part" -maxdepth 0 -mtime -7 2>/dev/null)" ]; then
		make_anew || [ -e "$part" ] || exit 77
	fi
	echo "$1"
}

# The archive is the one that this machine's apt knows.
set_apart() {
	local archive suite=$2
	state=$1 architecture=${3-}
	command -v apt-get >/dev/null && [ -r $keys ] || { cannot "apt and Debian's keys are not here"; return; }
	archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
	[ -n "$archive" ] || { cannot "apt knows no archive of Debian here (after apt-get update, it does)"; return; }
	mkdir -p "$state"/{lists/partial,cache/archives/partial}
	echo "deb [signed-by=$keys] $archive $suite main" >"$state/sources.list"
	: >"$state/status"
	apart apt-get -o APT::Update::Error-Mode=any update || { cannot "its lists cannot be fetched"; return; }
}

apart() {
	"$1" -qq -o APT::Get::Assume-Yes=true -o Dir::State="$state" -o Dir::State::status="$state/status" -o Dir::State::lists="$state/lists" \
		-o Dir::Cache="$state/cache" -o Dir::Etc::sourcelist="$state/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o Acquire::Languages=none -o APT::Install-Recommends=false \
		-o APT::Sandbox::User= ${architecture:+-o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture"} "${@:2}" >&2
}
