#!/bin/sh
# Becomes systemd, as process 1 of a machine whose root is this system's with a layer of its own above.
# machine_boot.sh FOLDER NAME; in new mount, process, host name, IPC, network and cgroup namespaces.
set -eu
folder=$1 name=$2

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$folder"
mkdir "$folder/above" "$folder/work" "$folder/root"
mount -t overlay -o "lowerdir=/,upperdir=$folder/above,workdir=$folder/work" overlay "$folder/root"
cd "$folder/root"

mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys  # the kernel's values are the host's
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755,nosuid,nodev tmpfs run
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs tmp

mount -t tmpfs -o mode=755,nosuid tmpfs dev
for device in null zero full random urandom tty; do
    touch dev/$device
    mount --bind /dev/$device dev/$device
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd

# Nothing runs but what a test starts, and nothing that would set up the host's kernel or devices.
echo "$name" >etc/hostname
ln -sf /lib/systemd/system/basic.target etc/systemd/system/default.target
for unit in systemd-sysctl systemd-modules-load systemd-remount-fs systemd-udevd systemd-binfmt \
    systemd-random-seed systemd-pstore; do
    ln -sf /dev/null etc/systemd/system/$unit.service
done
rm -rf var/log/journal
mkdir var/log/journal
pivot_root . mnt
umount -l /mnt
exec env -i container=culvert-test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd \
    --log-target=null --show-status=no </dev/null
