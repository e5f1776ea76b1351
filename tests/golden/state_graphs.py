"""graphs/: what tells the semantics of variables apart. In none of them does a result depend on which of two nodes is first."""
import numpy

from reference import apply, f32, i32, mixed, ramp, text, tf
from script import Script


def ref(name, initial):
    return tf.get_variable(name, initializer=initial, use_resource=False)


def resource(name, initial):
    return tf.get_variable(name, initializer=initial, use_resource=True)


def assign_add_of_a_sum():
    """The update of y reads y: 10, then 10 more than itself each time."""
    script = Script("graphs/assign_add_of_a_sum")
    with script.graph.as_default():
        x, y = ref("x", tf.ones([10])), ref("y", tf.ones([10]))
        z = tf.add(x, y, name="z")
        add = tf.assign_add(y, z, name="add")
        init = tf.global_variables_initializer()
    script.run(init)
    for _ in range(3):
        script.step([add])
    script.step([x, y, z])
    script.write()


def read_after_remote_update():
    """The read stands with the variable; what it waits for, on another task. An update by reference may ask for another task, and stays
    with the variable; one of a resource may not."""
    for form, make, place in (("ref", ref, "/job:worker/task:0"), ("resource", resource, "/job:ps/task:0")):
        script = Script(f"graphs/read_after_remote_update_{form}")
        with script.graph.as_default():
            with tf.device("/job:ps/task:0"):
                v = make("v", tf.constant([1.0, 2.0]))
            with tf.device("/job:worker/task:0"):
                change = tf.constant([10.0, 20.0]) * 2.0
                with tf.device(place):
                    update = tf.assign_add(v, change)
                with tf.control_dependencies([update]):
                    after = tf.no_op(name="after")
            with tf.device("/job:ps/task:0"), tf.control_dependencies([after]):
                value = tf.identity(v.read_value(), name="value")
            with tf.device("/job:worker/task:1"):
                twice = tf.multiply(value, 2.0, name="twice")
            init = tf.global_variables_initializer()
        script.run(init)
        script.step([value])
        script.step([twice])
        script.step([value, twice])
        script.write()


def assign_then_identity():
    script = Script("graphs/assign_then_identity")
    with script.graph.as_default():
        v = ref("v", tf.constant([1.0, 2.0]))
        to = tf.placeholder(tf.float32, [2], "to")
        assigned = apply("Assign", ref=v._ref(), value=to, name="assigned").outputs[0]
        copy = tf.identity(assigned, name="copy")
        init = tf.global_variables_initializer()
    script.step([copy], {to: f32([3, 4])})
    script.step([v])
    script.run(init)
    script.step([assigned, copy], {to: f32([5, 6])})
    script.step([v])
    script.write()


def chained_updates():
    """Each update takes the reference that the one before it yields; the variable is of the oldest form."""
    script = Script("graphs/chained_updates")
    with script.graph.as_default():
        v = apply("Variable", shape=[], dtype=tf.float32, name="v").outputs[0]
        init = apply("Assign", ref=v, value=tf.constant(1.0), name="init")
        one = apply("AssignAdd", ref=v, value=tf.constant(10.0), name="one").outputs[0]
        same = apply("RefIdentity", input=one, name="same").outputs[0]
        two = apply("AssignAdd", ref=same, value=tf.constant(100.0), name="two").outputs[0]
        three = apply("AssignSub", ref=two, value=tf.constant(1000.0), name="three").outputs[0]
    script.run(init)
    script.step([one])
    script.step([two])
    script.step([three])
    script.step([v])
    script.write()


def initialized():
    script = Script("graphs/initialized")
    with script.graph.as_default():
        v, r = ref("v", tf.constant([1.0])), resource("r", tf.constant([2.0]))
        known = apply("IsVariableInitialized", ref=v._ref(), name="known").outputs[0]
        known_resource = apply("VarIsInitializedOp", resource=r.handle, name="known_resource").outputs[0]
        value, value_resource = tf.identity(v, name="value"), tf.identity(r.value(), name="value_resource")
        add, add_resource = tf.assign_add(v, [1.0]), r.assign_add([1.0], read_value=False)
        init = tf.global_variables_initializer()
    script.step([known, known_resource])
    for fetch in (value, value_resource, v):
        script.step([fetch], fails=True)
    script.step(targets=[add], fails=True)
    script.step(targets=[add_resource], ours="FailedPrecondition", why="as for every other use of a variable that has no value")
    script.run(init)
    script.step([known, known_resource])
    script.step([value, value_resource])
    script.write()


