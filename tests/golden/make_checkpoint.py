"""A checkpoint of the real TensorFlow and the graph that it is of, for tests/interop/bundle_test.cpp: writes tests/golden/checkpoint/.
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


def main():
    FOLDER.mkdir(exist_ok=True)
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
        (FOLDER / "graph.pb").write_bytes(definition.SerializeToString())


if __name__ == "__main__":
    main()
