#!/usr/bin/env bash
# What a trap of GNU Mach's takes, in instructions, on Debian's kernels of 64 and 32 bits in QEMU. Prints the table, and for the kernels
# with symbols where the instructions are. The kernels are anew each week, so no count is compared with one of before.
# And whether a program that is compiled against GNU Mach's own headers and interfaces finds in the lab what they say.
set -uo pipefail
. "$(dirname "$0")/check.sh"

for tool in qemu-system-x86_64 python3 gcc objcopy; do
	command -v $tool >/dev/null || { skip "GNU Mach" "no $tool"; finish; }
done
folder=$("$root/scripts/gnumach.sh" 2>"$err") || { skip "GNU Mach" "$(tail -n 1 "$err")"; finish; }
kernels=(amd64-up amd64-up-dbg 486-up 486-up-dbg)
table=$work/table

# traps NAME OPTION... KERNEL...: their table; that samples agree, and the log with the counter, is a matter of its status.
traps() {
	check "$1" 0 python3 "$root/tests/gnumach/count.py" "${@:2}"
}

# count KERNEL TRAP: its instructions, in all, or nothing
count() {
	awk -v kernel="$1" -v trap="$2" '$1 == kernel && $4 == trap { print $6 }' "$table"
}

# less WHAT A B: A is less than B, and both are numbers
less() {
	if [[ $2 =~ ^[0-9]+$ && $3 =~ ^[0-9]+$ ]] && [ "$2" -lt "$3" ]; then pass; else fail "$1: '$2' is not less than '$3'"; fi
}

# has KERNEL TRAP: mach_print may be left out of a kernel, and then it is said to be absent.
has() {
	! grep -q "^absent *$1 $2:" "$table"
}

# counts FILE: the rows without what an interrupt may have excluded
counts() {
	awk '$3 == "syscall" || $3 == "lcall" { print $1, $2, $3, $4, $5, $6, $7 }' "$1"
}

traps "instructions of traps" "$folder" "${kernels[@]}"
cp "$out" "$table"
cat "$table"
for kernel in "${kernels[@]}"; do
	current="the traps of $kernel"
	less "entering and returning" 20 "$(count $kernel null_port)"
	for trap in mach_task_self mach_print mach_msg-null; do
		has $kernel $trap || continue
		less "$trap and none" "$(count $kernel null_port)" "$(count $kernel $trap)"
		less "$trap and a message" "$(count $kernel $trap)" "$(count $kernel mach_msg-send-receive)"
	done
	less "a message" "$(count $kernel mach_msg-send-receive)" 5000
	case $kernel in *-dbg)
		for trap in null_port:null_port mach_msg-null:mach_msg_trap mach_msg-send-receive:ipc_mqueue_receive; do
			expect "^path +$kernel ${trap%:*}: syscall.*, ${trap#*:} [0-9]+, "
		done
		;;
	esac
done

# So many nanoseconds for an instruction that the clock ticks every ten thousand.
traps "the same among interrupts" --shift 10 "$folder" amd64-up 486-up
expect '^excluded (amd64|486)-up [a-z_-]+: sample [0-9]+, for vector 0x[23]0$'
if diff <(counts "$table" | grep -E '^(amd64|486)-up ') <(counts "$out") >"$err"; then pass; else fail "the counts of two boots differ"; fi

for one in "amd64 64" "i386 32"; do
	read -r architecture bits <<<"$one"
	check "a program of $bits bits, with GNU Mach's headers" 0 "$root/tests/gnumach/compile.sh" "$folder/$architecture" "$bits" "$work/$architecture"
	for configuration in pti=off pti=on,index-mask=on,stack=minimum,gate=trap; do
		check "the same in the lab, $configuration" 0 "$kentry" lab --set "personality=mach,$configuration" --exec "$work/$architecture/program"
		refuse '^not so: '
		expect '^looked at [1-9][0-9]$'
	done
done

# The library of stubs, there: what the lab answers, but for traps that it lacks. There is no device `entry`, and then the variant of that
# name enters as `gate` does.
lacking='^(task_suspend|task_set_special_port|thread_depress_abort) '
for bits in 64 32; do
	for begun in "gate 00000000" "entry 000009c6"; do
		kernel=$([ $bits = 64 ] && echo amd64-up || echo 486-up)
		check "stubs of ${begun% *} on $kernel" 0 "$root/tests/gnumach/stub.sh" "$folder/$kernel" $bits "${begun% *}"
		if diff <(echo "gate ${begun#* }"; grep -Ev "$lacking" "$root/tests/lab/mach_linked.txt") <(grep -Ev "$lacking" "$out") >"$err"; then
			pass
		else
			fail "it is answered otherwise than in the lab"
		fi
	done
done

finish
