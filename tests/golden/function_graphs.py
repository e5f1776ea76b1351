"""graphs/: calls of functions that choose, repeat, map and differentiate: Case, For, MapDefun, SymbolicGradient, RemoteCall."""
import tensorflow
from tensorflow.python.data.experimental.ops import map_defun
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops

from flow_graphs import control_flow
from reference import f32, i32, tf
from script import Script


def case_by_number():
    """Branches by number, one of which changes a variable; out of range, the last one. The gradient chooses, too."""
    script = Script("graphs/case_by_number", rtol=1e-6)
    with script.graph.as_default(), control_flow(2):
        index, x = tf.placeholder(tf.int32, [], "index"), tf.placeholder(tf.float32, [3], "x")
        v = tf.get_variable("v", initializer=tf.constant(10.0), use_resource=True)
        branches = [lambda: x * x, lambda: x * v.assign_add(1.0), lambda: tf.sin(x)]
        y = tf.identity(tf.switch_case(index, branches), name="y")
        slope = tf.identity(tf.gradients(y, x)[0], name="slope")
        only = tf.identity(tf.switch_case(index, branches[:1]), name="only")
        init = tf.global_variables_initializer()
    script.run(init)
    for value in (0, 1, 2, 7, -1):
        script.step([y, slope, only], {index: i32(value), x: f32([1, -2, 3])})
    script.write()


def counted_loop():
    """For counts up and down, and not at all if start is limit."""

    @function.Defun(tf.int32, tf.float32, tf.float32)
    def body(i, total, product):
        return total + tf.cast(i, tf.float32), product * 2.0

    script = Script("graphs/counted_loop")
    with script.graph.as_default():
        start, limit, delta = (tf.placeholder(tf.int32, [], name) for name in ("start", "limit", "delta"))
        total, product = functional_ops.For(start, limit, delta, [tf.constant(0.0), tf.constant(1.0)], body)
        results = [tf.identity(total, name="total"), tf.identity(product, name="product")]
    for numbers in ((0, 5, 1), (5, -5, -2), (3, 3, 1), (3, 3, 0), (1, 10, 4)):
        script.step(results, dict(zip((start, limit, delta), map(i32, numbers))))
    for numbers in ((0, 5, -1), (5, 0, 1), (0, 1, 0)):
        script.step(results, dict(zip((start, limit, delta), map(i32, numbers))), fails=True)
    script.write()


def mapped_function():
    """A function of the rows of two arguments and of a captured tensor."""
    script = Script("graphs/mapped_function", rtol=1e-6)
    with script.graph.as_default():
        x, y = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.int32, [None], "y")
        w = tf.placeholder(tf.float32, [2], "w")

        @tensorflow.function(input_signature=[tensorflow.TensorSpec([2]), tensorflow.TensorSpec([], tf.int32)], autograph=False)
        def row(a, b):
            return tf.reduce_sum(a * w) * tf.cast(b, tf.float32), tf.stack([b, b + 1])

        sums, pairs = map_defun.map_defun(row, [x, y], [tf.float32, tf.int32], [[], [2]])
        results = [tf.identity(sums, name="sums"), tf.identity(pairs, name="pairs")]
    script.step(results, {x: f32([[1, 2], [3, 4], [5, 6]]), y: i32([1, -2, 3]), w: f32([2, 0.5])})
    script.step(results, {x: f32([[1, 2]]), y: i32([4]), w: f32([1, 1])})
    script.write()


def gradient_of_a_function():
    """SymbolicGradient of a function that calls another, takes one tensor twice, and has a value and an input without gradient."""

    @function.Defun(tf.float32, tf.float32)
    def inner(a, b):
        return tf.tanh(a) * b

    @function.Defun(tf.float32, tf.float32, tf.int32)
    def outer(a, b, n):
        return inner(a, b, name="call_inner") + a * tf.cast(n, tf.float32), n + 1, a - b

    @function.Defun(tf.float32, tf.float32)
    def gradient_of_own(x, dy):
        return dy * 3.0 * x

    @function.Defun(tf.float32, grad_func=gradient_of_own)
    def own(x):
        return x * x

    script = Script("graphs/gradient_of_a_function", rtol=1e-6)
    with script.graph.as_default():
        x, n = tf.placeholder(tf.float32, [3], "x"), tf.placeholder(tf.int32, [], "n")
        y, _, difference = outer(x, x, n, name="call")
        slope = tf.identity(tf.gradients([y, difference], x)[0], name="slope")
        declared = tf.identity(tf.gradients(own(x, name="call_own"), x)[0], name="declared")
    script.step([y, slope, declared], {x: f32([1, -2, 0.5]), n: i32(4)})
    script.write()


def gradient_of_calls_inside():
    """SymbolicGradient in a loop and in a branch, of functions that have constants, and whose gradients have some."""

    @function.Defun(tf.float32)
    def polynomial(x):
        return tf.square(x) * 0.5 + tf.reduce_mean(tf.square(x)) - 1.25

    script = Script("graphs/gradient_of_calls_inside", rtol=1e-6)
    with script.graph.as_default():
        x, n = tf.placeholder(tf.float32, [3], "x"), tf.placeholder(tf.int32, [], "n")
        _, y = tf.while_loop(lambda i, v: i < n, lambda i, v: [i + 1, polynomial(v, name="call_in_loop")], [tf.constant(0), x],
                             [tf.TensorShape([]), tf.TensorShape(None)])
        in_loop = tf.identity(tf.gradients(y, x)[0], name="in_loop")
        z = tf.cond(n > 2, lambda: polynomial(x, name="call_in_branch"), lambda: 3.0 * x)
        in_branch = tf.identity(tf.gradients(z, x)[0], name="in_branch")
        y, z = tf.identity(y, name="y"), tf.identity(z, name="z")
    for count in (0, 1, 3):
        script.step([y, in_loop, z, in_branch], {x: f32([1, -0.5, 0.25]), n: i32(count)})
    script.write()


def remote_call():
    """A call on a device that a constant names."""

    @function.Defun(tf.float32, tf.float32)
    def product(a, b):
        return a * b + 1.0

    script = Script("graphs/remote_call")
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [3], "x")
        result = functional_ops.remote_call(args=[x, x], Tout=[tf.float32], f=product, target="/cpu:0")
        y = tf.identity(result[0] if isinstance(result, (list, tuple)) else result, name="y")
    script.step([y], {x: f32([1, -2, 0.5])})
    script.write()


def optionals():
    """Values that may be missing; their sum and zeros. What is printed after them is nothing."""
    script = Script("graphs/optionals")
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [2], "x")
        some, none = tensorflow.raw_ops.OptionalFromValue(components=[x, x * 2.0]), tensorflow.raw_ops.OptionalNone()
        has = [tensorflow.raw_ops.OptionalHasValue(optional=one, name=name) for one, name in ((some, "has_some"), (none, "has_none"))]
        values = [tensorflow.raw_ops.OptionalGetValue(optional=one, output_types=[tf.float32] * 2, output_shapes=[[2], [2]], name=name)
                  for one, name in ((some, "value"), (none, "no_value"), (tf.zeros_like(some), "zeros"))]
        with tf.control_dependencies(values[0]):
            done = tensorflow.raw_ops.PrintV2(input="", end="", name="done")
    script.step([*has, *values[0], *values[2]], {x: f32([1, -2])}, [done])
    script.step(values[1], fails="InvalidArgument")
    script.write()


GRAPHS = (optionals, case_by_number, counted_loop, mapped_function, gradient_of_a_function, gradient_of_calls_inside, remote_call)
