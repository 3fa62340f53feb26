#!/usr/bin/env bash
# Makes the namespaces that it is started in a host of its own: a name, and /usr, /etc, /var/lib and /run into which it may write without
# anybody else seeing it, with target/engines laid over this machine's. Ends when it is killed.
#
#	unshare --mount --uts --net tests/fleet/host.sh NAME ENGINES WORK
set -euo pipefail

name=$1 engines=$2 work=$3
own=$work/hosts/$name

hostname "$name"
mkdir -p "$own"
mount -t tmpfs host "$own"
for part in usr etc var/lib; do
	lower=/$part
	[ ! -d "$engines/$part" ] || lower=$engines/$part:$lower
	mkdir -p "$own/$part" "$own/of-$part"
	mount -t overlay host -o "lowerdir=$lower,upperdir=$own/$part,workdir=$own/of-$part" "/$part"
done
mount -t tmpfs run /run
cat "$work/names" >>/etc/hosts
# What sshd becomes until somebody has logged in.
grep -q '^sshd:' /etc/passwd || echo 'sshd:x:979:65534::/run/sshd:/usr/sbin/nologin' >>/etc/passwd
mkdir -p /run/sshd
ip link set lo up
touch "$work/hosts/$name.ready"
exec sleep infinity
