"""graphs/: lookup tables, staging areas, barriers, mutexes and batches."""
import numpy

from reference import apply, f32, i32, i64, ramp, text, tf
from script import Script


def users(handle, version, key, value, keys, values, missing):
    """The ops on a table that all tables have."""
    def of(op, **arguments):
        return apply(op + version, table_handle=handle, name=op, **arguments)

    found = of("LookupTableFind", keys=keys, default_value=missing).outputs[0]
    exported = of("LookupTableExport", Tkeys=key, Tvalues=value).outputs
    return found, of("LookupTableSize").outputs[0], list(exported), of("LookupTableInsert", keys=keys, values=values), of(
        "LookupTableImport", keys=keys, values=values)


def constant_table(version, key, value, keys, values, missing):
    """Initialised once; what contradicts its contents is refused."""
    script = Script(f"graphs/hash_table{version}_{key.name}_{value.name}")
    with script.graph.as_default():
        k, v, default = (tf.placeholder(type, shape, name) for type, shape, name in ((key, [None], "k"), (value, [None], "v"), (value, [], "d")))
        several = tf.placeholder(key, None, "several")
        handle = apply(f"HashTable{version}", key_dtype=key, value_dtype=value, shared_name="table", name="table").outputs[0]
        _, size, exported, insert, bring_in = users(handle, version, key, value, k, v, default)
        found = apply(f"LookupTableFind{version}", table_handle=handle, keys=several, default_value=default, name="find").outputs[0]
        initialize = apply(f"InitializeTable{version}", table_handle=handle, keys=k, values=v, name="initialize")
        from_file = apply(f"InitializeTableFromTextFile{version}", table_handle=handle, filename="no_such_vocabulary.txt", key_index=0, value_index=1,
                          name="from_file")
    script.step([found], {several: keys, default: missing}, fails=True)
    script.step([size])
    script.step(exported, fails=True)
    script.step(targets=[from_file], fails=True)
    script.step(targets=[initialize], feeds={k: keys[[0, 0]], v: values[:2]}, fails=True)
    script.step(targets=[initialize], feeds={k: keys[:0], v: values[:0]}, fails=True)
    script.step(targets=[bring_in], feeds={k: keys[:3], v: values[:3]})
    script.step([size])
    script.step(targets=[initialize], feeds={k: keys[:3], v: values[:3]})
    script.step(targets=[initialize], feeds={k: keys, v: values}, fails=True)
    script.step(targets=[insert], feeds={k: keys, v: values}, fails=True)
    script.step([found], {several: keys, default: missing})
    script.step([found], {several: keys[[2, 3, 0, 0]].reshape(2, 1, 2), default: missing})
    script.step([found], {several: keys[0], default: missing})
    script.step([found], {several: keys[:0], default: missing})
    script.write()


def mutable_table(version, key, value, keys, values, missing):
    script = Script(f"graphs/mutable_table{version}_{key.name}_{value.name}")
    shape = list(missing.shape)
    op = "MutableHashTableOfTensors" if shape else "MutableHashTable"
    with script.graph.as_default():
        k, v, default = (tf.placeholder(type, shape, name) for type, shape, name in ((key, None, "k"), (value, None, "v"), (value, shape, "d")))
        more = {"value_shape": shape} if shape else {}
        handle = apply(op + version, key_dtype=key, value_dtype=value, shared_name="table", name="table", **more).outputs[0]
        found, size, exported, insert, bring_in = users(handle, version, key, value, k, v, default)
        initialize = apply(f"InitializeTable{version}", table_handle=handle, keys=keys[:1], values=values.ravel()[:1], name="initialize")
        remove = apply("LookupTableRemoveV2", table_handle=handle, keys=k, name="remove") if version else None
    script.step(targets=[initialize], fails=True)
    script.step(exported)
    script.step(targets=[insert], feeds={k: keys[:1], v: values[:1]})
    script.step(exported)
    script.step(targets=[insert], feeds={k: keys[[1, 2, 1]], v: values[[1, 2, 0]]})
    script.step([size])
    script.step([found], {k: keys, default: missing})
    script.step([found], {k: keys.reshape(2, -1), default: missing})
    script.step(targets=[insert], feeds={k: keys, v: values[:2]}, fails=True)
    if remove is not None:
        script.step(targets=[remove], feeds={k: keys[[1, 3]]})
        script.step([found, size], {k: keys, default: missing})
    script.step(targets=[bring_in], feeds={k: keys[3:], v: values[3:]})
    script.step([found, size], {k: keys, default: missing})
    script.write()


