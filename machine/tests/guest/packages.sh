#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/packages.sh: in a fresh Debian system, install the packages that lie in /root, type the
# first commands as a user, and remove the packages. The output of each step goes to /root/said;
# parts/packages judges it.

said=/root/said
mkdir "$said"
cd /root || exit
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# step NAME COMMAND...: run COMMAND, and keep its output, its status and its time in seconds.
step() {
	name=$1
	shift
	start=$(date +%s%N)
	"$@" > "$said/$name" 2>&1 < /dev/null
	status=$?
	echo "$status $((($(date +%s%N) - start) / 100000000))" |
		sed 's/\(.\)$/.\1/; s/ \./ 0./' > "$said/$name.status"
}

as_user() {
	su - somebody -c "$1"
}

# List all files, without the lists, logs and downloads of dpkg and apt, which belong to no package.
files() {
	find / -xdev \( -path /root -o -path /proc -o -path /sys -o -path /dev \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/cache -o -path /var/log \
		-o -path /home \) -prune -o -print | sort
}

useradd --create-home --shell /bin/sh somebody
apt-get -q update > "$said/update" 2>&1
files > "$said/before"
step install apt-get install -y ./bts_*.deb ./bts-vm_*.deb
dpkg -L bts bts-vm | sort -u > "$said/installed"
step record as_user 'bts-trace record -- ls -R /etc > /dev/null'
step replay as_user 'bts-trace replay | head'
step shadow as_user 'bts-trace record -o shadow.dat -- cat /etc/shadow'
# Debian's devscripts must be installable beside the packages.
step download sh -c 'apt-get download devscripts && dpkg-deb -c devscripts_*.deb'
# Removing the packages removes the packages that they needed, too.
step remove apt-get purge -y --autoremove bts bts-vm
files > "$said/after"
