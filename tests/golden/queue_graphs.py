"""graphs/: queues of all kinds, and what else coordinates steps."""
from reference import apply, f32, i32, i64, ramp, text, tf
from script import Script


def fifo(generation):
    """Elements of two components; closed, it is emptied and then at its end."""
    script = Script(f"graphs/queue{generation}")
    with script.graph.as_default():
        x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.string, [], "y")
        xs, ys = tf.placeholder(tf.float32, [None, 2], "xs"), tf.placeholder(tf.string, [None], "ys")
        n = tf.placeholder(tf.int32, [], "n")
        types = [tf.float32, tf.string]
        handle = apply(f"FIFOQueue{generation}", component_types=types, shapes=[[2], []], capacity=10, shared_name="queue",
                       name="queue").outputs[0]
        put, put_many, take, take_many, take_some, size, is_closed, close = queue_ops(handle, generation, types, [x, y], [xs, ys], n)
    script.step([size, is_closed])
    script.step(targets=[put], feeds={x: f32([1, 2]), y: text("a")})
    script.step(targets=[put_many], feeds={xs: ramp([4, 2], first=10), ys: text(["b", "c", "", b"\x00\xff"])})
    script.step([size])
    script.step(take)
    script.step(take_many, {n: i32(2)})
    script.step(take_many, {n: i32(0)})
    script.step([size])
    script.step(targets=[put_many], feeds={xs: ramp([2, 2]), ys: text(["d", "e"])})
    script.run(close)
    script.step(targets=[put], feeds={x: f32([1, 2]), y: text("f")}, fails=True)
    script.step(take_many, {n: i32(9)}, fails=True)
    script.step([size, is_closed])
    script.step(take_some, {n: i32(3)})
    script.step(take)
    script.step(take, fails=True)
    script.step([size])
    script.write()


def queue_ops(handle, generation, types, element, batch, n):
    def of(op, **arguments):
        return apply(op + generation, handle=handle, name=op, **arguments)

    return (of("QueueEnqueue", components=element), of("QueueEnqueueMany", components=batch),
            list(of("QueueDequeue", component_types=types).outputs), list(of("QueueDequeueMany", n=n, component_types=types).outputs),
            list(of("QueueDequeueUpTo", n=n, component_types=types).outputs), of("QueueSize").outputs[0],
            of("QueueIsClosed").outputs[0], of("QueueClose"))


def queues():
    for generation in ("", "V2"):
        fifo(generation)


def shuffled(generation):
    """With the same seeds, elements leave in the same order."""
    script = Script(f"graphs/shuffled_queue{generation}")
    with script.graph.as_default():
        x, y = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.string, [], "y")
        xs, ys = tf.placeholder(tf.float32, [None, 2], "xs"), tf.placeholder(tf.string, [None], "ys")
        n = tf.placeholder(tf.int32, [], "n")
        types = [tf.float32, tf.string]
        handle = apply(f"RandomShuffleQueue{generation}", component_types=types, shapes=[[2], []], capacity=100, min_after_dequeue=3,
                       seed=5, seed2=7, shared_name="shuffled", name="queue").outputs[0]
        put, put_many, take, take_many, take_some, size, is_closed, close = queue_ops(handle, generation, types, [x, y], [xs, ys], n)
    script.step(targets=[put_many], feeds={xs: ramp([20, 2]), ys: text([str(i) for i in range(20)])})
    script.step(take)
    script.step(take_many, {n: i32(7)})
    script.step(targets=[put], feeds={x: f32([100, 200]), y: text("late")})
    script.step(take_some, {n: i32(9)})
    script.step([size, is_closed])
    script.run(close)
    script.step(take_many, {n: i32(5)}, fails=True)
    script.step(take_many, {n: i32(2)})
    script.step(take_some, {n: i32(9)})
    script.step(take, fails=True)
    script.step([size, is_closed])
    script.write()


