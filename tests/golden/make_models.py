"""Makes tests/golden/models: saved models of TensorFlow, and what each yields for its inputs.

A folder NAME is a saved model; NAME.npz has its inputs as `in_NAME`, but for strings, and what it yields for them as `out_NAME`. Run it
with TensorFlow 2 (docs/golden.md)."""
import os
import shutil
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "models")


class Functions(tf.Module):
    """Variables in attributes and lists, two signatures, a branch, and an output that is an input."""

    def __init__(self):
        self.weights = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
        self.rest = [tf.Variable([1.0, 2.0]), tf.Variable(2.0)]

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def scores(self, x):
        y = tf.nn.relu(tf.matmul(x, self.weights) + self.rest[0]) * self.rest[1]
        return {"scores": y, "best": tf.argmax(y, 1), "same": x}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x"), tf.TensorSpec([], tf.bool, name="up")])
    def moved(self, x, up):
        return {"moved": tf.cond(up, lambda: x + self.rest[1], lambda: x - self.rest[1])}


class Tables(tf.Module):
    """Tables with contents from constants, from a file, and from the values of variables."""

    def __init__(self, vocabulary):
        lookup = tf.lookup
        self.numbers = lookup.StaticHashTable(
            lookup.KeyValueTensorInitializer(["one", "two", "three"], tf.constant([1, 2, 3], tf.int64)), -1)
        words = lookup.TextFileInitializer(vocabulary, tf.string, lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                           lookup.TextFileIndex.LINE_NUMBER)
        self.words = lookup.StaticVocabularyTable(words, 2)
        self.changed = lookup.experimental.MutableHashTable(tf.string, tf.float32, -0.5)
        self.changed.insert(["two", "seven"], [2.5, 7.5])
        self.rows = tf.Variable(np.arange(10, dtype=np.float32).reshape(5, 2))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="word")])
    def find(self, word):
        number = self.numbers.lookup(word)
        return {"number": number, "word": self.words.lookup(word), "changed": self.changed.lookup(word),
                "row": tf.gather(self.rows, number + 1), "size": self.numbers.size()}


def convolution():
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        tf.keras.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.5), layers.Dense(3, activation="softmax")])
    model.layers[1].set_weights([np.linspace(0.5, 2, 4), np.linspace(-1, 1, 4), np.linspace(0, 1, 4), np.linspace(1, 3, 4)])
    return model


def recurrent():
    layers = tf.keras.layers
    return tf.keras.Sequential(
        [tf.keras.Input((6,)), layers.Embedding(20, 4), layers.LSTM(5), layers.Dense(3)])


def save(name, write, inputs, function):
    folder = os.path.join(FOLDER, name)
    shutil.rmtree(folder, ignore_errors=True)
    write(folder)
    os.remove(os.path.join(folder, "fingerprint.pb"))
    if not os.listdir(os.path.join(folder, "assets")):
        os.rmdir(os.path.join(folder, "assets"))
    outputs = tf.saved_model.load(folder).signatures[function](**inputs)
    arrays = {"in_" + key: np.asarray(value) for key, value in inputs.items() if value.dtype != tf.string}
    arrays.update({"out_" + key: value.numpy() for key, value in outputs.items()})
    np.savez(os.path.join(FOLDER, name + ".npz"), **arrays)


def main():
    tf.keras.utils.set_random_seed(7)
    random = np.random.default_rng(7)
    module = Functions()
    signatures = {"serving_default": module.scores, "moved": module.moved}
    save("functions", lambda folder: tf.saved_model.save(module, folder, signatures=signatures),
         {"x": tf.constant([[1.0, 2, 3], [0, -1, 0.5]])}, "serving_default")
    images = tf.constant(random.random((5, 8, 8, 1), dtype=np.float32))
    model = convolution()
    save("convolution", lambda folder: model.export(folder, verbose=False), {model.inputs[0].name: images}, "serving_default")
    words = tf.constant(random.integers(0, 20, (4, 6)).astype(np.float32))
    model = recurrent()
    save("recurrent", lambda folder: model.export(folder, verbose=False), {model.inputs[0].name: words}, "serving_default")
    with tempfile.TemporaryDirectory() as folder:
        vocabulary = os.path.join(folder, "words.txt")
        with open(vocabulary, "w", encoding="utf-8") as file:
            file.write("three\none\nseven\n")
        tables = Tables(vocabulary)
        save("tables", lambda folder: tf.saved_model.save(tables, folder, signatures=tables.find),
             {"word": tf.constant(["one", "seven", "two", "nine", "three", "one"])}, "serving_default")


if __name__ == "__main__":
    sys.exit(main())
