"""graphs/: conditionals, loops and functions, in the forms of TensorFlow 1 (Switch, Merge, Enter, ...) and 2 (If, While, calls)."""
import contextlib

import tensorflow

from reference import apply, boolean, f32, i32, mixed, text, tf
from script import Script


@contextlib.contextmanager
def control_flow(version):
    (tf.enable_control_flow_v2 if version == 2 else tf.disable_control_flow_v2)()
    yield
    tf.disable_control_flow_v2()


def own_gradients(script, of, slopes):
    """Requests the gradients of `of` by the keys of `slopes` of Troupe, too. Returns what to add to a step that fetches the values of
    `slopes`, those of TensorFlow."""
    script.gradient("own", of, list(slopes))
    return [f"own:{i}" for i in range(len(slopes))], list(slopes.values())


def conditional(version):
    """x squared where x sums up to more than zero, else its negative; and the gradient of that."""
    script = Script(f"graphs/conditional_v{version}")
    with script.graph.as_default(), control_flow(version):
        x = tf.placeholder(tf.float32, [3], "x")
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.square(x), lambda: -x)
        y = tf.identity(y, name="y")
        slope = tf.identity(tf.gradients(y, x)[0], name="slope")
    own, theirs = own_gradients(script, y, {x: slope})
    for value in (f32([1, 2, 3]), f32([-1, -2, 1])):
        script.step([y], {x: value})
        script.step([slope], {x: value})
        script.step(own, {x: value}, like=theirs)
    script.write()


def conditional_updates(version):
    """Only the branch that is taken changes the variable."""
    script = Script(f"graphs/conditional_updates_v{version}")
    with script.graph.as_default(), control_flow(version):
        up = tf.placeholder(tf.bool, [], "up")
        v = tf.get_variable("v", initializer=tf.constant(10.0), use_resource=version == 2)
        done = tf.cond(up, lambda: tf.identity(tf.assign_add(v, 1.0)), lambda: tf.identity(tf.assign_sub(v, 5.0)))
        done = tf.identity(done, name="done")
        init = tf.global_variables_initializer()
    script.run(init)
    for value in (True, False, True):
        script.step([done], {up: boolean(value)})
    script.step([v.value() if version == 2 else v])
    script.write()


def power(x, n):
    """How many rounds it took, and x to the n-th."""
    rounds, power = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), [tf.constant(0), tf.ones([2])])
    return tf.identity(rounds, name="rounds"), tf.identity(power, name="power")


def loop(version):
    script = Script(f"graphs/loop_v{version}", rtol=1e-6)
    with script.graph.as_default(), control_flow(version):
        x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
        results = power(x, n)
    for value in (0, 1, 5, 30):
        script.step(results, {x: f32([2, -1.5]), n: i32(value)})
    script.write()


def loop_gradient(version):
    script = Script(f"graphs/loop_gradient_v{version}", rtol=1e-5)
    with script.graph.as_default(), control_flow(version):
        x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
        y = power(x, n)[1]
        slope = tf.identity(tf.gradients(y, x)[0], name="slope")
    own, theirs = own_gradients(script, y, {x: slope})
    for value in (0, 1, 5):
        script.step([slope], {x: f32([2, -1.5]), n: i32(value)})
        script.step(own, {x: f32([2, -1.5]), n: i32(value)}, like=theirs)
    script.write()


def nested_loops(version):
    """The sum of i j over a rectangle, and the rounds of the inner loop."""
    script = Script(f"graphs/nested_loops_v{version}")
    with script.graph.as_default(), control_flow(version):
        rows, columns = tf.placeholder(tf.int32, [], "rows"), tf.placeholder(tf.int32, [], "columns")

        def row(i, total, count):
            _, total, count = tf.while_loop(lambda j, *_: j < columns, lambda j, t, c: (j + 1, t + i * j, c + 1),
                                            [tf.constant(0), total, count])
            return i + 1, total, count

        _, total, count = tf.while_loop(lambda i, *_: i < rows, row, [tf.constant(0), tf.constant(0), tf.constant(0)])
        total, count = tf.identity(total, name="total"), tf.identity(count, name="count")
    for sides in ((3, 4), (0, 4), (3, 0), (12, 1)):
        script.step([total, count], {rows: i32(sides[0]), columns: i32(sides[1])})
    script.write()


def loop_with_update():
    """A variable that each round changes, in order."""
    script = Script("graphs/loop_with_update")
    with script.graph.as_default(), control_flow(1):
        n = tf.placeholder(tf.int32, [], "n")
        v = tf.get_variable("v", initializer=tf.constant(1.0), use_resource=False)

        def again(i):
            with tf.control_dependencies([tf.assign(v, v.read_value() * 2.0 + 1.0)]):
                return i + 1

        rounds = tf.identity(tf.while_loop(lambda i: i < n, again, [tf.constant(0)], parallel_iterations=1), name="rounds")
        init = tf.global_variables_initializer()
    script.run(init)
    script.step([rounds], {n: i32(3)})
    script.step([v])
    script.step([rounds], {n: i32(0)})
    script.step([v])
    script.write()