def tables():
    words, numbers = numpy.array([b"a", b"", b"\x00\xff", b"a longer key than fits"], dtype=object), numpy.array([5, -1, 2**31 - 1, 0])
    floats = f32([0.5, -1, 2, 3])
    for version in ("", "V2"):
        constant_table(version, tf.string, tf.int64, words, i64([3, 1, 4, 1]), i64(-1))
        mutable_table(version, tf.int64, tf.float32, i64(numbers), floats, f32(9))
        mutable_table(version, tf.string, tf.int32, words, i32(numpy.arange(8).reshape(4, 2)), i32([7, 8]))
    constant_table("V2", tf.int64, tf.string, i64(numbers), words, text("none"))
    constant_table("V2", tf.int32, tf.float32, i32(numbers), floats, f32(9))


def dense_table(version):
    """The whole table is exported, so what is exported is sorted."""
    script = Script(f"graphs/dense_table{version}")
    with script.graph.as_default():
        k, v = tf.placeholder(tf.int64, None, "k"), tf.placeholder(tf.float32, None, "v")
        empty, deleted = tf.placeholder(tf.int64, None, "empty"), tf.placeholder(tf.int64, None, "deleted")
        reserved = {"deleted_key": deleted} if version else {}
        handle = apply(f"MutableDenseHashTable{version}", empty_key=empty, value_dtype=tf.float32, initial_num_buckets=4, name="table",
                       **reserved).outputs[0]
        with tf.control_dependencies([]):
            found, size, exported, insert, bring_in = users(handle, version, tf.int64, tf.float32, k, v, tf.constant(9.0))
        rows = tf.sort(tf.reshape(exported[0], [-1]))
        remove = apply("LookupTableRemoveV2", table_handle=handle, keys=k, name="remove") if version else None
    with_keys = {empty: i64(0), deleted: i64(-1)}
    if not version:
        why = "this op has no deleted_key, without which TensorFlow's kernel fails"
        script.step([size], {empty: i64(0)}, ours=[i64(0)], why=why, fails=True)
        return script.write()
    script.step([size], {empty: i64([1, 2]), deleted: i64(-1)}, fails=True)
    script.step([size], {empty: i64(7), deleted: i64(7)}, fails=True)
    script.step(targets=[insert], feeds=with_keys | {k: i64([11, 12, 13]), v: f32([1, 2, 3])})
    script.step([size, rows], with_keys)
    for wrong in ([11, 0], [11, -1], [[11, 12]]):
        script.step([found], with_keys | {k: i64(wrong)}, fails=True)
    script.step(targets=[remove], feeds=with_keys | {k: i64([12, 99])})
    script.step([size, rows], with_keys)
    script.step(targets=[insert], feeds=with_keys | {k: i64([13, 14, 15, 16, 17]), v: f32([3, 4, 5, 6, 7])})
    script.step([size, rows], with_keys)
    script.step([found], with_keys | {k: i64([10, 11, 12, 13, 14, 15, 16, 17, 18])})
    script.step(targets=[bring_in], feeds=with_keys | {k: i64([[0], [21], [0], [0]]), v: f32([[0], [5], [0], [0]])})
    script.step([size, rows], with_keys)
    script.write()


def dense_tables():
    for version in ("", "V2"):
        dense_table(version)


def stage():
    script = Script("graphs/stage")
    with script.graph.as_default(), tf.device("/job:worker/task:0"):  # the ops of an area have no edges between them
        x, index = tf.placeholder(tf.float32, [None], "x"), tf.placeholder(tf.int32, [], "index")
        of = dict(shared_name="stage", capacity=3, memory_limit=64)
        types = dict(of, dtypes=[tf.float32, tf.int64])
        put = apply("Stage", values=[x, tf.size(x, out_type=tf.int64)], name="put", **of)
        take, peek = list(apply("Unstage", name="take", **types).outputs), list(apply("StagePeek", index=index, name="peek", **types).outputs)
        size, clear = apply("StageSize", name="size", **types).outputs[0], apply("StageClear", name="clear", **types)
    script.step([size])
    for n in (1, 2, 3):
        script.step(targets=[put], feeds={x: ramp([n])})
    script.step(targets=[put], feeds={x: ramp([40])}, fails=True)
    script.step([size])
    script.step(peek, {index: i32(1)})
    script.step(take)
    script.step(targets=[put], feeds={x: ramp([2])})
    script.step(take)
    script.step([size])
    script.run(clear)
    script.step([size])
    script.write()


