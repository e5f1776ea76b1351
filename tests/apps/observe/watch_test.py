#!/usr/bin/env python3
"""A run that is watched by other programs: its page in Chromium, and its counters as promtool reads them.

  watch_test.py page|metrics PROGRAM SOURCE_DIR [SCREENSHOT]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

WHAT = sys.argv[1]
PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[2:4])
SCREENSHOT = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None


def needs(program):
    found = shutil.which(program)
    if not found:
        print(f"skipped: {program} is not installed")
        sys.exit(77)
    return found


def chromium(url, *options):
    with tempfile.TemporaryDirectory() as profile:
        return subprocess.run(
            [needs("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             f"--user-data-dir={profile}", "--virtual-time-budget=5000", *options, url],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=100).stdout


def check_page(url):
    dom = chromium(url + "?once", "--dump-dom")
    assert 'data-shown="yes"' in dom, dom
    for text in ["watched", "Loss by step", "Accuracy by step", "Where the time of the run goes", "Where the time of a step goes", "epoch ", "valid/accuracy", 'class="curve', "linked"]:
        assert text in dom, f"the page lacks {text!r}:\n{dom}"
    assert "nothing yet" not in dom, dom
    if SCREENSHOT:
        chromium(url + "?once", f"--screenshot={SCREENSHOT}", "--window-size=1280,1500")
        chromium(url + "?once", f"--screenshot={SCREENSHOT}.dark.png", "--window-size=1280,1500", "--blink-settings=preferredColorScheme=0")
        chromium(url + "?once", f"--screenshot={SCREENSHOT}.phone.png", "--window-size=500,2400")


def check_metrics(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        text = answer.read()
    checked = subprocess.run([needs("promtool"), "check", "metrics"], input=text, capture_output=True, check=False)
    assert checked.returncode == 0, (checked.stdout, checked.stderr, text)


def await_epochs(run_folder):
    for _ in range(600):
        state = subprocess.run([PROGRAM, "status", run_folder, "--json"], capture_output=True, text=True, check=False)
        if state.returncode == 0 and json.loads(state.stdout)["epoch"] > 8:
            return
        time.sleep(0.1)
    raise AssertionError("the training does not begin")


def main():
    needs({"page": "chromium", "metrics": "promtool"}[WHAT])
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen(
            [PROGRAM, "train", os.path.join(SOURCE, "examples", "digits.toml"), "--local", "ps=1,worker=2",
             "-q", "--set", "run.name=watched", "--set", f"observe.{WHAT}=127.0.0.1:0", "--set", "train.max_epochs=100000",
             "--set", "train.early_stop.patience=100000"],
            cwd=folder, stdout=subprocess.PIPE, text=True)
        try:
            run_folder = os.path.join(folder, "runs", "watched", "001")
            await_epochs(run_folder)
            with open(os.path.join(run_folder, "addresses.json"), encoding="utf-8") as file:
                url = json.load(file)[WHAT][0]
            if WHAT == "page":
                if SCREENSHOT:
                    time.sleep(5)
                check_page(url)
            else:
                check_metrics(url)
        finally:
            run.send_signal(signal.SIGTERM)
            run.stdout.read()
            assert run.wait(60) == 128 + signal.SIGTERM


if __name__ == "__main__":
    main()