def dead_tensors():
    """What is not alive cannot be fetched, what waits for it does not run, and ControlTrigger runs all the same."""
    script = Script("graphs/dead_tensors")
    with script.graph.as_default():
        x, up = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.bool, [], "up")
        no, yes = apply("Switch", data=x, pred=up, name="fork").outputs
        with tf.control_dependencies([tf.identity(no)]):
            behind = tf.constant(1.0, name="behind")
        merged, index = apply("Merge", inputs=[no * 2.0, yes * 3.0], name="join").outputs
        with tf.control_dependencies([tf.identity(no)]):
            trigger = apply("ControlTrigger", name="trigger")
        with tf.control_dependencies([trigger]):
            alive = tf.constant(2.0, name="alive")
    for value in (True, False):
        feeds = {x: f32([1, 2]), up: boolean(value)}
        script.step([merged, index, alive], feeds)
        script.step([yes], feeds, fails=not value)
        script.step([no], feeds, fails=value)
        script.step([behind], feeds, fails=value)
    script.write()


def switched_references():
    """RefSwitch and RefMerge pass on the variable itself: what is assigned to what they yield changes it."""
    script = Script("graphs/switched_references")
    with script.graph.as_default():
        up = tf.placeholder(tf.bool, [], "up")
        a, b = (tf.get_variable(name, initializer=tf.constant(value), use_resource=False) for name, value in (("a", 1.0), ("b", 2.0)))
        a_no, _ = apply("RefSwitch", data=a._ref(), pred=up, name="fork_a").outputs
        _, b_yes = apply("RefSwitch", data=b._ref(), pred=up, name="fork_b").outputs
        chosen, index = apply("RefMerge", inputs=[a_no, b_yes], name="join").outputs
        update = apply("AssignAdd", ref=chosen, value=tf.constant(10.0), name="update").outputs[0]
        init = tf.global_variables_initializer()
    script.run(init)
    for value in (True, False, False):
        script.step([update, index], {up: boolean(value)})
        script.step([a, b])
    script.write()


def loop_of_references():
    """A reference goes round the loop, so each round changes the variable itself."""
    script = Script("graphs/loop_of_references")
    with script.graph.as_default():
        n = tf.placeholder(tf.int32, [], "n")
        v = tf.get_variable("v", initializer=tf.constant(1.0), use_resource=False)

        def enter(op, data, **constant):
            return apply(op, data=data, frame_name="frame", **constant).outputs[0]

        i, ref = (apply(op, inputs=[entered, entered]).outputs[0] for op, entered in (
            ("Merge", enter("Enter", tf.constant(0))), ("RefMerge", enter("RefEnter", v._ref()))))
        again = apply("LoopCond", input=i < enter("Enter", n, is_constant=True)).outputs[0]
        i_end, i_body = apply("Switch", data=i, pred=again).outputs
        ref_end, ref_body = apply("RefSwitch", data=ref, pred=again).outputs
        with tf.control_dependencies([tf.identity(i_body)]):
            one, half = tf.constant(1), tf.constant(0.5)
        i.op._update_input(1, apply("NextIteration", data=i_body + one).outputs[0])
        changed = apply("AssignAdd", ref=ref_body, value=tf.identity(ref_body) + half).outputs[0]
        ref.op._update_input(1, apply("RefNextIteration", data=changed).outputs[0])
        rounds = apply("Exit", data=i_end, name="rounds").outputs[0]
        result = apply("RefExit", data=ref_end, name="result").outputs[0]
        init = tf.global_variables_initializer()
    script.run(init)
    for value in (3, 0):
        script.step([rounds, result], {n: i32(value)})
        script.step([v])
    script.write()


def call():
    """A function that calls another, and the gradient through both."""
    @tensorflow.function(input_signature=[tensorflow.TensorSpec([3])], autograph=False)
    def square_plus_one(a):
        return a * a + 1.0

    @tensorflow.function(input_signature=[tensorflow.TensorSpec([3]), tensorflow.TensorSpec([])], autograph=False)
    def outer(a, factor):
        return square_plus_one(a) * factor, a - 1.0

    script = Script("graphs/call", rtol=1e-6)
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [3], "x")
        y, z = (tf.identity(one, name=name) for name, one in zip("yz", outer(x, tf.constant(3.0))))
    with script.graph.as_default():
        slope = tf.identity(tf.gradients(y, x)[0], name="slope")
    script.step([y, z], {x: f32([1, -2, 3])})
    script.step([slope], {x: f32([1, -2, 3])})
    script.write()


