#!/usr/bin/env bash
# The completion scripts, in the shells that they are for.
set -uo pipefail
. "$(dirname "$0")/check.sh"

mkdir "$work/bin" "$work/files" && ln -s "$kentry" "$work/bin/kentry" && touch "$work/files/run one.json"
export PATH=$work/bin:$PATH
for shell in bash zsh fish; do
	check "the script for $shell" 0 kentry completions "$shell"
	cp "$out" "$work/kentry.$shell"
done

# What bash offers for a command line: as readline calls the function, words split at '=' too.
cat >"$work/ask.bash" <<'END'
source "$1"
line=$2
compopt() { :; } # known only while completing
COMP_LINE=$line COMP_POINT=${#line}
read -ra COMP_WORDS <<<"${line//=/ = }"
[[ $line == *" " || $line == *= ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
cur=${COMP_WORDS[COMP_CWORD]}
function=$(complete -p kentry | sed 's/.*-F \([^ ]*\) .*/\1/')
"$function" kentry "$cur" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
END

# What zsh offers: its line editor works on terminals only. Ctrl-D lists, Ctrl-U removes the line.
cat >"$work/ask.zsh" <<'END'
zmodload zsh/zpty
file=$1 line=$2
zpty asked "zsh -f -i"
zpty -w asked "autoload -U compinit; compinit -u -d $HOME/.zcompdump; source $file; compdef _kentry kentry"
zpty -w asked "LISTMAX=10000; cd $3; RPROMPT=; PROMPT='<''>'"
# From the prompt on, keys go to the line editor.
zpty -r asked REPLY '*<>*' || exit 1
zpty -n -w asked "$line"$'\C-d\C-u'"print do''ne"$'\n'
until [[ $REPLY == *done* ]]; do
	zpty -r asked REPLY || exit 1
	print -r -- "$REPLY"
done
zpty -d asked
END

# offers SHELL LINE PATTERN...: every one must be offered; one that begins with ! must not.
offers() {
	local shell=$1 line=$2
	shift 2
	case $shell in
	bash) check "bash: $line" 0 bash "$work/ask.bash" "$work/kentry.bash" "$line" ;;
	fish) check "fish: $line" 0 env HOME="$work" fish --no-config -c "source $work/kentry.fish; cd $work/files; complete -C '$line'" ;;
	zsh) check "zsh: $line" 0 env HOME="$work" zsh -f "$work/ask.zsh" "$work/kentry.zsh" "$line" "$work/files" ;;
	esac
	for pattern in "$@"; do
		case $pattern in
		!*) refuse "${pattern#!}" ;;
		*) expect "$pattern" ;;
		esac
	done
}

# Runs that are kept.
kentry --entry call --operation none --budget 0.1 --strict-budget --name before-update >/dev/null 2>&1
kentry --entry call --operation none --budget 0.1 --strict-budget --name beyond >/dev/null 2>&1
kentry --entry call --operation none --budget 0.1 --strict-budget >/dev/null 2>&1
check "the names of runs" 0 kentry runs names
expect '^before-update$'
expect '^beyond$'
expect '^latest$'

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null; then
		skip "completion in $shell" "no $shell here"
		continue
	fi
	if [ "$shell" = zsh ] && ! has_terminals; then
		skip "completion in zsh" "$why"
		continue
	fi
	offers "$shell" "kentry " explain lab
	offers "$shell" "kentry --ent" entry
	offers "$shell" "kentry --entry sys" 'syscall-x86_64' 'sysenter-i386' '!vdso'
	offers "$shell" "kentry measure --operation getp" getppid '!gettimeofday'
	offers "$shell" "kentry lab --entry call-g" call-gate-i386
	offers "$shell" "kentry lab --set p" 'pti=on' 'pcid=off' '!smap'
	offers "$shell" "kentry explain getp" getppid
	offers "$shell" "kentry explain sysc" 'syscall-x32'
	offers "$shell" "kentry reproduce get" 'gettimeofday-4\.14' '!l4re-null'
	offers "$shell" "kentry tax --layer user" user-dispatch '!ssbd'
	offers "$shell" "kentry compare --entry call-g" call-gate-i386
	offers "$shell" "kentry compare --fail-on " closed opened
	offers "$shell" "kentry compare --git" git-bisect
	for command in show report compare 'runs show' 'runs remove' 'compare before-update'; do
		offers "$shell" "kentry $command be" before-update beyond '!latest'
		offers "$shell" "kentry $command la" latest '!beyond'
	done
	offers "$shell" "kentry compare --base be" before-update beyond
	offers "$shell" "kentry explain call --run be" before-update
	offers "$shell" "kentry show --entry be" '!before-update'
	offers "$shell" "kentry lab be" '!before-update'
	offers "$shell" "kentry completions " zsh
	offers "$shell" "kentry man " explain
	offers "$shell" "kentry --format " markdown
	offers "$shell" "kentry --color " always
done
if command -v bash >/dev/null; then
	# What is offered takes the place of what stands behind the last '='.
	offers bash "kentry lab --set pti=o" '^on$' '^off$'
	offers bash "kentry lab --set=pti=o" '^on$' '^off$'
	offers bash "kentry lab --set p" '^pti=on$'
	offers bash "kentry lab --set=p" '^pti=on$'
	offers bash "kentry lab --set pti=on,pc" '^on,pcid=off$'
	offers bash "kentry lab --entry call --set pti=on --set smap=" '^on$' '!pti'
	offers bash "kentry --entry=rdts" '^rdtscp$'
	# A subcommand that is whole is no run yet.
	offers bash "kentry show" '^show$'
	offers bash "kentry runs show" '^show$'
fi
for shell in zsh fish; do
	# (In bash, readline completes file names where the script has nothing to offer.)
	[ "$shell" != zsh ] || has_terminals || continue
	command -v "$shell" >/dev/null || continue
	offers "$shell" "kentry --output run" 'run.*one\.json'
	offers "$shell" "kentry explain call --run run" 'run.*one\.json'
	offers "$shell" "kentry show run" 'run.*one\.json'
done
finish
