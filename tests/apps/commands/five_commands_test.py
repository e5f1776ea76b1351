#!/usr/bin/env python3
"""The five commands of README's "From a table to a served model", on raw tables with words and headers.

  five_commands_test.py PROGRAM SOURCE_DIR
"""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])


def commands():
    """Returns the commands of the README, as lists of words without the program."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        block = re.search(r"## From a table to a served model\n\n```\n(.*?)```", file.read(), re.S).group(1)
    lines = [line.split("#")[0].split() for line in block.splitlines()]
    assert len(lines) == 5 and all(line[0] == "troupe" for line in lines), lines
    return [line[1:] for line in lines]


def troupe(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def post(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def check_served(arguments, name, rows, classes):
    """Serves the model at any port, and compares what it says of rows of the table with what `predict` does."""
    with subprocess.Popen([PROGRAM, *arguments, "--port", "0"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = re.search(r"(http://\S+): version", server.stdout.readline()).group(1)
            answer = post(f"{url}:predict", {"instances": [{"numbers": row} for row in rows]})
        finally:
            server.terminate()
    assert [one["class"] for one in answer["predictions"]] == classes, (name, answer)


def check(name, delimiter):
    """Runs the commands for a table, whose last column is the label."""
    table = os.path.join(SOURCE, "examples", f"{name}.csv")
    *first, serve = [[word.replace("examples/wine.csv", table).replace("wine", name) for word in line] if name != "wine" else
                     [word.replace("examples/wine.csv", table) for word in line] for line in commands()]
    for line in first:
        troupe(*line)
    with open(table, encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=delimiter))[1:]
    classes = troupe("predict", f"runs/{name}", table).split()[1:]
    right = sum(row[-1] == guess for row, guess in zip(rows, classes))
    assert len(classes) == len(rows) and right > 0.95 * len(rows), (name, right)
    with open(f"runs/{name}/001/report.html", encoding="utf-8") as file:
        assert rows[0][-1] in file.read()
    assert os.path.getsize(f"{name}.onnx") > 1000
    check_served(serve, name, [[float(field) for field in row[:-1]] for row in rows[:5]], classes[:5])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check("wine", ";")
        check("iris", ",")


if __name__ == "__main__":
    main()
