#!/usr/bin/env bash
# Two hosts, each a network namespace. Nodes on both train over mutual TLS as docs/guide/clusters.md describes. When the connection is cut, the
# run names the lost worker and goes on without it; when it is there again, the worker joins. Needs root and the ip command.
#   two_hosts_test.sh PROGRAM SOURCE_DIR
set -euo pipefail
program=$1 source=$2

skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "network namespaces need root"
command -v ip >/dev/null || skip "there is no ip command (package iproute2)"

id=troupe$$ folder=$(mktemp -d)
a=$id-a b=$id-b
cleanup() {
  for host in $a $b; do
    ip netns pids $host 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
    ip netns del $host 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap cleanup EXIT
ip netns add $a 2>/dev/null || skip "this system allows no network namespaces"
ip netns add $b
ip link add ${id}a netns $a type veth peer name ${id}b netns $b
ip -n $a addr add 10.77.0.1/24 dev ${id}a
ip -n $b addr add 10.77.0.2/24 dev ${id}b
for host in $a $b; do ip -n $host link set lo up; done
ip -n $a link set ${id}a up
ip -n $b link set ${id}b up

cp "$source/examples/cluster/cluster.toml" "$folder"
cd "$folder"
"$program" certs certs --cluster cluster.toml >/dev/null
on() { ip netns exec "$@"; }
on $a "$program" node --root . --root "$source/examples" --cluster cluster.toml --job ps --task 0 >ps.log 2>&1 &
on $a "$program" node --root . --root "$source/examples" --cluster cluster.toml --job worker --task 0 >worker0.log 2>&1 &
on $b "$program" node --root . --root "$source/examples" --cluster cluster.toml --job worker --task 1 >worker1.log 2>&1 &

fail() { echo "$*"; tail -n 5 ./*.log; exit 1; }
train() { on $a timeout 60 "$program" train "$source/examples/digits.toml" --cluster cluster.toml "$@"; }

train --set train.max_epochs=2 --set train.early_stop.keep_best=false >train.log 2>&1 || fail "training over two hosts failed"
grep -q "completed after 46 steps" train.log || fail "training ended otherwise than it should"

train --set train.max_epochs=100000 --set train.early_stop.patience=100000 >cut.log 2>&1 & trainer=$!
for _ in $(seq 300); do grep -qs "epoch 2" cut.log && break; sleep 0.1; done
await() { for _ in $(seq 200); do grep -qs "$1" cut.log && return; sleep 0.1; done; fail "$2"; }
ip -n $b link set ${id}b down
await "worker/replica:0/task:1.*has been silent.*taken over by" "nobody said who was lost, or took over its shards"
ip -n $b link set ${id}b up
await "worker/replica:0/task:1 is back" "nodes that lost each other did not find each other again"
for process in $(ip netns pids $a); do
  if tr '\0' ' ' <"/proc/$process/cmdline" | grep -q "^$program train "; then kill -TERM "$process"; fi
done
wait $trainer || [ $? = 143 ] || fail "the run ended otherwise than it should"

# A worker whose file is another one takes no part.
ip netns pids $b | xargs -r kill -TERM
tac "$source/examples/digits.csv" >other.csv
on $b sh -c 'mount --bind other.csv "$1/examples/digits.csv" && exec "$2" node --root . --root "$1/examples" --cluster cluster.toml --job worker --task 1' \
  sh "$source" "$program" >worker1.log 2>&1 &
! train --set train.max_epochs=2 >other.log 2>&1 || fail "a worker with another file took part"
grep -q "worker/replica:0/task:1: the training data is another one here" other.log || { cat other.log; fail "the worker with another file was not named"; }
echo "two hosts: fine"
