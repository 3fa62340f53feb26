# Sourced by tests/fleet.sh: fleet/ansible, by Debian's Ansible over ssh to three hosts, two of which share hardware.

ansible=$work/ansible

start_sshd() {
	local node
	mkdir -p "$ansible" && cp -r "$root"/fleet/ansible/. "$ansible" && chmod 700 "$ansible"
	on control ssh-keygen -q -t ed25519 -N '' -f "$ansible/key" && cp "$ansible/key.pub" "$ansible/authorized" || return
	for node in "${nodes[@]}"; do
		on control ssh-keygen -q -t ed25519 -N '' -f "$ansible/$node" || return
		echo "[$node]:2222 $(cut -d' ' -f1,2 "$ansible/$node.pub")" >>"$ansible/known_hosts"
		printf '%s\n' Port=2222 "HostKey=$ansible/$node" "AuthorizedKeysFile=$ansible/authorized" PidFile=none StrictModes=no UsePAM=no \
			PermitRootLogin=prohibit-password PasswordAuthentication=no "Subsystem=sftp internal-sftp" | tr '=' ' ' >"$ansible/$node.conf"
		# A locked account lets nobody in.
		on "$node" sed -i 's/^root:[^:]*/root:*/' /etc/shadow
		background "$node" "$ansible/$node.log" /usr/sbin/sshd -D -e -f "$ansible/$node.conf"
	done
	cat >"$ansible/inventory" <<-END
		[kentry]
		node1 kentry_hardware=rack7
		node2 kentry_hardware=rack7
		node3
		[kentry:vars]
		ansible_port=2222
		ansible_user=root
		ansible_python_interpreter=/usr/bin/python3
		ansible_ssh_private_key_file=$ansible/key
		ansible_ssh_common_args=-o UserKnownHostsFile=$ansible/known_hosts -o StrictHostKeyChecking=yes
		ansible_remote_tmp=/run/ansible
	END
}

# play OPTION...
play() {
	on control env HOME="$ansible" ANSIBLE_LOCAL_TEMP="$ansible/tmp" ANSIBLE_NOCOLOR=1 ANSIBLE_PIPELINING=1 \
		ansible-playbook -i "$ansible/inventory" "$ansible/measure.yml" -e "kentry_binary=$kentry" -e "{kentry_options: [--budget, '0.05', --strict-budget]}" "$@"
}
export -f play
export ansible kentry

current="sshd starts"
if start_sshd; then pass; else fail "$(tail -n 3 "$ansible"/*.log)"; fi
for node in "${nodes[@]}"; do
	await "sshd of $node answers" 10 on control bash -c "exec 3<>/dev/tcp/$node/2222"
done

# --- check mode: says what would change, and measures nothing ---
check "without a binary" 2 bash -c 'play -e kentry_binary='
expect 'kentry_binary is not set: give the path'
check "check mode" 0 bash -c 'play --check'
for node in "${nodes[@]}"; do expect "^$node +: ok=[0-9]+ +changed=[1-9].*unreachable=0 +failed=0"; done
expect 'kentry would measure this host'
for node in "${nodes[@]}"; do
	check "nothing was changed on $node" 1 on "$node" test -e /usr/local/bin/kentry -o -e /var/lib/kentry -o -e /etc/ansible/facts.d
done

# --- for real ---
check "the playbook" 0 bash -c play
for node in "${nodes[@]}"; do
	expect "^$node +: ok=[0-9]+ +changed=[1-9].*unreachable=0 +failed=0"
done
for node in "${nodes[@]}"; do is_summary "$ansible/runs/$node.ndjson"; done
check "hosts that share hardware take turns" 0 python3 "$root/tests/fleet/at_once.py" 1 "$ansible"/runs/node[12].ndjson

# --- Ansible's facts: read, and not measured ---
before=$(on node1 cksum /var/lib/kentry/summary.ndjson)
check "facts of the last run" 0 on control env HOME="$ansible" ansible -i "$ansible/inventory" node1 -m ansible.builtin.setup -a 'filter=ansible_local gather_subset=!all,local'
expect '"schema": "kentry.summary/1"'
expect "\"run_id\": \"$(sed -n '1s/.*"run_id":"\([^"]*\)".*/\1/p' "$ansible/runs/node1.ndjson")\""
current="the facts measured nothing"
if [ "$(on node1 cksum /var/lib/kentry/summary.ndjson)" = "$before" ]; then pass; else fail "the summary is another one"; fi
on node1 rm /var/lib/kentry/summary.ndjson
check "facts of a host that has no run" 0 on node1 /etc/ansible/facts.d/kentry.fact
expect '^\{\}$'
