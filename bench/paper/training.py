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
    """`file` is the name of an example, or the path of a run file. Without `tasks` the run has one process."""
    path = pathlib.Path(file)
    arguments = [program, "train", path if path.suffix else EXAMPLES / f"{file}.toml", *(["--local", tasks] if tasks else [])]
    for setting in [f"run.directory='{folder}'", NO_EARLY_STOP, *settings]:
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