def by_priority(generation):
    """Equal priorities do not occur, because TensorFlow does not say which of them is first. QueueDequeueUpTo is left out: TensorFlow
    takes it for QueueDequeueMany."""
    script = Script(f"graphs/priority_queue{generation}")
    with script.graph.as_default():
        rank, y = tf.placeholder(tf.int64, [], "rank"), tf.placeholder(tf.string, [], "y")
        ranks, ys = tf.placeholder(tf.int64, [None], "ranks"), tf.placeholder(tf.string, [None], "ys")
        n = tf.placeholder(tf.int32, [], "n")
        handle = apply(f"PriorityQueue{generation}", component_types=[tf.string], shapes=[[]], capacity=100, shared_name="ranked",
                       name="queue").outputs[0]
        put, put_many, take, take_many, take_some, size, is_closed, close = queue_ops(handle, generation, [tf.int64, tf.string],
                                                                                      [rank, y], [ranks, ys], n)
    script.step(targets=[put_many], feeds={ranks: i64([5, -3, 2**62, 0]), ys: text(["five", "least", "most", "zero"])})
    script.step(targets=[put], feeds={rank: i64(-2), y: text("second")})
    script.step(take)
    script.step(take_many, {n: i32(2)})
    script.step([size])
    script.run(close)
    script.step(take_many, {n: i32(3)}, fails=True)
    script.step(take_many, {n: i32(2)})
    script.step(take, fails=True)
    script.step([size, is_closed])
    script.write()


def padded(generation):
    """Batches of elements of different sizes."""
    script = Script(f"graphs/padded_queue{generation}")
    with script.graph.as_default():
        x, y = tf.placeholder(tf.float32, [None, 2, None], "x"), tf.placeholder(tf.string, [None], "y")
        xs, ys = tf.placeholder(tf.float32, [None, None, 2, None], "xs"), tf.placeholder(tf.string, [None, None], "ys")
        n = tf.placeholder(tf.int32, [], "n")
        types = [tf.float32, tf.string]
        handle = apply(f"PaddingFIFOQueue{generation}", component_types=types, shapes=[[None, 2, None], [None]], capacity=100,
                       shared_name="padded", name="queue").outputs[0]
        put, put_many, take, take_many, take_some, size, is_closed, close = queue_ops(handle, generation, types, [x, y], [xs, ys], n)
    for rows, columns in ((1, 3), (3, 1), (2, 2), (0, 1)):
        script.step(targets=[put], feeds={x: ramp([rows, 2, columns]), y: text(["a", "b", "c"][:columns])})
    script.step(targets=[put_many], feeds={xs: ramp([2, 1, 2, 4]), ys: text([["a"], ["b"]])})
    script.step(take_many, {n: i32(3)})
    script.step(take)
    script.step(targets=[put], feeds={x: ramp([1, 2, 1]), y: text([])})
    script.run(close)
    script.step(take_some, {n: i32(9)})
    script.step([size, is_closed])
    script.write()


def other_queues():
    for generation in ("", "V2"):
        for make in (shuffled, by_priority, padded):
            make(generation)


def dense_accumulator(form, reduction):
    """Gradients of a step before the accumulator's are dropped; all that are there are taken."""
    script = Script(f"graphs/accumulator_{form}{reduction.lower()}".replace("Resource", "resource_"))
    with script.graph.as_default():
        gradient, local, required = (tf.placeholder(tf.float32, [None, 2], "gradient"), tf.placeholder(tf.int64, [], "local"),
                                     tf.placeholder(tf.int32, [], "required"))
        handle = apply(f"{form}ConditionalAccumulator", dtype=tf.float32, shape=[None, 2], shared_name="accumulator",
                       reduction_type=reduction, name="accumulator").outputs[0]
        put = apply(f"{form}AccumulatorApplyGradient", handle=handle, local_step=local, gradient=gradient, name="put")
        take = apply(f"{form}AccumulatorTakeGradient", handle=handle, num_required=required, dtype=tf.float32, name="take").outputs[0]
        count = apply(f"{form}AccumulatorNumAccumulated", handle=handle, name="count").outputs[0]
        to = apply(f"{form}AccumulatorSetGlobalStep", handle=handle, new_global_step=local, name="to")
    script.step([count])
    for scale in (1, 10, 100):
        script.step(targets=[put], feeds={gradient: scale * ramp([3, 2]), local: i64(0)})
    script.step([count])
    script.step(targets=[put], feeds={gradient: ramp([2, 2]), local: i64(0)}, fails=True)
    script.step([take], {required: i32(0)}, fails=True)
    script.step([take], {required: i32(2)})
    script.step(targets=[put], feeds={gradient: ramp([3, 2]), local: i64(0)})
    script.step([count])
    script.step(targets=[to], feeds={local: i64(7)})
    script.step(targets=[put], feeds={gradient: ramp([3, 2]), local: i64(6)})
    script.step(targets=[put], feeds={gradient: ramp([1, 2]), local: i64(7)})
    script.step([count])
    script.step([take], {required: i32(1)})
    script.write()