def staging_map(kind):
    script = Script(f"graphs/{kind.lower()}_stage")
    with script.graph.as_default(), tf.device("/job:worker/task:0"):
        key, x = tf.placeholder(tf.int64, [], "key"), tf.placeholder(tf.float32, [None], "x")
        of = dict(shared_name="map", capacity=3, dtypes=[tf.float32, tf.int64])
        put = apply(f"{kind}Stage", key=key, indices=[0, 1], values=[x, key], name="put", **of)
        put_first = apply(f"{kind}Stage", key=key, indices=[0], values=[x], name="put_first", **of)
        put_second = apply(f"{kind}Stage", key=key, indices=[1], values=[key], name="put_second", **of)
        put_wrong = [apply(f"{kind}Stage", key=key, indices=indices, values=[key, key], name="wrong", **of) for indices in ([1, 0], [1, 2])]
        take, peek = (list(apply(f"{kind}{op}", key=key, indices=[0, 1], name=op, **of).outputs) for op in ("Unstage", "Peek"))
        one = dict(of, dtypes=[tf.int64])
        second = list(apply(f"{kind}Unstage", key=key, indices=[1], name="second", **one).outputs)
        any_key = list(apply(f"{kind}UnstageNoKey", indices=[0, 1], name="any", **of).outputs)
        sizes = [apply(f"{kind}{op}", name=op, **of).outputs[0] for op in ("Size", "IncompleteSize")]
        clear = apply(f"{kind}Clear", name="clear", **of)
    script.step(sizes)
    script.step(targets=[put], feeds={key: i64(5), x: ramp([2])})
    script.step(targets=[put_first], feeds={key: i64(3), x: ramp([3])})
    script.step(targets=[put_first], feeds={key: i64(3), x: ramp([3])}, fails=True)
    script.step(targets=[put_wrong[0]], feeds={key: i64(9)}, fails=True)
    script.step(sizes)
    script.step(targets=[put_second], feeds={key: i64(3)})
    script.step(sizes)
    script.step(second, {key: i64(5)})
    script.step(second, {key: i64(5)}, fails=True)
    script.step(take, {key: i64(3)})
    script.step(targets=[put], feeds={key: i64(7), x: ramp([1])})
    script.step(peek, {key: i64(7)})
    script.step(sizes)
    script.run(clear)
    script.step(targets=[put], feeds={key: i64(-8), x: ramp([1])})
    script.step(any_key)
    script.step(sizes)
    script.write()


def staging():
    stage()
    for kind in ("Map", "OrderedMap"):
        staging_map(kind)


def barrier():
    script = Script("graphs/barrier")
    with script.graph.as_default():
        keys, x, y = (tf.placeholder(type, [None] + shape, name)
                      for type, shape, name in ((tf.string, [], "keys"), (tf.float32, [2], "x"), (tf.string, [], "y")))
        n = tf.placeholder(tf.int32, [], "n")
        types = [tf.float32, tf.string]
        handle = apply("Barrier", component_types=types, shapes=[[2], []], shared_name="barrier", name="barrier").outputs[0]
        put_x, put_y = (apply("BarrierInsertMany", handle=handle, keys=keys, values=values, component_index=index, name=f"put_{index}")
                        for index, values in ((0, x), (1, y)))
        take, take_some = (list(apply("BarrierTakeMany", handle=handle, num_elements=n, component_types=types, allow_small_batch=small,
                                      name=f"take_{small}").outputs) for small in (False, True))
        sizes = [apply(f"Barrier{which}Size", handle=handle, name=which).outputs[0] for which in ("Ready", "Incomplete")]
        close, cancel = (apply("BarrierClose", handle=handle, cancel_pending_enqueues=cancel, name=f"close_{cancel}") for cancel in (False, True))
    script.step(sizes)
    script.step(targets=[put_x], feeds={keys: text(["a", "b"]), x: ramp([2, 2])})
    script.step(targets=[put_y], feeds={keys: text(["c", "b"]), y: text(["C", "B"])})
    script.step(sizes)
    script.step(targets=[put_y], feeds={keys: text(["c"]), y: text(["again"])}, fails=True)
    script.step(targets=[put_y], feeds={keys: text(["a"]), y: text(["A"])})
    script.step(take, {n: i32(1)})
    script.step(take, {n: i32(0)})
    script.step(targets=[put_x], feeds={keys: text(["d"]), x: ramp([1, 2])})
    script.run(close)
    script.step(targets=[close], fails=True)
    script.step(targets=[put_x], feeds={keys: text(["e"]), x: ramp([1, 2])}, fails=True)
    script.step(take, {n: i32(9)}, fails=True)
    script.step(take_some, {n: i32(9)})
    script.step(take_some, {n: i32(9)}, fails=True)
    script.step(targets=[put_x], feeds={keys: text(["c"]), x: ramp([1, 2], first=7)})
    script.step(sizes)
    script.step(take, {n: i32(1)})
    script.run(cancel)
    script.step(sizes)
    script.step(targets=[put_y], feeds={keys: text(["d"]), y: text(["D"])}, fails=True)
    script.step(take_some, {n: i32(1)}, fails=True)
    script.write()


