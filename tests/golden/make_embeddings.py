"""Embedding lookups and losses over drawn classes as TensorFlow computes them: writes tests/golden/embeddings.npz, to which
tests/apps/nn/embedding_test.cpp holds those of apps/nn/embedding_lookup.h and apps/nn/class_losses.h. Run it again when a case is added:   VENV/bin/python tests/golden/make_embeddings.py   (made with 2.21.0)

Arrays of a case NAME: NAME.part_I, the parts of the table; NAME.ids, or NAME.indices, NAME.values and NAME.shape, the ids; NAME.weights;
NAME.y, the result; NAME.c, the coefficients of the loss sum(c * y); NAME.g_I, its gradients by the parts, dense. A loss over classes has
NAME.x, NAME.weights, NAME.bias and NAME.labels; NAME.classes, NAME.label_counts and NAME.counts, the candidates; NAME.y; NAME.c; NAME.g_x,
NAME.g_weights and NAME.g_bias.
"""
import os
import pathlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
import numpy
import tensorflow as tf

FILE = pathlib.Path(__file__).parent / "embeddings.npz"
nn = tf.compat.v1.nn
random = numpy.random.default_rng(11)
arrays = {}


def drawn(shape):
    return random.uniform(-1, 1, shape).astype(numpy.float32)


def save(name, counts, lookup, inputs, width=(3,)):
    """`counts` has the numbers of rows of the parts, `lookup` gets the parts and the inputs as tensors."""
    parts = [drawn((count, *width)) for count in counts]
    variables = [tf.constant(part) for part in parts]
    with tf.GradientTape() as tape:
        tape.watch(variables)
        y = lookup(variables, {key: tf.constant(value) for key, value in inputs.items()})
        c = drawn(y.shape)
        loss = tf.reduce_sum(c * y)
    gradients = tape.gradient(loss, variables)
    case = {**inputs, "y": y.numpy(), "c": c}
    for i, (part, gradient) in enumerate(zip(parts, gradients)):
        case[f"part_{i}"] = part
        case[f"g_{i}"] = tf.convert_to_tensor(gradient).numpy()
    arrays.update({f"{name}.{key}": value for key, value in case.items()})


def sparse(inputs):
    ids = tf.SparseTensor(inputs["indices"], inputs["values"], inputs["shape"])
    weights = tf.SparseTensor(inputs["indices"], inputs["weights"], inputs["shape"]) if "weights" in inputs else None
    return ids, weights


def i64(values):
    return numpy.array(values, numpy.int64)


def dense_cases():
    ids = numpy.array([[3, 0, 12], [3, 7, 3]], numpy.int32)
    for strategy in ("mod", "div"):
        save(f"lookup_{strategy}", [3, 3, 3, 2, 2],
             lambda parts, x: nn.embedding_lookup(parts, x["ids"], partition_strategy=strategy), {"ids": ids})
    save("lookup_one_part", [13], lambda parts, x: nn.embedding_lookup(parts, x["ids"]), {"ids": ids})
    save("lookup_max_norm", [7, 6], lambda parts, x: nn.embedding_lookup(parts, x["ids"], max_norm=0.8), {"ids": i64([5, 12, 5, 0, 1])})
    save("lookup_of_matrices", [4, 4], lambda parts, x: nn.embedding_lookup(parts, x["ids"], partition_strategy="div"), {"ids": i64([7, 3, 7])},
         width=(2, 2))


def sparse_cases():
    ids = {"indices": i64([[0, 0], [0, 1], [1, 0], [2, 1], [2, 3], [3, 0]]), "values": i64([1, 3, 0, 1, 9, 1]), "shape": i64([4, 5])}
    weights = {"weights": numpy.array([2, 0.5, 1, 3, -1.5, 1], numpy.float32)}
    for combiner in ("sum", "mean", "sqrtn"):
        def lookup(parts, x, **more):
            return nn.embedding_lookup_sparse(parts, *sparse(x), combiner=combiner, partition_strategy="div", **more)
        save(f"sparse_{combiner}", [4, 3, 3], lookup, ids)
        save(f"sparse_{combiner}_weights", [4, 3, 3], lookup, {**ids, **weights})
        save(f"sparse_{combiner}_max_norm", [4, 3, 3], lambda parts, x: lookup(parts, x, max_norm=0.5), {**ids, **weights})


def safe_cases():
    ids = {"indices": i64([[0, 0], [0, 1], [1, 0], [3, 1], [3, 3], [4, 0]]), "values": i64([1, -1, 0, 1, 9, -7]), "shape": i64([6, 5])}
    cube = {"indices": i64([[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]]), "values": i64([2, 4, -1, 4]), "shape": i64([2, 2, 3])}
    weights = {"weights": numpy.array([2, 0.5, 1, -3, 1.5, 1], numpy.float32)}
    for combiner in ("sum", "mean", "sqrtn"):
        def lookup(parts, x, **more):
            return nn.safe_embedding_lookup_sparse(parts, *sparse(x), combiner=combiner, partition_strategy="div", **more)
        save(f"safe_{combiner}", [4, 3, 3], lookup, ids)
        save(f"safe_{combiner}_default", [4, 3, 3], lambda parts, x: lookup(parts, x, default_id=2), ids)
        save(f"safe_{combiner}_weights", [4, 3, 3], lookup, {**ids, **weights})
        save(f"safe_{combiner}_cube", [4, 3, 3], lookup, cube)


def save_loss(name, labels, loss, with_hits, classes, counts):
    """Classes 0 to 6; `counts` has how often each of them is expected among the candidates `classes`."""
    given = {"x": drawn((3, 2)), "weights": drawn((7, 2)), "bias": drawn((7,))}
    labels = i64(labels)
    counts = numpy.array(counts, numpy.float32)
    candidates = {"classes": i64(classes), "label_counts": counts[labels], "counts": counts[classes]}
    tensors = {key: tf.constant(value) for key, value in given.items()}
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        y = loss(weights=tensors["weights"], biases=tensors["bias"], labels=labels, inputs=tensors["x"], num_sampled=len(classes), num_classes=7,
                 num_true=labels.shape[1], sampled_values=[candidates[key] for key in ("classes", "label_counts", "counts")],
                 remove_accidental_hits=not with_hits)
        c = drawn(y.shape)
        total = tf.reduce_sum(c * y)
    gradients = tape.gradient(total, tensors)
    slopes = {f"g_{key}": tf.convert_to_tensor(value).numpy() for key, value in gradients.items()}
    case = {**given, "labels": labels, **candidates, "y": y.numpy(), "c": c, **slopes}
    arrays.update({f"{name}.{key}": value for key, value in case.items()})


def loss_cases():
    counts = [0.9, 0.8, 0.75, 0.5, 0.4, 0.2, 0.1]
    for loss in (nn.sampled_softmax_loss, nn.nce_loss):
        for labels in ([[6], [0], [3]], [[6, 1], [0, 4], [3, 2]]):
            for with_hits in (False, True):
                name = f"{loss.__name__}_{len(labels[0])}_{'with' if with_hits else 'without'}_hits"
                save_loss(name, labels, loss, with_hits, [3, 0, 5, 4], counts)


if __name__ == "__main__":
    dense_cases()
    sparse_cases()
    safe_cases()
    loss_cases()
    numpy.savez(FILE, **{key: numpy.ascontiguousarray(value) for key, value in arrays.items()})