def sparse_accumulator(reduction):
    """Each row is divided by the number of gradients that have it."""
    script = Script(f"graphs/accumulator_sparse_{reduction.lower()}")
    with script.graph.as_default():
        rows, numbers, shape = (tf.placeholder(tf.float32, [None, 2], "rows"), tf.placeholder(tf.int64, [None], "numbers"),
                                tf.placeholder(tf.int64, [2], "shape"))
        local, required = tf.placeholder(tf.int64, [], "local"), tf.placeholder(tf.int32, [], "required")
        handle = apply("SparseConditionalAccumulator", dtype=tf.float32, shape=[9, 2], shared_name="rows", reduction_type=reduction,
                       name="accumulator").outputs[0]
        put, put_unknown = (apply("SparseAccumulatorApplyGradient", handle=handle, local_step=local, gradient_indices=numbers,
                                  gradient_values=rows, gradient_shape=shape, has_known_shape=known) for known in (True, False))
        take = list(apply("SparseAccumulatorTakeGradient", handle=handle, num_required=required, dtype=tf.float32, name="take").outputs)
        count = apply("AccumulatorNumAccumulated", handle=handle, name="count").outputs[0]
    script.step(targets=[put], feeds={numbers: i64([1, 4]), rows: ramp([2, 2]), shape: i64([9, 2]), local: i64(0)})
    script.step(targets=[put], feeds={numbers: i64([0, 4, 8]), rows: 10 * ramp([3, 2]), shape: i64([9, 2]), local: i64(0)})
    script.step(targets=[put_unknown], feeds={numbers: i64([4]), rows: 100 * ramp([1, 2]), shape: i64([0, 0]), local: i64(0)})
    script.step(targets=[put], feeds={numbers: i64([4]), rows: ramp([1, 2]), shape: i64([9, 3]), local: i64(0)}, fails=True)
    script.step([count])
    script.step(take, {required: i32(3)})
    script.step(targets=[put], feeds={numbers: i64([1]), rows: ramp([1, 2]), shape: i64([9, 2]), local: i64(0)})
    script.step([count])
    script.step(targets=[put], feeds={numbers: i64([1]), rows: ramp([1, 2]), shape: i64([9, 2]), local: i64(1)})
    script.step(take, {required: i32(1)})
    script.write()


def accumulators():
    for reduction in ("MEAN", "SUM"):
        for form in ("", "Resource"):
            dense_accumulator(form, reduction)
        sparse_accumulator(reduction)


def reader(kind, generation):
    """The reader of names yields what is in the queue; the files of the other one do not exist. Both continue from a state."""
    script = Script(f"graphs/reader_{kind.lower()}{generation}")
    with script.graph.as_default():
        names, state, most = tf.placeholder(tf.string, [None], "names"), tf.placeholder(tf.string, [], "state"), tf.placeholder(tf.int64, [], "most")
        queue = apply(f"FIFOQueue{generation}", component_types=[tf.string], shapes=[[]], capacity=10, shared_name="names", name="queue").outputs[0]
        handle = apply(f"{kind}Reader{generation}", shared_name="reader", name="reader").outputs[0]

        def of(op, **arguments):
            return apply(op + generation, reader_handle=handle, name=op, **arguments)

        put = apply(f"QueueEnqueueMany{generation}", handle=queue, components=[names], name="put")
        close = apply(f"QueueClose{generation}", handle=queue, name="close")
        read, read_up_to = (list(of("ReaderRead", queue_handle=queue).outputs),
                            list(of("ReaderReadUpTo", queue_handle=queue, num_records=most).outputs))
        counts = [of("ReaderNumRecordsProduced").outputs[0], of("ReaderNumWorkUnitsCompleted").outputs[0]]
        save = of("ReaderSerializeState").outputs[0]
        restore, reset = of("ReaderRestoreState", state=state), of("ReaderReset")
    reads = kind == "Identity"
    why = "a file that cannot be opened is passed over; TensorFlow's reader of whole files stays with it"
    after_failure, at_end = ({}, {}) if reads else ({"ours": [i64(0), i64(0), text("")], "why": why}, {"ours": "OutOfRange", "why": why})
    script.step([*counts, save])
    script.step(targets=[put], feeds={names: text(["no such folder/a", "no such folder/b", "no such folder/c"])})
    script.step(read, fails=not reads)
    script.step([*counts, save], **after_failure)
    script.step(read_up_to, {most: i64(5)}, fails=not reads)
    script.step(targets=[restore], feeds={state: text(b"\x08\x07\x10\x07\x18\x09\x22\x01x")})
    script.step([*counts, save])
    script.step(targets=[restore], feeds={state: text("no state")}, fails=True)
    script.step([*counts, save])
    script.step(read_up_to, {most: i64(0)})
    script.step(read, fails=not reads)
    script.run(reset)
    script.step(counts)
    script.run(close)
    script.step(read, fails=True, **at_end)
    script.step(read_up_to, {most: i64(1)}, fails=True, **at_end)
    script.write()


