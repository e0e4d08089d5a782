#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# guest/packages.sh: in a new Debian system, install the packages whose files are in /root, run the
# first commands of README.md as a user, and remove the packages. Write the output of each step to
# /root/said, where parts/packages checks it.

said=/root/said
mkdir "$said"
cd /root || exit
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# step NAME COMMAND...: run COMMAND. Store the output, the exit status and the duration in seconds.
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

# List all files except those in home directories, and except dpkg's and apt's own data.
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
# List the files of Debian's devscripts. Our packages must not contain files with these names.
step download sh -c 'apt-get download devscripts && dpkg-deb -c devscripts_*.deb'
# With --autoremove, apt-get also removes the packages that were installed only because our packages
# depend on them.
step remove apt-get purge -y --autoremove bts bts-vm
files > "$said/after"
