#!/usr/bin/env python3
"""The reference made of the program's tables: the files in docs/reference are up to date, the schema takes the examples and refuses
mistakes, bash completes command lines, and troff takes the man pages.

  reference_test.py PROGRAM SOURCE_DIR
"""
import copy
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])


def troupe(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_files():
    made = troupe("help", "reference", "made").split()
    assert len(made) == 5, made
    there = os.path.join(SOURCE, "docs", "reference")
    assert sorted(os.listdir(there)) == sorted(os.listdir("made")), os.listdir(there)
    for path in made:
        assert text_of(path) == text_of(os.path.join(there, os.path.basename(path))), f"{path}: run ninja -C build/release reference"
    keys, layers, commands = (text_of(f"made/{name}.md") for name in ["keys", "layers", "commands"])
    assert "| `train.optimizer.lr` |" in keys and "| `jobs.*` |" in keys and "| `units` |" in layers
    for command in ["train", "report", "graph", "completion"]:
        assert f"## troupe {command}\n" in commands, command


def changed(config, path, value):
    result = copy.deepcopy(config)
    at = result
    *above, last = path.split(".")
    for part in above:
        at = at[part]
    at[last] = value
    return result


def check_schema():
    try:
        import jsonschema
    except ImportError as error:
        print(f"the schema is not tried: {error} (tests/requirements.txt)")
        return
    schema = json.loads(troupe("help", "schema", "run"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    examples = glob.glob(os.path.join(SOURCE, "examples", "*.toml"))
    assert len(examples) >= 8, examples
    for example in examples:
        with open(example, "rb") as file:
            errors = list(validator.iter_errors(tomllib.load(file)))
        assert not errors, f"{example}: {errors[0].json_path}: {errors[0].message}"
    with open(os.path.join(SOURCE, "examples", "digits.toml"), "rb") as file:
        digits = tomllib.load(file)
    with open(os.path.join(SOURCE, "examples", "digits_cnn.toml"), "rb") as file:
        layers = tomllib.load(file)
    # What the schema refuses, the program refuses, too.
    mistakes = {"train.optimiser": {"type": "adam"}, "train.max_epochs": 0, "data.batch": "64", "data.format": "cvs", "run.name": "a/b",
                "train.optimizer": {"type": "adam", "lr": 1e-3, "momentum": 0.9}, "train.optimizer.type": "adan",
                "train.optimizer.lr": 0}
    mistakes["train.checkpoint.every"] = "60"
    for path, value in mistakes.items():
        assert not validator.is_valid(changed(digits, path, value)), path
    # Mistakes in a list of layers.
    for layer in [{"type": "dens", "units": 3}, {"type": "dense", "unit": 3}, {"type": "dense"}]:
        wrong = copy.deepcopy(layers)
        wrong["model"]["layers"][-1] = layer
        assert not validator.is_valid(wrong), layer
    for missing in ["data", "train"]:
        less = copy.deepcopy(digits)
        del less[missing]
        assert not validator.is_valid(less), missing
    cluster = jsonschema.Draft7Validator(json.loads(troupe("help", "schema", "cluster")))
    with open(os.path.join(SOURCE, "examples", "cluster", "cluster.toml"), "rb") as file:
        config = tomllib.load(file)
    assert cluster.is_valid(config)
    for path, value in {"cluster.nam": "x", "jobs.ps": ["a.lab"], "cluster.plain": "yes"}.items():
        assert not cluster.is_valid(changed(config, path, value)), path


def completed(*words):
    """Returns what bash offers for the last word."""
    script = 'eval "$("$0" completion bash)"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _troupe; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script, PROGRAM, *words], capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return done.stdout.split()


def check_completion():
    assert completed("troupe", "tra") == ["train", "trace"], completed("troupe", "tra")
    assert completed("troupe", "eval", "--thr") == ["--threads"]
    assert completed("troupe", "graph", "--form", "") == ["dot", "svg", "html"]
    assert completed("troupe", "graph", "--form", "s") == ["svg"]
    assert completed("troupe", "eval", "--on", "") == ["train", "valid", "test"]
    with open("model.toml", "w", encoding="utf-8"):
        pass
    assert completed("troupe", "train", "mod") == ["model.toml"]
    assert set(completed("troupe", "completion", "")) == {"bash", "zsh", "fish"}
    for shell, option in [("zsh", ["-n"]), ("fish", ["-n"])]:
        script = troupe("completion", shell)
        for part in ["troupe", "train", "probabilities"]:
            assert part in script, (shell, part)
        if shutil.which(shell):
            subprocess.run([shell, *option], input=script, text=True, check=True)
    troupe("completion", "tcsh", code=2)


def check_man_pages():
    pages = troupe("help", "man", "man").split()
    assert "man/troupe.1" in pages and "man/troupe-train.1" in pages
    assert text_of("man/troupe-train.1").startswith(".TH TROUPE-TRAIN 1")
    if not shutil.which("groff"):
        print("the man pages are not tried: there is no groff")
        return
    for page in pages:
        done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", page], capture_output=True, text=True, check=True)
        assert not done.stderr, done.stderr
        assert "NAME" in done.stdout and "SYNOPSIS" in done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_files()
        check_schema()
        check_completion()
        check_man_pages()
        troupe("help", "schema", "graph", code=2)
        troupe("help", "man", code=2)


if __name__ == "__main__":
    main()