def readers():
    for kind, generation in (("Identity", "V2"), ("WholeFile", ""), ("WholeFile", "V2")):
        reader(kind, generation)


def files():
    """No case has files, so there is nothing to read and to find."""
    script = Script("graphs/files")
    with script.graph.as_default():
        path, contents = tf.placeholder(tf.string, [], "path"), tf.placeholder(tf.string, [], "contents")
        patterns = tf.placeholder(tf.string, None, "patterns")
        read = apply("ReadFile", filename=path, name="read").outputs[0]
        write = apply("WriteFile", filename=path, contents=contents, name="write")
        find = apply("MatchingFiles", pattern=patterns, name="find").outputs[0]
    script.step([read], {path: text("no such folder/file")}, fails=True)
    script.step([find], {patterns: text("no such folder/*")})
    script.step([find], {patterns: text(["no such folder/*/?", "no such file", ""])})
    script.step([find], {patterns: text([])})
    script.step([find], {patterns: text([["a"]])}, fails=True)
    script.step(targets=[write], feeds={path: text(""), contents: text("x")}, fails=True)
    script.write()


def sparse_map():
    """Sparse tensors go in one by one or as rows, and come out stacked."""
    script = Script("graphs/sparse_map")
    with script.graph.as_default():
        indices, values, shape = (tf.placeholder(tf.int64, [None, None], "indices"), tf.placeholder(tf.float32, [None], "values"),
                                  tf.placeholder(tf.int64, [None], "shape"))
        handles = tf.placeholder(tf.int64, [None], "handles")
        parts = {"sparse_indices": indices, "sparse_values": values, "sparse_shape": shape}
        add = apply("AddSparseToTensorsMap", **parts, shared_name="map", name="add").outputs[0]
        with tf.colocate_with(add.op):  # the map is on that device
            add_many = apply("AddManySparseToTensorsMap", **parts, shared_name="map", name="add_many").outputs[0]
            take = list(apply("TakeManySparseFromTensorsMap", sparse_handles=handles, dtype=tf.float32, shared_name="map", name="take").outputs)
    script.step([add], {indices: i64([[0, 1], [2, 0]]), values: f32([1, 2]), shape: i64([3, 4])})
    script.step([add_many], {indices: i64([[0, 1, 1], [1, 0, 5], [1, 3, 0]]), values: f32([3, 4, 5]), shape: i64([2, 4, 6])})
    script.step(take, {handles: i64([2, 0, 1])})
    script.step(take, {handles: i64([0])}, fails=True)
    script.step([add_many], {indices: i64([[0, 1], [2, 0]]), values: f32([1]), shape: i64([3, 4])}, fails=True)
    script.step([add_many], {indices: i64([[0], [2]]), values: f32([1, 2]), shape: i64([3])}, fails=True)
    script.step([add_many], {indices: i64([[1, 0], [0, 1]]), values: f32([1, 2]), shape: i64([3, 4])}, fails=True)
    script.write()


GRAPHS = (queues, other_queues, accumulators, readers, files, sparse_map)
