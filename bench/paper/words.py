"""Measures the words per second of a language model against the number of parameter servers, as OSDI 2016, figure 9, does:
   python bench/paper/words.py build/release/troupe [UNITS]
The model is an LSTM of UNITS (512) units with a vocabulary of 40,000, trained on random words with windows of 20 and two workers; the
servers compute the softmax, over all words or over 512 that are drawn and those of the batch. All processes are on this machine.
Prints a table and draws docs/figures/words.svg.
"""
import pathlib
import random
import sys
import tempfile

from figure import draw
from training import print_head, print_row, seconds_per_round

SERVERS = [1, 2, 4]
BATCH, WINDOW, VOCABULARY = 16, 20, 40_000
LOSSES = {"full softmax": ("softmax_loss(features, next, classes=40000)", 4),
          "sampled softmax": ("sampled_softmax_loss(features, next, classes=40000, sampled=512)", 20)}
RUN_FILE = """
run = {{ name = "words", seed = 1 }}
data = {{ format = "csv", train = ["words.csv"], label = "none", batch = {batch}, inputs = {{ ids = {{ from = "image", cast = "int32" }} }} }}
[model.graph]
next = "reshape(slice(ids, [0, 1], [-1, {window}]), [-1])"
embedded = "nn.embedding(slice(ids, [0, 0], [-1, {window}]), rows=40000, units={units})"
features = "reshape(nn.lstm(embedded, units={units}, sequences=true), [-1, {units}])"
loss = "mean(nn.softmax_loss(features, next, classes=40000))"
[train]
loss = "loss"
optimizer = {{ type = "sgd", lr = 0.1 }}
max_epochs = 1000
"""


def write_run(folder, units):
    """Words are drawn as frequent as those of a text: the probability of word i is proportional to 1 / (i + 1)."""
    draw_ = random.Random(1)
    weights = [1 / (word + 1) for word in range(VOCABULARY)]
    rows = [draw_.choices(range(VOCABULARY), weights, k=WINDOW + 1) for _ in range(20 * BATCH)]
    (folder / "words.csv").write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    (folder / "words.toml").write_text(RUN_FILE.format(batch=BATCH, window=WINDOW, units=units))
    return folder / "words.toml"


def main(program, units):
    series = {name: [] for name in LOSSES}
    print_head("servers", *(f"{name}, words/s" for name in LOSSES), "ratio")
    with tempfile.TemporaryDirectory() as folder:
        file = write_run(pathlib.Path(folder), units)
        for servers in SERVERS:
            for name, (loss, rounds) in LOSSES.items():
                settings = [f"model.graph.loss=mean(nn.{loss})", "train.replication={mode='sync'}"]
                seconds = seconds_per_round(program, file, settings, f"ps={servers},worker=2", rounds)
                series[name].append((servers, BATCH * WINDOW / seconds))
            full, sampled = (points[-1][1] for points in series.values())
            print_row(str(servers), f"{full:.0f}", f"{sampled:.0f}", f"{sampled / full:.1f}")
    draw("words", f"LSTM-{units}, vocabulary 40,000, two workers, one machine", "parameter servers", "words per second", series, "xy",
         SERVERS)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 512)