def initial_values_in_order():
    """A variable whose initial value is another's, or, where that has none yet, the other's initial value."""
    script = Script("graphs/initial_values_in_order")
    with script.graph.as_default():
        first = ref("first", tf.constant([1.0, 2.0]))
        second = ref("second", first.read_value() * 2.0)
        add = tf.assign_add(first, [10.0, 20.0])
    script.run(second.initializer)
    script.step([second])
    script.step([first], fails=True)
    script.run(first.initializer)
    script.run(add)
    script.run(second.initializer)
    script.step([first, second])
    script.write()


def feeds_around_assignment():
    """A fed tensor cuts off what would have changed the variable."""
    script = Script("graphs/feeds_around_assignment")
    with script.graph.as_default():
        v = ref("v", tf.constant([1.0, 2.0]))
        added = tf.assign_add(v, [10.0, 10.0], name="added")
        read = tf.identity(added, name="read")
        twice = tf.multiply(read, 2.0, name="twice")
        from_variable = tf.multiply(v, 3.0, name="from_variable")
        init = tf.global_variables_initializer()
    script.run(init)
    script.step([twice], {read: f32([5, 6])})
    script.step([v])
    script.step([twice], {added: f32([7, 8])})
    script.step([from_variable], {v._ref(): f32([0, 1])})
    script.step([v])
    script.step([twice, added])
    script.step([from_variable], {v._snapshot: f32([4, 5])})
    script.step([v])
    script.write()


def scatter():
    script = Script("graphs/scatter")
    with script.graph.as_default():
        v = ref("v", tf.constant(ramp([4, 2])))
        ids, rows = tf.placeholder(tf.int32, [None], "ids"), tf.placeholder(tf.float32, [None, 2], "rows")
        update, add, subtract = (make(v, ids, rows) for make in (tf.scatter_update, tf.scatter_add, tf.scatter_sub))
        init = tf.global_variables_initializer()
    script.run(init)
    script.step([add], {ids: i32([3, 0, 3]), rows: mixed([3, 2])})
    script.step([subtract], {ids: i32([1]), rows: mixed([1, 2])})
    script.step([update], {ids: i32([2, 0]), rows: mixed([2, 2])})
    script.step([add], {ids: i32([4]), rows: mixed([1, 2])}, fails=True)
    script.step([v])
    script.write()


def shapes_of_variables():
    """A value of another shape is refused, unless nothing is checked."""
    script = Script("graphs/shapes_of_variables")
    with script.graph.as_default():
        value = tf.placeholder(tf.float32, None, "value")
        handle = apply("VariableV2", shape=[2], dtype=tf.float32, name="v", shared_name="").outputs[0]
        checked = apply("Assign", ref=handle, value=value, name="checked").outputs[0]
        free = apply("Assign", ref=handle, value=value, validate_shape=False, name="free").outputs[0]
        add = apply("AssignAdd", ref=handle, value=value, name="add").outputs[0]
        read = apply("Identity", input=handle, name="read").outputs[0]
    script.step([checked], {value: f32([1, 2])})
    script.step([checked], {value: f32([1, 2, 3])}, fails=True)
    script.step([add], {value: f32([1, 2, 3])}, fails=True)
    script.step([read])
    script.step([free], {value: f32([1, 2, 3])})
    script.step([add], {value: f32([1, 2, 3])})
    script.step([read])
    script.write()


def errors():
    """Steps fail, and the session goes on."""
    script = Script("graphs/errors")
    with script.graph.as_default():
        a, b = tf.placeholder(tf.int32, [None], "a"), tf.placeholder(tf.int32, [None], "b")
        outcomes = [apply(op, x=a, y=b, name=op).outputs[0] for op in ("FloorDiv", "FloorMod", "Div", "Mod", "Add")]
        left, right = tf.placeholder(tf.float32, None, "left"), tf.placeholder(tf.float32, None, "right")
        product = apply("MatMul", a=left, b=right, name="product").outputs[0]
        unfed = tf.identity(tf.placeholder(tf.float32, [2], "unfed"), name="needs_unfed")
        usual = apply("PlaceholderWithDefault", input=tf.constant([1.0, 2.0]), shape=[None], name="usual").outputs[0]
        double = tf.add(usual, usual, name="double")
        checked = tf.debugging.check_numerics(left, "not a number", name="checked")
        nothing = tf.no_op(name="nothing")
    for outcome in outcomes:
        script.step([outcome], {a: i32([7, -7]), b: i32([2, 2])})
        if outcome.op.type != "Add":
            script.step([outcome], {a: i32([7]), b: i32([0])}, fails=True)
        script.step([outcome], {a: i32([1, 2]), b: i32([1, 2, 3])}, fails=True)
    script.step([product], {left: mixed([2, 3]), right: mixed([2, 3])}, fails=True)
    script.step([product], {left: mixed([3]), right: mixed([3, 1])}, fails=True)
    script.step([product], {left: f32([[1, 2]]), right: f32([[3], [4]])})
    script.step([unfed], fails=True)
    script.step([usual])
    script.step([double], {usual: f32([3])})
    script.step([checked], {left: f32([1, numpy.inf])}, fails=True)
    script.step([checked], {left: f32([1, 2])})
    script.run(nothing)
    script.write()


