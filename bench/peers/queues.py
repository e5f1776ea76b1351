"""Compares queues, parsers and decoders of Troupe with those of TensorFlow, which take turns in one run:
   python bench/peers/queues.py build/release/troupe [rounds [part of a name]]
Needs a virtual environment with tensorflow-cpu. A graph is built in TensorFlow and written to a file, which Troupe runs with
`troupe bench`. TensorFlow runs the same graph in a session; Example protos and JPEG files it reads with tf.data, inside its
runtime (`Dataset.reduce`). Both sides have as many threads as the row says. Prints a table for bench/README.md: the median over the
rounds of the time per item, with the minimum and maximum, and the ratio of the medians.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy

from peer import TENSORFLOW, session, tf, tensorflow
from timing import print_head, print_row, ratio, step_times, text

SECONDS = 1
LOOP = 1000    # the elements that one step moves through a queue
BATCH = 128    # the examples of a batch
IMAGES = 64    # the files that one step decodes


def example(label):
    """An Example of 32 floats, a label and a few words, 250 bytes."""
    random = numpy.random.default_rng(label)
    feature = tf.train.Feature
    return tf.train.Example(features=tf.train.Features(feature={
        "x": feature(float_list=tf.train.FloatList(value=random.normal(size=32))),
        "label": feature(int64_list=tf.train.Int64List(value=[label])),
        "words": feature(bytes_list=tf.train.BytesList(value=[b"one", b"word", b"more"])),
    })).SerializeToString()


def parse(serialized):
    features = {"x": tf.FixedLenFeature([32], tf.float32), "label": tf.FixedLenFeature([], tf.int64),
                "words": tf.VarLenFeature(tf.string)}
    parsed = tf.parse_example(serialized, features)
    return parsed["x"], parsed["label"], parsed["words"].values


def jpeg(seed):
    """A smooth image of 320 x 240 pixels, as photographs are, in about 20 KB."""
    random = numpy.random.default_rng(seed)
    with tf.Graph().as_default():
        small = tf.constant(random.uniform(0, 255, (1, 24, 32, 3)).astype("f"))
        pixels = tf.cast(tf.image.resize_bilinear(small, (240, 320)), tf.uint8)[0]
        return tf.Session().run(tf.image.encode_jpeg(pixels, quality=95))


def decode(file):
    pixels = tf.cast(tf.image.decode_jpeg(file, channels=3), tf.float32)
    return tf.image.resize_bilinear(tf.expand_dims(pixels, 0), (224, 224))


class Row:
    """Work of `items` per step with a number of threads. `build` makes Troupe's graph and returns what is fetched."""

    def __init__(self, name, threads, items, build):
        self.name, self.threads, self.items = name, threads, items
        with tf.Graph().as_default() as self.graph:
            self.fetch = build()
            self.meta = tf.train.export_meta_graph()

    def write(self, file):
        self.file = file
        file.write_bytes(self.meta.SerializeToString())

    def ours(self, troupe, steps):
        command = [troupe, "bench", str(self.file), "--threads", str(self.threads), "--fetch", self.fetch.name,
                   "--steps", str(steps), "--warmup", str(max(steps // 10, 1))]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return 1 / json.loads(output)["steps_per_second"]

    def theirs(self):
        """Returns a function that does the work of one step in TensorFlow."""
        self.running, self.coordinator = session(self.graph, threads=self.threads), tf.train.Coordinator()
        with self.graph.as_default():
            tf.train.start_queue_runners(self.running, self.coordinator)
        return self.running.make_callable(self.fetch)

    def close(self):
        self.coordinator.request_stop()
        self.running.close()


class DataRow(Row):
    """The work of `element`, a function of the index of an element, which TensorFlow does with tf.data."""

    def __init__(self, name, threads, items, elements, element):
        self.elements, self.element = elements, element
        super().__init__(name, threads, items, self.loop)

    def loop(self):
        def body(i, total):
            return i + 1, total + self.element(i)
        return tf.while_loop(lambda i, _: i < self.elements, body, [tf.constant(0), tf.constant(0.0)])[1]

    def theirs(self):
        graph = tf.Graph()
        with graph.as_default():
            elements = tensorflow.data.Dataset.range(self.elements).map(self.element, num_parallel_calls=self.threads)
            total = elements.reduce(0.0, lambda sum, x: sum + x)
        self.running, self.coordinator = session(graph, threads=self.threads), tf.train.Coordinator()
        return self.running.make_callable(total)


def queue():
    fifo = tf.FIFOQueue(10, [tf.float32], shapes=[[]])

    def body(i, total):
        with tf.control_dependencies([fifo.enqueue(total)]):
            return i + 1, fifo.dequeue() + 1
    return tf.while_loop(lambda i, _: i < LOOP, body, [tf.constant(0), tf.constant(0.0)])[1]


def shuffle_batch(files, at_a_time):
    def build():
        names = tf.train.string_input_producer(files)
        reader = tf.TFRecordReader()
        _, record = reader.read(names) if at_a_time == 1 else reader.read_up_to(names, at_a_time)
        return parse(tf.train.shuffle_batch([record], BATCH, 4096, 1024, enqueue_many=at_a_time > 1))[0]
    return build


def rows(folder):
    files = []
    for shard in range(4):
        files.append(str(folder / f"{shard}.tfrecord"))
        with tf.io.TFRecordWriter(files[-1]) as writer:
            for i in range(5000):
                writer.write(example(shard * 5000 + i))
    records = numpy.array([[example(i * BATCH + j) for j in range(BATCH)] for i in range(10)], object)
    photographs = numpy.array([jpeg(seed) for seed in range(IMAGES)], object)

    def parse_batch(i):
        x, label, words = parse(tf.gather(tf.constant(records), tf.cast(i, tf.int32) % len(records)))
        return tf.reduce_sum(x[0]) + tf.cast(label[0], tf.float32) + tf.cast(tf.size(words), tf.float32)

    def decode_one(i):
        return decode(tf.gather(tf.constant(photographs), tf.cast(i, tf.int32)))[0, 0, 0, 0]

    yield Row("FIFOQueue, enqueue and dequeue of a scalar", 1, LOOP, queue)
    for at_a_time in (1, BATCH):
        yield Row(f"shuffle_batch of TFRecords, {at_a_time} at a time, per example", 2, BATCH, shuffle_batch(files, at_a_time))
    yield DataRow("ParseExample, per example", 2, 100 * BATCH, 100, parse_batch)
    yield DataRow("JPEG of 320 x 240 decoded and resized to 224 x 224", 2, IMAGES, IMAGES, decode_one)


def measure(row, troupe, rounds):
    ours, theirs = [], []
    step = row.theirs()
    step()
    for _ in range(rounds):
        times = step_times(step, SECONDS)
        theirs.append(statistics.fmean(times))
        ours.append(row.ours(troupe, max(3, int(SECONDS / theirs[-1]))))
    row.close()
    print_row(row.name, text(ours, row.items), text(theirs, row.items), ratio(ours, theirs))


def main(troupe, rounds=3, part=""):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print_head("what", "Troupe", TENSORFLOW, "ratio")
        for i, row in enumerate(rows(folder)):
            if part in row.name:
                row.write(folder / f"{i}.meta")
                measure(row, troupe, int(rounds))


if __name__ == "__main__":
    main(*sys.argv[1:])
