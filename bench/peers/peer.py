"""Sets up TensorFlow for the programs of this folder: graph mode, version 1 control flow and variables, on the CPU. Processes that
they start inherit the environment and find this file and timing.py in FOLDER."""
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import tensorflow

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.disable_control_flow_v2()
tf.disable_resource_variables()

TENSORFLOW = f"TensorFlow {tensorflow.__version__}"
FOLDER = pathlib.Path(__file__).resolve().parent


def config(threads=1, devices=1, folded=True):
    """If `folded` is false, the graph runs as it was written: without meta optimizer, constant folding or shared subexpressions."""
    result = tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads,
                            device_count={"CPU": devices})
    result.graph_options.rewrite_options.disable_meta_optimizer = not folded
    result.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L1 if folded else tf.OptimizerOptions.L0
    return result


def session(graph, **options):
    return tf.Session(graph=graph, config=config(**options))
