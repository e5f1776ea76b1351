"""Writes tests/golden/graphs/: small graphs as TensorFlow 2.21 writes them, for tests/interop/golden_graphs_test.cpp.

    python make_graphs.py [FOLDER]
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
FOLDER = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "graphs")


def write(name, build, text=False, **options):
    with tf.Graph().as_default() as graph:
        build()
    definition = graph.as_graph_def(**options)
    path = os.path.join(FOLDER, name)
    with open(path, "w" if text else "wb") as file:
        file.write(str(definition) if text else definition.SerializeToString(deterministic=True))


def write_meta(name, build):
    """With the saver of all variables, and without the definitions of the ops, which are long."""
    with tf.Graph().as_default() as graph:
        build()
        saver = v1.train.Saver(max_to_keep=3)
        meta = v1.train.export_meta_graph(graph=graph, saver_def=saver.as_saver_def())
    meta.meta_info_def.ClearField("stripped_op_list")
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(meta.SerializeToString(deterministic=True))


def training():
    """Two layers and a step of Adam."""
    x = v1.placeholder(tf.float32, [None, 4], "x")
    y = v1.placeholder(tf.int32, [None], "y")
    hidden = tf.nn.relu(tf.matmul(x, v1.get_variable("w1", initializer=tf.ones([4, 8]))))
    logits = tf.matmul(hidden, v1.get_variable("w2", initializer=tf.ones([8, 3])))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    loss = tf.reduce_sum(losses, name="loss")
    v1.train.AdamOptimizer(0.1).minimize(loss, name="step")
    v1.global_variables_initializer()


def collections():
    """The same with a partitioned variable, and collections of each kind."""
    training()
    table = v1.get_variable("table", initializer=tf.ones([5, 2]), partitioner=v1.fixed_size_partitioner(2))
    graph = v1.get_default_graph()
    v1.add_to_collection("losses", graph.get_tensor_by_name("loss:0"))
    v1.add_to_collection("tables", tf.reduce_sum(table, name="sum"))
    v1.add_to_collection("steps", graph.get_operation_by_name("step"))
    for name, values in (("numbers", [1, -2**40]), ("rates", [0.5, 0.25]), ("notes", ["a", "b"])):
        for value in values:
            v1.add_to_collection(name, value)
    v1.global_variables_initializer()


def loop():
    """x to the fifth power, and the number of rounds."""
    x = v1.placeholder(tf.float32, [3], "x")
    rounds, power = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x), [tf.constant(0), x])
    tf.identity(rounds, "rounds")
    tf.identity(power, "power")


def loop_gradient():
    x = v1.placeholder(tf.float32, [3], "x")
    power = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * x), [tf.constant(0), x])[1]
    tf.identity(tf.gradients(power, x)[0], "gradient")


def conditional():
    """2x where the sum is positive, else x - 1."""
    x = v1.placeholder(tf.float32, [3], "x")
    tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1), "y")


def calls():
    """3 (x x + 1), by a function that calls another."""
    @tf.function(input_signature=[tf.TensorSpec([3])])
    def square_plus_one(a):
        return a * a + 1.0

    @tf.function(input_signature=[tf.TensorSpec([3])])
    def thrice(a):
        return square_plus_one(a) * 3.0, a

    x = v1.placeholder(tf.float32, [3], "x")
    tf.identity(thrice(x)[0], "y")


def effects():
    """A function that counts its calls in a variable."""
    counter = v1.get_variable("counter", initializer=0.0, use_resource=True)

    @tf.function(input_signature=[tf.TensorSpec([])])
    def count(by):
        counter.assign_add(by)
        return counter.read_value()

    tf.identity(count(tf.constant(2.0)), "count")
    v1.global_variables_initializer()


def effects_of_branches():
    """A variable that grows by 2 where the sum is positive, and else loses 1 three times."""
    counter = v1.get_variable("counter", initializer=0.0, use_resource=True)
    x = v1.placeholder(tf.float32, [3], "x")

    def lose():
        rounds = tf.while_loop(lambda i: i < 3, lambda i: i + tf.cast(counter.assign_sub(1.0) < 99, tf.int32), [0])
        with tf.control_dependencies(tf.nest.flatten(rounds)):
            return counter.read_value()

    tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: counter.assign_add(2.0), lose), "count")
    v1.global_variables_initializer()


def add_initializers(*local):
    v1.add_to_collection(v1.GraphKeys.INIT_OP, v1.global_variables_initializer())
    v1.add_to_collection(v1.GraphKeys.LOCAL_INIT_OP, tf.group(v1.local_variables_initializer(), *local, name="init_all"))


def input_pipeline():
    """The numbers from 0 to 9, twice, in batches of at most 4, which queue runners make; a variable adds them up."""
    number = v1.train.range_input_producer(10, num_epochs=2, shuffle=False, capacity=4).dequeue()
    numbers, squares = v1.train.batch([number, number * number], 4, capacity=8, allow_smaller_final_batch=True)
    total = v1.get_variable("total", initializer=0)
    tf.identity(numbers, "numbers")
    tf.identity(total.assign_add(tf.reduce_sum(squares)), "added")
    add_initializers()


def sync_replicas():
    """A step of two replicas, each with a point of its own; a queue runner applies the mean of their gradients."""
    x, y = v1.placeholder(tf.float32, [2], "x"), v1.placeholder(tf.float32, [], "y")
    w = v1.get_variable("w", initializer=[1.0, 2.0])
    loss = tf.square(tf.reduce_sum(x * w) - y, name="loss")
    optimizer = v1.train.SyncReplicasOptimizer(v1.train.GradientDescentOptimizer(0.25), 2, total_num_replicas=2)
    tf.group(optimizer.minimize(loss, global_step=v1.train.get_or_create_global_step()), name="step")
    v1.train.add_queue_runner(optimizer.get_chief_queue_runner())
    v1.add_to_collection(v1.GraphKeys.INIT_OP, v1.global_variables_initializer())
    v1.add_to_collection(v1.GraphKeys.LOCAL_INIT_OP, optimizer.chief_init_op)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    v1.disable_control_flow_v2()
    v1.disable_resource_variables()
    write("training.pb", training)
    write("loop.pb", loop)
    write("loop.pbtxt", loop, text=True, add_shapes=True)
    write("loop_gradient.pb", loop_gradient)
    write("conditional.pb", conditional)
    v1.enable_resource_variables()
    write("training_resource.pb", training)
    write("calls.pb", calls)
    write("effects.pb", effects)
    v1.enable_control_flow_v2()
    write("loop_v2.pb", loop)
    write("conditional_v2.pb", conditional)
    write("effects_v2.pb", effects_of_branches)
    write_meta("training_resource.meta", collections)
    v1.disable_resource_variables()
    write_meta("training.meta", collections)
    write_meta("input_pipeline.meta", input_pipeline)
    write_meta("sync_replicas.meta", sync_replicas)


main()
