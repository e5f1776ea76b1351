"""Runs `troupe train` on the examples, for the scripts of this folder. Needs no packages."""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "peers"))
from timing import print_head, print_row  # noqa: F401, for the scripts of this folder

NO_EARLY_STOP = "train.early_stop={monitor='valid/loss',mode='min',patience=1000000,keep_best=false}"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def command(program, file, folder, settings, tasks=None):
    """`file` is the name of an example, which is trained without early stopping, or the path of a run file. Without `tasks` the run
    has one process."""
    example = not pathlib.Path(file).suffix
    arguments = [program, "train", EXAMPLES / f"{file}.toml" if example else file, *(["--local", tasks] if tasks else [])]
    for setting in [f"run.directory='{folder}'", *([NO_EARLY_STOP] if example else []), *settings]:
        arguments += ["--set", setting]
    return arguments


def trained(program, file, settings, tasks=None):
    """Returns the result of a run, and the lines of its metrics, one for each epoch."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([*command(program, file, folder, settings, tasks), "--json"], capture_output=True, text=True)
        result = json.loads(run.stdout.splitlines()[-1])
        if "error" in result:
            return result, []
        lines = (pathlib.Path(result["folder"]) / "metrics.jsonl").read_text().splitlines()
    return result, [json.loads(line) for line in lines]


def seconds_per_round(program, file, settings, tasks, rounds):
    """Returns the time of a round without that of the first ones: the difference of runs with `rounds` and with three times as many."""
    short, long = (trained(program, file, [*settings, f"train.max_steps={count}"], tasks)[0] for count in (rounds, 3 * rounds))
    for result in (short, long):
        if "error" in result:
            sys.exit(result["error"])
    return (long["seconds"] - short["seconds"]) / (long["steps"] - short["steps"])
