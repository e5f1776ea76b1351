# %% [markdown]
# # Digits in Python
# Trains a perceptron with 100 hidden units on images of digits, with ops, layers and an optimizer, and predicts digits with it.
# The cells can be run one by one in an editor or in Jupyter, or all at once: `python examples/python/digits.py`.

# %%
import pathlib

import numpy as np

import troupe

random = np.random.default_rng(1)
table = np.loadtxt(pathlib.Path(__file__).parent.parent / "digits.csv", delimiter=",", dtype=np.float32)
random.shuffle(table)
images, labels = table[:, :-1] / 16, table[:, -1].astype(np.int64)
train, held_out = slice(0, 1500), slice(1500, None)
print(f"{len(images)} images of {images.shape[1]} pixels")

# %% [markdown]
# ## The graph
# A network for training and, with the same weights, one for inference, in which dropout does nothing.

# %%
with troupe.Graph() as graph:
    image = troupe.placeholder("float32", [None, 64], name="image")
    label = troupe.placeholder("int64", [None], name="label")

    def logits_of(network):
        hidden = network.dense(image, 100, activation="relu")
        return network.dense(network.dropout(hidden, 0.2), 10)

    network = troupe.nn.Network()
    loss = troupe.nn.softmax_cross_entropy(logits_of(network), label)
    logits = logits_of(network.rebuilt(training=False))
    accuracy = troupe.nn.accuracy(logits, label)
    digit = troupe.ops.argmax(logits, 1, name="digit")
    step = troupe.nn.Adam(troupe.nn.cosine_decay(5e-3, 1000)).minimize(loss)
    initialize = troupe.initializer()

print({name: weight.shape for name, weight in network.weights.items()})

# %% [markdown]
# ## Training
# A callable is prepared once. NumPy arrays go in and out without copies.

# %%
session = troupe.Session(graph, seed=1)
session.run(initialize)
train_step = session.make_callable([loss, step], [image, label])
for epoch in range(20):
    order = random.permutation(1500)
    losses = [train_step(images[batch], labels[batch])[0] for batch in np.array_split(order, 50)]
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}")

# %% [markdown]
# ## Held-out digits

# %%
score = session.run(accuracy, {image: images[held_out], label: labels[held_out]})
print(f"accuracy {score:.3f}")
predicted = session.run(digit, {image: images[held_out][:10]})
print("predicted", predicted, "labels", labels[held_out][:10])

# %% [markdown]
# ## The graph in TensorFlow's format
# A graph can be written and read as a GraphDef, and is then the same one.

# %%
copy = troupe.Graph.from_graph_def(graph.graph_def())
print(f"{len(copy)} nodes, {copy.output('digit').dtype.name} digits")
session.close()