def moving_average():
    """As tf.train.ExponentialMovingAverage documents it: the average takes in the variable as the training step has left it, though what
    it reads the variable by waits for nothing."""
    script = Script("graphs/moving_average", rtol=1e-6)
    with script.graph.as_default():
        w = ref("w", tf.constant([4.0, 8.0]))
        train = tf.assign_sub(w, [1.0, 2.0], name="train")
        average = tf.train.ExponentialMovingAverage(0.5)
        with tf.control_dependencies([train]):
            update = average.apply([w])
        kept = average.average(w)
        init = tf.global_variables_initializer()
    script.run(init)
    for _ in range(3):
        script.step(targets=[update])
        script.step([w, kept])
    script.write()


def loops_that_read_what_they_assign():
    """The condition and the body read the variable by a node outside the loop, which runs once."""
    script = Script("graphs/loops_that_read_what_they_assign")
    with script.graph.as_default():
        v, limit = ref("v", tf.constant(1.0)), tf.placeholder(tf.float32, [], "limit")
        read = v._snapshot

        def body(i):
            with tf.control_dependencies([i]):
                doubled = tf.assign_add(v, read)
            with tf.control_dependencies([doubled]):
                return tf.identity(i) + 1

        def goes_on(i):
            with tf.control_dependencies([i]):
                return tf.identity(read) < limit

        rounds = tf.while_loop(goes_on, body, [tf.constant(0)], parallel_iterations=1, name="loop")
        rounds = tf.identity(rounds, name="rounds")
        init = tf.global_variables_initializer()
    script.run(init)
    for value in (0, 5, 100):
        script.step([rounds], {limit: f32(value)})
        script.step([v])
    script.write()


def guards():
    """What waits for a check happens only if the check holds, also where nobody uses what the check yields."""
    script = Script("graphs/guards")
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [2], "x")
        v = ref("v", tf.constant([1.0, 2.0]))
        with tf.control_dependencies([tf.check_numerics(x, "x is no number")]):
            update = tf.assign(v, x, name="update")
        with tf.control_dependencies([apply("Assert", condition=tf.reduce_all(x < 10.0), data=[x, tf.constant("too large")], summarize=1)]):
            small = tf.assign_add(v, x, name="small")
        initial = apply("IsVariableInitialized", ref=v._ref(), name="initial").outputs[0]
        with tf.control_dependencies([apply("Assert", condition=initial, data=[tf.constant("v has no value")])]):
            later = tf.identity(x, name="later")
        everywhere = tf.add_check_numerics_ops()
        init = tf.global_variables_initializer()
    script.step([later], {x: f32([1, 2])}, fails=True)
    script.run(init)
    script.step([later], {x: f32([1, 2])})
    script.step(targets=[update], feeds={x: f32([1, numpy.nan])}, fails=True)
    script.step([v])
    script.step(targets=[small], feeds={x: f32([1, 20])}, fails=True)
    script.step([v])
    script.step(targets=[everywhere], feeds={x: f32([1, numpy.inf])}, fails=True)
    script.step(targets=[update], feeds={x: f32([3, 4])})
    script.step(targets=[small], feeds={x: f32([3, 4])})
    script.step([v])
    script.write()


