"""TensorFlow's null step (feed a scalar, fetch a scalar), to set beside bench/session_bench. In a virtual environment with TensorFlow:
   python bench/peers/null_step.py
"""
import os
import statistics
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()


def microseconds(call, calls=300, rounds=9):
    for _ in range(500):
        call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return statistics.median(times)


x = tf.placeholder(tf.float32, [])
y = x + x
config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
with tf.Session(config=config) as session:
    one = numpy.float32(1)
    function = session.make_callable(y, [x])
    print(f"tensorflow {tensorflow.__version__}")
    print(f"session.run    {microseconds(lambda: session.run(y, {x: one})):8.1f} us")
    print(f"make_callable  {microseconds(lambda: function(one)):8.1f} us")
