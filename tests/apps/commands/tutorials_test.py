#!/usr/bin/env python3
"""A tutorial of docs/tutorials does what it says. Its blocks are carried out from top to bottom, in a folder where `examples` is that
of the repository and `troupe` is on the path:

  ```sh               commands; a command that fails is an error
  ```text             lines that what the commands before it have printed has, in this order; "..." stands for anything
  ```toml FILE        (or another language) a file to write; a block without a name is only shown

  tutorials_test.py PROGRAM SOURCE_DIR TUTORIAL [PREFIX]

Commands find the prefix of an installation of Troupe in $PREFIX; without it, a tutorial that needs it is not tried.
"""
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PROGRAM, SOURCE, TUTORIAL = (os.path.abspath(argument) for argument in sys.argv[1:4])
PREFIX = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else ""
TIMEOUT = 300


def blocks():
    """Returns (language, file or "", text, line) for each block."""
    with open(TUTORIAL, encoding="utf-8") as file:
        text = file.read()
    for block in re.finditer(r"^```(\w+) ?(\S*)\n(.*?)^```$", text, re.S | re.M):
        yield block[1], block[2], block[3], text.count("\n", 0, block.start()) + 1


def mark(line):
    return f"@@ commands of line {line}"


def script(folder):
    """Writes the script of the commands, in which the files are written where the tutorial says so."""
    parts = ["set -eo pipefail"]
    for language, name, text, line in blocks():
        if language == "sh":
            parts.append(f"echo '{mark(line)}'\n{text}")
        elif name:
            assert "/" not in name and "TROUPE_END" not in text, name
            parts.append(f"cat >{name} <<'TROUPE_END'\n{text}TROUPE_END")
    path = os.path.join(folder, ".script")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")
    return path


def run(folder):
    """Returns what the commands print. All processes that they start end."""
    environment = dict(os.environ, PATH=":".join([os.path.dirname(PROGRAM), os.path.dirname(sys.executable), os.environ["PATH"]]), PREFIX=PREFIX, COLUMNS="200")
    with subprocess.Popen(["bash", script(folder)], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output = process.communicate(timeout=TIMEOUT)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"{TUTORIAL}: not done after {TIMEOUT} s: {process.communicate()[0]}") from None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # none is left
    assert process.returncode == 0, f"{TUTORIAL}: exit code {process.returncode}\n{output}"
    return output


def check_output(output):
    """Each block of expected lines matches what the commands before it have printed."""
    printed, line = "", 0
    for language, name, text, at in blocks():
        if language == "sh":
            line = at
            printed = output.split(mark(at) + "\n", 1)[1].split("@@ commands of line", 1)[0]
        elif language == "text" and not name:
            expected = ".*?".join(re.escape(part.strip()) for part in text.split("..."))
            assert re.search(expected, printed, re.S), f"{TUTORIAL}:{at}: the commands of line {line} printed\n{printed}\nand not\n{text}"


def main():
    with open(TUTORIAL, encoding="utf-8") as file:
        if "$PREFIX" in file.read() and not PREFIX:
            print(f"{TUTORIAL} is not tried: it needs an installation, which tests/install makes")
            sys.exit(77)
    for module in sorted({name for language, _, text, _ in blocks() if language == "sh" for name in re.findall(r"import (\w+)", text)}):
        if importlib.util.find_spec(module) is None:
            print(f"{TUTORIAL} is not tried: {sys.executable} has no module {module}")
            sys.exit(77)
    assert any(language == "sh" for language, *_ in blocks()), f"{TUTORIAL} has no commands"
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(SOURCE, "examples"), os.path.join(folder, "examples"))
        check_output(run(folder))


main()
