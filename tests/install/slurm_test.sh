#!/usr/bin/env bash
# Runs contrib/slurm/train.sbatch with a stand-in for srun, which starts the tasks of the job on this host with the variables of SLURM.
#   slurm_test.sh PROGRAM SOURCE_DIR
set -euo pipefail
program=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { printf 'FAILED: %s\n' "$*" >&2; cat "$work"/*.log >&2; exit 1; }

cat >"$work/srun" <<'EOF'
#!/usr/bin/env bash
[ "$1" != --kill-on-bad-exit=1 ] || shift
for rank in $(seq 0 $((SLURM_NTASKS - 1))); do
  SLURM_PROCID=$rank SLURM_STEP_NUM_TASKS=$SLURM_NTASKS SLURM_LOCALID=$rank SLURM_STEP_NODELIST=localhost \
    SLURM_STEP_TASKS_PER_NODE=$SLURM_NTASKS "$@" >"$LOGS/$rank.log" 2>&1 &
  tasks+=($!)
done
trap 'kill -TERM "${tasks[@]}"' TERM
code=0
for task in "${tasks[@]}"; do
  wait "$task" || code=$?
  while jobs -pr | grep -qx "$task"; do wait "$task" || code=$?; done  # a signal has ended the wait, but not yet the task
done
exit $code
EOF
chmod +x "$work/srun"

# job OPTION...: the job trains the digits.
job() {
  cd "$work"
  PATH=$work:$PATH LOGS=$work SLURM_JOB_ID=1 SLURM_NTASKS=4 TROUPE=$program exec timeout --foreground 60 \
    bash "$source/contrib/slurm/train.sbatch" "$source/examples/digits.toml" --set "run.directory=$work/runs" "$@"
}

bash "$source/contrib/slurm/train.sbatch" 2>/dev/null && fail "a job without a run file does not fail"
(job --set train.max_epochs=2) || fail "the job failed"
grep -q "completed after 46 steps" "$work/0.log" || fail "the training ended otherwise than it should"

# The time of a job is over: it saves a checkpoint, from which the next one goes on.
rm "$work"/*.log
job --set train.max_epochs=100000 --set train.early_stop.patience=100000 >/dev/null 2>&1 & batch=$!
for _ in $(seq 300); do grep -qs "epoch 5" "$work/0.log" && break; sleep 0.1; done
kill -TERM $batch
code=0
wait $batch || code=$?
[ $code = 143 ] || fail "the job ended with $code"
grep -q "stopped by SIGTERM .*: saved" "$work/0.log" || fail "the job saved no checkpoint"
(job --set train.max_epochs=9) || fail "the second job failed"
grep -q "resumed $work/runs/digits/001 at step" "$work/0.log" || fail "the second job does not go on with the first one's run"