def critical_section():
    """Several executions in one step, each of which reads the variable, and adds to what it has read."""
    script = Script("graphs/critical_section")
    with script.graph.as_default():
        section = tf.CriticalSection(shared_name="section")
        total = tf.Variable(0, use_resource=True, name="total", shape=[], dtype=tf.int32)

        def add(amount):
            before = total.read_value()
            with tf.control_dependencies([before]), tf.control_dependencies([total.assign(before + amount)]):
                return tf.identity(before)

        executions = [section.execute(lambda amount=amount: add(amount), name=f"execute_{amount}") for amount in range(1, 6)]
        after = tf.sort(tf.stack(executions))[0]
        failing = section.execute(lambda: tf.debugging.check_numerics(float("inf"), "infinite"), exclusive_resource_access=False)
        not_a_lock = apply("ConsumeMutexLock", mutex_lock=tf.raw_ops.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.int32),
                           name="not_a_lock")
        read = total.read_value()
    script.run(total.initializer)
    script.step([after])
    script.step([read])
    script.step([failing], fails=True)
    script.step([after])
    script.step([read])
    script.run(executions[0].op)
    script.step([read])
    script.step(targets=[not_a_lock], fails=True)
    script.write()


def batching():
    """Batches of one step, which has no others to wait for. Ids are random numbers."""
    script = Script("graphs/batching")
    options = dict(num_batch_threads=1, max_batch_size=8, max_enqueued_batches=10, grad_timeout_micros=10**8, container="", batching_queue="")
    with script.graph.as_default():
        x, y = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.string, [None], "y")
        batch = apply("Batch", in_tensors=[x, y], batch_timeout_micros=1000, allowed_batch_sizes=[2, 4, 8], name="batch", **options).outputs
        rows, words, index, number = batch
        mine = tf.equal(index[:, 0], number)
        ends = index[:, 1:]
        part, word = (apply("Unbatch", batched_tensor=computed, batch_index=index, id=number, timeout_micros=10**8, name=name).outputs[0]
                      for computed, name in ((tf.square(rows), "part"), (words, "word")))
        z = tf.placeholder(tf.float32, [None, 2], "z")
        squares, its_index, its_number = apply("Batch", in_tensors=[z], batch_timeout_micros=1000, name="squared", **options).outputs
        square = apply("Unbatch", batched_tensor=tf.square(squares), batch_index=its_index, id=its_number, timeout_micros=10**8,
                       name="square").outputs[0]
        of_square = apply("UnbatchGrad", original_input=tf.square(squares), batch_index=its_index, grad=tf.ones_like(square), id=its_number,
                          name="of_square").outputs[0]
        slope = apply("Unbatch", batched_tensor=2 * squares * of_square, batch_index=its_index, id=its_number, timeout_micros=10**8,
                      name="slope").outputs[0]  # as tf.contrib.batching has it
        lost = apply("Unbatch", batched_tensor=rows, batch_index=index, id=tf.bitwise.invert(number), timeout_micros=1000, name="lost").outputs[0]
        wrong_index = apply("Unbatch", batched_tensor=rows, batch_index=tf.concat([index, index, index, index], 0), id=number,
                            timeout_micros=1000, name="wrong_index").outputs[0]
    feeds = {x: ramp([3, 2]), y: text(["a", "b", "c"])}
    script.step([rows, words, ends, mine], feeds)
    script.step([part, word], feeds)
    script.step([square, slope], {z: ramp([3, 2])})
    script.step([rows, words, ends], {x: ramp([8, 2]), y: text(list("abcdefgh"))})
    script.step([rows], {x: ramp([9, 2]), y: text(list("abcdefghi"))}, fails=True)
    script.step([rows], {x: ramp([2, 2]), y: text(["a"])}, fails=True)
    script.step([lost], feeds, fails=True)
    script.step([wrong_index], feeds, fails=True)
    script.gradient("troupe", square, [z])
    script.step(["troupe:0"], {z: ramp([3, 2])}, like=[slope])
    script.write()


GRAPHS = (tables, dense_tables, staging, barrier, critical_section, batching)
