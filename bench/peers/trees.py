"""Trains a TreeLSTM (Tai et al. 2015) on generated trees of 10 to 30 words, in Troupe (one graph, heights batched) and in PyTorch (eager,
node by node), one thread each, and prints the trees that each trains in a second.

    TORCH=PYTHON python bench/peers/trees.py build/release/bench [ROUNDS]

TORCH is a Python that has PyTorch; this one needs only the standard library. The two take turns, ROUNDS (default 3) times.
"""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

BATCH, BATCHES, WARM_UP = 32, 12, 2

PEER = """
import json, sys, time, torch
torch.set_num_threads(1)
torch.manual_seed(1)
class Tree(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(5000, 300)
        self.of_words, self.of_children = torch.nn.Linear(300, 450), torch.nn.Linear(300, 750)
        self.classes = torch.nn.Linear(150, 5)
    def forward(self, words, inner):
        i, u, o = self.of_words(self.embedding(words)).chunk(3, 1)
        memories = torch.sigmoid(i) * torch.tanh(u)
        outputs = torch.sigmoid(o) * torch.tanh(memories)
        nodes = list(zip(outputs.split(1), memories.split(1)))
        for left, right in inner:
            (h1, c1), (h2, c2) = nodes[left], nodes[right]
            i, u, o, f1, f2 = self.of_children(torch.cat((h1, h2), 1)).chunk(5, 1)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f1) * c1 + torch.sigmoid(f2) * c2
            nodes.append((torch.sigmoid(o) * torch.tanh(c), c))
        return self.classes(nodes[-1][0])
trees = []
for line in open(sys.argv[1]):
    words, inner, label = line.split("|")
    inner = [int(n) for n in inner.split()]
    trees.append((torch.tensor([int(w) for w in words.split()]), list(zip(inner[::2], inner[1::2])), int(label)))
model, batch, seconds = Tree(), int(sys.argv[2]), []
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for first in range(0, len(trees) - batch + 1, batch):
    begin = time.perf_counter()
    logits = torch.cat([model(words, inner) for words, inner, _ in trees[first:first + batch]])
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor([label for _, _, label in trees[first:first + batch]]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seconds.append(time.perf_counter() - begin)
print(json.dumps({"seconds": seconds}))
"""


def tree():
    """Returns a line of the file: neighbours are joined at random until one node is left."""
    words = random.randint(10, 30)
    parts, inner = list(range(words)), []
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1)
        inner += parts[at:at + 2]
        parts[at:at + 2] = [words + len(inner) // 2 - 1]
    numbers = " ".join(str(random.randrange(5000)) for _ in range(words))
    return f"{numbers}|{' '.join(map(str, inner))}|{random.randrange(5)}\n"


def rate(command):
    """Returns the trees in a second of the median step."""
    seconds = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["seconds"]
    return BATCH / statistics.median(seconds[WARM_UP:])


def main():
    program, rounds = pathlib.Path(sys.argv[1]) / "trees_bench", int(sys.argv[2]) if len(sys.argv) > 2 else 3
    random.seed(1)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(tree() for _ in range(BATCH * BATCHES))
        file.flush()
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(rate([program, file.name, str(BATCH), "1"]))
            theirs.append(rate([os.environ["TORCH"], "-c", PEER, file.name, str(BATCH)]))
    print(f"Troupe {statistics.median(ours):.0f} trees/s, PyTorch {statistics.median(theirs):.0f} trees/s, "
          f"ratio {statistics.median(ours) / statistics.median(theirs):.1f}")


main()