def other_shapes():
    """A resource takes values of any shape; with validate_shape, once it has a value, of that shape only."""
    script = Script("graphs/other_shapes")
    with script.graph.as_default():
        value = tf.placeholder(tf.float32, None, "value")
        for name, shape in (("open", None), ("vector", [None]), ("two", [2])):
            handle = apply("VarHandleOp", dtype=tf.float32, shape=tf.TensorShape(shape), shared_name=name).outputs[0]
            read = apply("ReadVariableOp", resource=handle, dtype=tf.float32).outputs[0]
            assign, keep = (apply("AssignVariableOp", resource=handle, value=value, validate_shape=validates) for validates in (False, True))
            for given in (f32([1, 2]), f32([3]), f32([[4]]), f32(5)):
                script.step(feeds={value: given}, targets=[assign])
                script.step([read])
            script.step(feeds={value: f32(6)}, targets=[keep])
            script.step(feeds={value: f32([7, 8])}, targets=[keep], fails=True)
            script.step([read])
        handle = apply("VarHandleOp", dtype=tf.float32, shape=tf.TensorShape([1, 1]), shared_name="new").outputs[0]
        first = apply("AssignVariableOp", resource=handle, value=value, validate_shape=True)
        script.step(feeds={value: f32([[1, 2], [3, 4]])}, targets=[first])
        script.step([apply("ReadVariableOp", resource=handle, dtype=tf.float32).outputs[0]])
    script.write()


def beyond_memory():
    """What cannot lie in memory is ResourceExhausted, what cannot even be counted InvalidArgument."""
    script = Script("graphs/beyond_memory")
    with script.graph.as_default():
        limit, dims = tf.placeholder(tf.int64, [], "limit"), tf.placeholder(tf.int64, [None], "dims")
        numbers = tf.range(tf.constant(0, tf.int64), limit, name="numbers")
        filled = tf.fill(dims, 1.0, name="filled")
    for most in (2**62, 2**40):
        script.step([numbers], {limit: numpy.int64(most)}, fails=True)
        script.step([filled], {dims: numpy.array([most], numpy.int64)}, fails=True)
    script.step([filled], {dims: numpy.array([2**40, 2**40], numpy.int64)}, fails=True)
    script.step([numbers], {limit: numpy.int64(3)})
    script.write()


def counting():
    """A counter yields its value before, and ends at its limit."""
    for form, make, op in (("ref", ref, "CountUpTo"), ("resource", resource, "ResourceCountUpTo")):
        script = Script(f"graphs/counting_{form}")
        with script.graph.as_default():
            counters = [make(name, tf.constant(0, dtype)) for name, dtype in (("i", tf.int32), ("l", tf.int64))]
            count = [apply(op, **({"ref": one} if form == "ref" else {"resource": one.handle, "T": one.dtype.base_dtype}), limit=2,
                           name=f"{one.op.name}_next").outputs[0] for one in counters]
            values = [one.read_value() for one in counters]
            init = tf.global_variables_initializer()
        script.step(count, fails="FailedPrecondition")
        script.run(init)
        for _ in range(2):
            script.step(count)
        script.step([count[0]], fails=True)
        script.step([count[1]], fails=True)
        script.step(values)
        script.write()


def temporary_variables():
    """Variables of single steps: filled, changed, destroyed, made anew; and all ways in which their names can be wrong."""
    script = Script("graphs/temporary_variables")
    with script.graph.as_default(), tf.device("/job:worker/task:0"):  # names are those of one device
        x = tf.placeholder(tf.float32, [2], "x")

        def make(variable, name):
            return apply("TemporaryVariable", shape=[2], dtype=tf.float32, var_name=variable, name=name).outputs[0]

        def destroy(variable, called, name):
            return apply("DestroyTemporaryVariable", ref=variable, var_name=called, name=name).outputs[0]

        filled = tf.assign(make("sum", "first"), x)
        total = destroy(tf.assign_add(filled, x), "sum", "total")
        with tf.control_dependencies([total]):
            again = tf.assign(make("sum", "second"), x)
        kept = tf.identity(tf.assign_sub(again, total), name="kept")
        with tf.control_dependencies([filled]):
            double = tf.identity(tf.assign(make("sum", "third"), x))
        called_by_node = destroy(tf.assign(make("", "fourth"), x), "fourth", "called_by_node")
        unknown = destroy(filled, "other", "unknown")
        with tf.control_dependencies([called_by_node]):
            twice = destroy(filled, "fourth", "twice")
    script.step([total], {x: f32([1, 2])})
    script.step([total], {x: f32([3, 4])})
    script.step([kept], {x: f32([3, 4])})
    script.step([total, kept, called_by_node], {x: f32([3, 4])})
    for wrong in (double, unknown, twice):
        script.step([wrong], {x: f32([3, 4])}, fails=True)
    script.write()


GRAPHS = (counting, assign_add_of_a_sum, other_shapes, beyond_memory, read_after_remote_update, assign_then_identity, chained_updates, initialized,
          initial_values_in_order, feeds_around_assignment, scatter, shapes_of_variables, errors, moving_average,
          loops_that_read_what_they_assign, guards, temporary_variables)
