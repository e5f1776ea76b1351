"""Checkpoints of the real TensorFlow and the graphs that they are of, for bundle_test.cpp and partitioned_test.cpp of
tests/interop/ and for tests/actors/services/saver_steps_test.cpp: writes tests/golden/checkpoint/.
   VENV/bin/python tests/golden/make_checkpoint.py         (made with TensorFlow 2.21.0)
"""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.disable_resource_variables()

FOLDER = pathlib.Path(__file__).parent / "checkpoint"
VALUES = {
    "w": numpy.arange(6, dtype=numpy.float32).reshape(2, 3),
    "layer/count": numpy.int64(2**40),
    "layer/flags": numpy.array([True, False, True]),
    "names": numpy.array([["a", ""], ["longer", "b"]], dtype=object),
    "empty": numpy.zeros([0, 4], numpy.float64),
    "short": numpy.array([1.5, -2], dtype=tf.bfloat16.as_numpy_dtype),
    "z": numpy.complex64(1 - 2j),
}


def whole():
    with tf.Graph().as_default() as graph:
        variables = [tf.Variable(value, name=name, dtype=tf.string if value.dtype == object else None)
                     for name, value in VALUES.items()]
        resource = tf.Variable([1.0, 2.0], name="resource", use_resource=True)
        tf.multiply(variables[0], 2.0, name="doubled")
        tf.identity(resource, name="read")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver([*variables, resource]).save(session, str(FOLDER / "model"), write_meta_graph=False,
                                                        write_state=False)
        definition = tf.graph_util.extract_sub_graph(graph.as_graph_def(), ["doubled", "read", *VALUES])
        (FOLDER / "graph.pb").write_bytes(definition.SerializeToString(deterministic=True))


def partitioned(parts):
    """Variables in so many parts, on two devices in turn, each beginning with its elements' numbers; a momentum of the rows."""
    def variable(name, shape, axis, dtype=tf.float32, **options):
        def initial(part, dtype, partition_info):
            numbers = numpy.arange(numpy.prod(shape)).reshape(shape)
            numbers = numbers[tuple(slice(at, at + n) for at, n in zip(partition_info.var_offset, part))]
            return tf.constant(numbers.astype(str) if dtype == tf.string else numbers, dtype)

        partitioner = tf.fixed_size_partitioner(parts, axis) if parts else None
        if not parts:
            return tf.get_variable(name, shape, dtype, tf.zeros_initializer(), **options)
        return tf.get_variable(name, shape, dtype, initial, partitioner=partitioner, **options)

    devices = [0]

    def alternate(operation):
        if operation.type not in ("VariableV2", "VarHandleOp"):
            return operation.device
        devices[0] += 1
        return f"/cpu:{devices[0] % 2}"

    with tf.device(alternate):
        rows = variable("rows", [5, 3], 0)
        columns = variable("layer/columns", [2, 300], 1, use_resource=True)
        middle = variable("middle", [2, 4, 3], 1)
        words = variable("words", [5], 0, tf.string, trainable=False)
    tf.train.MomentumOptimizer(1.0, 0.5).minimize(tf.reduce_sum(tf.convert_to_tensor(rows)), name="step")
    for name, value in ("rows", rows), ("columns", columns), ("middle", middle), ("words", words):
        tf.identity(tf.convert_to_tensor(value), f"read/{name}")


def write_graph(name, parts):
    with tf.Graph().as_default() as graph:
        partitioned(parts)
    definition = graph.as_graph_def()
    for node in definition.node:
        node.device = ""
    (FOLDER / name).write_bytes(definition.SerializeToString(deterministic=True))


def in_parts():
    """Three parts each, over two files of data; the graphs have them in three, in two, and whole."""
    with tf.Graph().as_default():
        partitioned(3)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            session.run("step")
            tf.train.Saver(sharded=True).save(session, str(FOLDER / "parts"), write_meta_graph=False, write_state=False)
    for name, parts in ("parts_3.pb", 3), ("parts_2.pb", 2), ("parts_0.pb", 0):
        write_graph(name, parts)


def in_tiles():
    """What no partitioner makes: a table cut both ways, and whole dimensions without a length."""
    table = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    slices = {"table": ("0,2:0,3", "0,2:3,1", "2,1:0,3", "2,1:3,1"), "bands": ("0,1:-", "1,2:-")}
    names, specs, values = [], [], []
    for name, cuts in slices.items():
        for cut in cuts:
            ranges = [slice(None) if dim == "-" else slice(int(dim.split(",")[0]), sum(map(int, dim.split(","))))
                      for dim in cut.split(":")]
            names.append(name)
            specs.append(f"3 4 {cut}")
            values.append(table[tuple(ranges)])
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.SaveV2(prefix=str(FOLDER / "tiles"), tensor_names=names, shape_and_slices=specs,
                                      tensors=[tf.constant(value) for value in values]))


def first_format():
    """Two files of the first format, of which each has a part of the table."""
    table = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
    values = {name: value for name, value in VALUES.items() if name != "short"}  # the format has no bfloat16
    values |= {"half": numpy.array([1.5, -2], numpy.float16), "bytes": numpy.array([-128, 127], numpy.int8)}
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.SaveSlices(
            filename=str(FOLDER / "old-0"), tensor_names=[*values, "table"],
            shapes_and_slices=[*([""] * len(values)), "3 4 0,1:-"],
            data=[*(tf.constant(value) for value in values.values()), tf.constant(table[:1])]))
        session.run(tf.raw_ops.SaveSlices(filename=str(FOLDER / "old-1"), tensor_names=["table"], shapes_and_slices=["3 4 1,2:-"],
                                          data=[tf.constant(table[1:])]))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    whole()
    in_parts()
    in_tiles()
    first_format()
