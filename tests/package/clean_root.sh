#!/bin/sh
# What a user does after the installation: keys, configuration, both ends as the user culvert, bytes
# through the tunnel. Runs in the clean root, in a network of its own; the first thing that fails
# ends it.
set -eu
cd /etc/culvert

culvert keygen psk edge.psk
chgrp culvert edge.psk
chmod 640 edge.psk

cat >server.conf <<END
[daemon]
drain = 1s
[server.edge]
listen = 127.0.0.1:7700
psk = edge.psk
service = load 127.0.0.1:7000
END
cat >>culvert.conf <<END
[client.load]
listen = 127.0.0.1:7001
connect = tcp://localhost:7700
psk = edge.psk
END
for file in server.conf culvert.conf; do
    setpriv --reuid=culvert --regid=culvert --clear-groups culvert check /etc/culvert/$file
done

culvert-load serve --quiet 127.0.0.1:7000 &
backend=$!
daemon() { setpriv --reuid=culvert --regid=culvert --clear-groups culvert run "$1" & }
daemon /etc/culvert/server.conf
server=$!
daemon /etc/culvert/culvert.conf
client=$!
trap 'kill $backend $server $client 2>/dev/null || true' EXIT

tries=0
until culvert-load bulk --quiet --to 127.0.0.1:7001 --bytes 1 >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || exit 1
    sleep .1
done
for process in $server $client; do
    [ "$(stat -c %U:%G /proc/$process)" = culvert:culvert ]
done
culvert-load bulk --quiet --to 127.0.0.1:7001 --direction both --bytes 16M --connections 2

for process in $client $server; do
    kill -TERM $process
    wait $process
done
echo "all bytes came"
