#!/usr/bin/env python3
"""The page that `troupe report` writes: well-formed, whole, with the right figures, and safe from the text in it.

  report_test.py PROGRAM SOURCE_DIR
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])
VOID = {"meta", "link", "br", "hr", "img", "input"}
HOSTILE = "<script>alert('x')</script>&\""


class Page(html.parser.HTMLParser):
    """Checks that every element is closed in order, and keeps what the tests look for."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.count, self.links, self.text = [], {}, [], []
        self.rows = []  # the cells of each row of each table
        self.titles = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.links += [value for name, value in attrs if name in ("src", "href", "srcset", "action")]
        assert not any(name.startswith("on") for name, value in attrs), attrs
        self.titles += [value for name, value in attrs if name == "title"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data

    def says(self, what):
        return what in " ".join(self.text)


def troupe(*arguments, code=0):
    """Runs the program, which must end with this exit code. Returns its standard output."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def train(example, *more):
    troupe("train", os.path.join(SOURCE, "examples", f"{example}.toml"), "-q", *more)


def report(run, *more):
    """Writes a report and returns the page and what is missing in it."""
    said = json.loads(troupe("report", run, "--json", *more))
    with open(said["files"][0], encoding="utf-8") as file:
        text = file.read()
    # Whatever a browser would load from elsewhere.
    assert not re.search(r"(?i)https?://(?!www\.w3\.org/)|@import|url\(", text), "the page needs the network"
    page = Page(text)
    assert not page.links, page.links
    # Without graphviz the model is not drawn; that it says so is all that a test can ask for.
    return page, [why for why in said["missing"] if "is not installed" not in why]


def check_classes():
    train("digits", "--set", "train.max_epochs=4")
    page, missing = report("runs/digits")
    assert not missing, missing
    if shutil.which("dot"):
        assert page.says("w1") and page.says("SparseSoftmaxCrossEntropyWithLogits"), "the model is not drawn"
    assert os.path.exists("runs/digits/001/report.html")
    matrix = page.rows[next(i for i, row in enumerate(page.rows) if row[:1] == ["label \\ predicted"]):][:11]
    counts = [[int(cell or 0) for cell in row[1:]] for row in matrix[1:]]
    scores = json.loads(troupe("eval", "runs/digits", "--classes", "--json"))
    total, right = sum(map(sum, counts)), sum(counts[i][i] for i in range(10))
    assert total == scores["samples"] == 359, total
    assert abs(right / total - scores["scores"]["accuracy"]) < 1e-6, (right, scores)
    # Precision, recall and F1 of each class follow from the matrix.
    head = next(i for i, row in enumerate(page.rows) if row[:2] == ["class", "precision"])
    for label, row in enumerate(page.rows[head + 1:head + 11]):
        predicted, labelled = sum(line[label] for line in counts), sum(counts[label])
        precision, recall = counts[label][label] / predicted, counts[label][label] / labelled
        expected = [precision, recall, 2 * precision * recall / (precision + recall), labelled, predicted]
        for cell, value in zip(row[1:], expected):
            assert abs(float(cell) - value) < 6e-4, (label, row, expected)
        of_eval = [scores["classes"][label][key] for key in ("precision", "recall", "f1", "labelled", "predicted")]
        assert max(abs(a - b) for a, b in zip(of_eval, expected)) < 1e-12, (label, of_eval, expected)
    confusions = {(int(one["label"]), int(one["predicted"])): one["samples"] for one in scores["confusions"]}
    assert confusions == {(i, k): counts[i][k] for i in range(10) for k in range(10) if i != k and counts[i][k]}
    table = troupe("eval", "runs/digits", "--classes").splitlines()
    assert table[1].split() == ["class", "precision", "recall", "F1", "labelled", "predicted"], table
    assert table[2].split()[0] == "0" and float(table[2].split()[3]) == round(scores["classes"][0]["f1"], 4), table
    assert f"{right} of {total} right" in table[12], table
    # The worst errors are wrong indeed, the worst one first.
    head = next(i for i, row in enumerate(page.rows) if row[:1] == ["sample"])
    errors = page.rows[head + 1:head + 1 + min(20, total - right)]
    losses = [float(row[4]) for row in errors]
    assert losses == sorted(losses, reverse=True) and all(row[1] != row[2] for row in errors), errors
    for part in ["loss", "accuracy", "train", "valid", "sparse_softmax_cross_entropy_with_logits", "troupe "]:
        assert page.says(part), part


def check_numbers():
    train("linear")
    page, missing = report("runs/linear/001", "-o", "linear.html")
    assert not missing, missing
    assert page.says("Predictions and labels") and page.says("mean absolute error") and page.says("R²")
    assert page.count["circle"] > 50, page.count
    train("linear", "--set", "run.name=short", "--set", "train.max_epochs=1")
    report("runs/short")
    with open("runs/short/001/report.html", encoding="utf-8") as file:
        assert file.read().count('class="spot') == 2 + 50, "the only point of each series is seen, and each sample"
    limited, _ = report("runs/linear/001", "-o", "linear.html", "--samples", "7")
    assert limited.says("7 of 50 valid samples")
    refused = json.loads(troupe("eval", "runs/linear", "--classes", "--json", code=2))
    assert "predicts numbers" in refused["error"], refused


def check_hostile():
    with open("hostile.csv", "w", encoding="utf-8") as file:
        for i in range(60):
            file.write(f"{i % 7},{i % 5},{HOSTILE if i % 2 else 'plain'}\n")
    with open("hostile.toml", "w", encoding="utf-8") as file:
        file.write(f"""
run = {{ name = {json.dumps(HOSTILE.replace("/", ""))} }}
[data]
format = "csv"
train = ["hostile.csv"]
label = "last"
label_names = [{json.dumps(HOSTILE)}, "plain"]
batch = 20
[model.variables]
w = {{ shape = [2, 2], init = "zeros" }}
[model.graph]
loss = "mean(sparse_softmax_cross_entropy_with_logits(matmul(image, w), label))"
[train]
loss = "loss"
optimizer = {{ type = "sgd", lr = 0.1 }}
max_epochs = 2
""")
    troupe("train", "hostile.toml", "-q")
    page, missing = report(os.path.join("runs", HOSTILE.replace("/", "")), "-o", "hostile.html")
    assert not missing, missing
    assert "script" not in page.count, page.count
    assert any(HOSTILE in cell for row in page.rows for cell in row), page.rows
    assert any(HOSTILE in title for title in page.titles), page.titles


def check_missing_parts():
    shutil.copytree("runs/digits/001", "partial")
    shutil.rmtree("partial/checkpoints")
    page, missing = report("partial")
    assert len(missing) == 1 and "checkpoint" in missing[0] and page.says(missing[0]), missing
    assert page.says("accuracy") and not page.says("Confusion matrix")
    for file in ["metrics.jsonl", "result.json"]:
        with open(os.path.join("partial", file), "w", encoding="utf-8") as damaged:
            damaged.write("{ damaged\n")
    page, _ = report("partial")
    assert page.says("1 lines of metrics.jsonl are no JSON") and page.says("has no result.json")
    train("language", "--set", "model.outputs={}", "--set", "train.max_steps=2", "--set", "train.max_epochs=1")
    page, missing = report("runs/language")
    assert len(missing) == 1 and "has no signature" in missing[0], missing
    troupe("report", "nowhere", code=2)
    troupe("report", "runs/digits", "-o", "nowhere/report.html", code=1)


def check_picture():
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        print("no picture: there is no chromium")
        return
    page = "file://" + os.path.abspath("hostile.html")
    done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=900,900", "--screenshot=page.png", page],
                          capture_output=True, text=True, timeout=60, check=False)
    assert os.path.exists("page.png") and os.path.getsize("page.png") > 10000, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_classes()
        check_numbers()
        check_hostile()
        check_missing_parts()
        check_picture()


if __name__ == "__main__":
    main()
