"""Trains the examples in every mode of replication over processes of this machine, from the same seed for the same number of epochs:
   python bench/paper/modes.py build/release/troupe [ROUNDS [EXAMPLE...]]
Prints a table for docs/replication.md, and draws the validation metric after each epoch for each example: docs/figures/modes_EXAMPLE.svg.
A run has two workers, three where one is a backup worker, and a parameter server where the mode has one. Times are medians of ROUNDS
runs (1). A round is an update of the synchronous modes; in async, ssp and hogwild each of the shards of a round is an update.
"""
import statistics
import sys

from figure import draw
from training import print_head, print_row, trained

EXAMPLES = {  # epochs, the metric, what the figure shows, its value for a value of the metric
    "digits_cnn": (9, "accuracy", "share of held-out digits that are wrong", lambda accuracy: max(1 - accuracy, 1e-3)),
    "ratings": (6, "error", "error on held-out ratings (RMS)", float),
    "language": (15, "perplexity", "perplexity of held-out text", float),
}
SERVERS, WORKERS = "ps=1,worker=2", "worker=2"
MODES = {  # the processes, train.replication
    "one process": (None, "mode='sync',shards=2"),
    "sync": (SERVERS, "mode='sync'"),
    "sync, 1 backup of 3": ("ps=1,worker=3", "mode='sync',shards=3,backup_workers=1"),
    "sync bfloat16": (SERVERS, "mode='sync',compression='bfloat16'"),
    "sync topk": (SERVERS, "mode='sync',compression='topk',keep=0.05"),
    "allreduce": (WORKERS, "mode='allreduce'"),
    "allreduce sharded": (WORKERS, "mode='allreduce',shard_optimizer=true"),
    "allreduce bfloat16": (WORKERS, "mode='allreduce',compression='bfloat16'"),
    "allreduce topk": (WORKERS, "mode='allreduce',compression='topk',keep=0.05"),
    "async": (SERVERS, "mode='async'"),
    "hogwild": (None, "mode='hogwild',shards=2"),
    "ssp, staleness 2": (SERVERS, "mode='ssp',staleness=2"),
    "local SGD, every 8": (WORKERS, "mode='local_sgd',average_every=8"),
    "DiLoCo, momentum 0.5": (WORKERS, "mode='local_sgd',average_every=8,outer={type='momentum',lr=0.7,momentum=0.5,nesterov=true}"),
    "DiLoCo, momentum 0.9": (WORKERS, "mode='local_sgd',average_every=8,outer={type='momentum',lr=0.7,momentum=0.9,nesterov=true}"),
}


def joined(curves):
    """Joins modes with the same curve."""
    names = {}
    for name, points in curves.items():
        names.setdefault(tuple(points), []).append(name)
    return {" = ".join(same) if len(same) < 3 else f"{same[0]} and {len(same) - 1} equal ones": points for points, same in names.items()}


def train_all(program, example, rounds):
    """Returns the results of the last of `rounds` runs in each mode, which take turns, with the median of their seconds."""
    epochs, results = EXAMPLES[example][0], {}
    seconds = {name: [] for name in MODES}
    for _ in range(rounds):
        for name, (tasks, replication) in MODES.items():
            results[name] = trained(program, example, [f"train.max_epochs={epochs}", f"train.replication={{{replication}}}"], tasks)
            seconds[name].append(results[name][0].get("seconds", 0))
    return {name: (statistics.median(seconds[name]), *result) for name, result in results.items()}


def main(program, rounds, examples):
    for example in examples or EXAMPLES:
        epochs, metric, what, value = EXAMPLES[example]
        curves = {}
        print_head(example, metric, "loss", "s per epoch", "rounds per s")
        for name, (seconds, result, lines) in train_all(program, example, rounds).items():
            if "error" in result:
                print_row(name, result["error"], "", "", "")
                continue
            curves[name] = [(int(line["epoch"]), value(line[f"valid/{metric}"])) for line in lines]
            print_row(name, f"{result[f'valid/{metric}']:.4f}", f"{result['valid/loss']:.4f}", f"{seconds / epochs:.3f}",
                      f"{result['steps'] / seconds:.0f}")
        ticks = range(1, epochs + 1, (epochs + 9) // 10)
        draw(f"modes_{example}", f"{example}.toml after each epoch", "epoch", what, joined(curves), "y", ticks)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1, sys.argv[3:])