def loop_over_captured_matrix():
    """h = tanh(x w + h u), five times, of which the gradients by w and u are taken: the loop captures the handles of two matrices."""
    script = Script("graphs/loop_over_captured_matrix", rtol=1e-5, atol=1e-7)
    with script.graph.as_default(), control_flow(2):
        x = tf.placeholder(tf.float32, [2, 3], "x")
        w = tf.get_variable("w", initializer=tf.constant(mixed([3, 4])), use_resource=True)
        u = tf.get_variable("u", initializer=tf.constant(mixed([4, 4])), use_resource=True)
        _, h = tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.matmul(x, w) + tf.matmul(h, u))),
                             [tf.constant(0), tf.zeros([2, 4])])
        loss = tf.reduce_sum(h * h, name="loss")
        slopes = [tf.identity(slope, name=f"slope_{v.op.name}") for slope, v in zip(tf.gradients(loss, [w, u]), (w, u))]
        init = tf.global_variables_initializer()
    script.run(init)
    script.step([loss, *slopes], {x: mixed([2, 3])})
    script.write()


def gather_in_loop():
    """The gradient of Gather names, inside the loop's function, the node outside that it is to be colocated with."""
    script = Script("graphs/gather_in_loop", rtol=1e-5)
    with script.graph.as_default(), control_flow(2):
        table = tf.placeholder(tf.float32, [4, 2], "table")
        _, total = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t + tf.gather(table, i) * t), [tf.constant(0), tf.ones([2])])
        slope = tf.identity(tf.gradients(total, table)[0], name="slope")
    script.step([total, slope], {table: mixed([4, 2])})
    script.write()


def loop_in_function():
    """A loop of the old form inside a function."""

    @tensorflow.function(input_signature=[tensorflow.TensorSpec([])], autograph=False)
    def doubled(x):
        with control_flow(1):
            return tensorflow.raw_ops.Identity(input=tf.while_loop(lambda a: a < 100.0, lambda a: a * 2.0, [x]))

    script = Script("graphs/loop_in_function")
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [], "x")
        with tf.control_dependencies([tf.no_op(name="before")]):
            y = tf.identity(doubled(x), name="y")
    for value in (3, 500):
        script.step([y], {x: f32(value)})
    script.write()


def conditions_of_any_type():
    """A number holds when it is not zero, a string when it is not empty, anything else than a scalar when it has an element."""
    script = Script("graphs/conditions_of_any_type")
    with script.graph.as_default(), control_flow(2):
        number, word = tf.placeholder(tf.int32, None, "number"), tf.placeholder(tf.string, None, "word")
        results = []
        for name, condition in (("of_number", number), ("of_word", word)):
            tf.cond(tf.constant(True), lambda: tf.constant(1.0), lambda: tf.constant(2.0), name="branches_" + name)
            branched = script.graph.get_operation_by_name("branches_" + name)
            result = apply("If", cond=condition, input=[], Tout=[tf.float32], then_branch=branched.get_attr("then_branch"),
                           else_branch=branched.get_attr("else_branch"), name=name)
            results.append(result.outputs[0])
    for n, w in ((i32(0), text("")), (i32(-2), text("a")), (i32([]), text([])), (i32([0]), text([""]))):
        script.step(results, {number: n, word: w})
    script.write()


def outputs_of_a_call():
    """What a call, a conditional and a loop yield, fetched by their own names, as signatures of saved models are."""

    @tensorflow.function(input_signature=[tensorflow.TensorSpec([2])], autograph=False)
    def both(a):
        return a + 1.0, a * 2.0

    script = Script("graphs/outputs_of_a_call")
    with script.graph.as_default(), control_flow(2):
        x = tf.placeholder(tf.float32, [2], "x")
        both(x)
        tf.cond(tf.reduce_sum(x) > 0.0, lambda: (x, x + 1.0), lambda: (x - 1.0, x - 2.0))
        tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [tf.constant(0), x])
        calls = [op for op in script.graph.get_operations() if op.type in ("StatefulPartitionedCall", "PartitionedCall", "If", "StatelessIf",
                                                                            "While", "StatelessWhile")]
    fetches = [output for op in calls for output in op.outputs if output.dtype == tf.float32]
    script.step(fetches, {x: f32([1, 2])})
    script.step(fetches, {x: f32([-1, -2])})
    script.write()


def both_versions(make):
    for version in (1, 2):
        make(version)


def versions():
    for make in (conditional, conditional_updates, loop, loop_gradient, nested_loops):
        both_versions(make)


GRAPHS = (versions, loop_with_update, loop_of_references, dead_tensors, switched_references, call, loop_over_captured_matrix, gather_in_loop,
          loop_in_function, conditions_of_any_type, outputs_of_a_call)
