"""graphs/: lists of tensors, op by op and as TensorFlow 2 writes them into loops and their gradients."""
from flow_graphs import control_flow, own_gradients
from reference import apply, f32, i32, tf
from script import Script

ANY, FLOAT = -1, {"element_dtype": tf.float32}


def one(op, **arguments):
    return apply(op, **arguments).outputs[0]


def empty(shape=ANY, most=-1, dtype=tf.float32):
    return apply("EmptyTensorList", element_shape=i32(shape), max_num_elements=most, element_dtype=dtype).outputs[0]


def reserve(count, shape=ANY):
    return one("TensorListReserve", element_shape=i32(shape), num_elements=count, **FLOAT)


def push(handle, *values):
    for value in values:
        handle = one("TensorListPushBack", input_handle=handle, tensor=value)
    return handle


def pop(handle, dtype=tf.float32):
    return apply("TensorListPopBack", input_handle=handle, element_shape=i32(ANY), element_dtype=dtype).outputs


def stack(handle, shape=ANY, count=-1):
    return one("TensorListStack", input_handle=handle, element_shape=i32(shape), num_elements=count, **FLOAT)


def get(handle, index, shape=ANY):
    return one("TensorListGetItem", input_handle=handle, index=index, element_shape=i32(shape), **FLOAT)


def put(handle, index, item, **how):
    return one("TensorListSetItem", input_handle=handle, index=index, item=item, **how)


def rows(tensor, shape=ANY):
    return one("TensorListFromTensor", tensor=tensor, element_shape=i32(shape))


def length(handle):
    return one("TensorListLength", input_handle=handle)


def shape_in(handle, dtype=tf.int32):
    return one("TensorListElementShape", input_handle=handle, shape_type=dtype)


def list_values():
    """What lists hold. One that is used twice is not changed by either use."""
    script = Script("graphs/list_values")
    with script.graph.as_default():
        x, k = tf.placeholder(tf.float32, None, "x"), tf.placeholder(tf.int32, [], "k")
        two = push(empty(), x, x * 2.0)
        shorter, last = pop(two)
        nested = push(empty(dtype=tf.variant), two, shorter)
        outer, inner = pop(nested, tf.variant)
        zero = apply("ZerosLike", x=two).outputs[0]
        total = apply("AddN", inputs=[two, push(empty([-1]), x, x), two]).outputs[0]
        some = put(reserve(3), 1, x)
        sums = apply("AddN", inputs=[some, put(reserve(3), 0, x)]).outputs[0]
        fetches = [stack(two), stack(shorter), last, stack(inner), length(outer), stack(zero), stack(total), shape_in(total), get(two, k),
                   stack(some), get(some, 2), stack(sums), stack(put(two, k, x * 5.0)), stack(one("TensorListResize", input_handle=two, size=3)),
                   length(one("TensorListResize", input_handle=two, size=1)), stack(put(two, 3, x, resize_if_index_out_of_bounds=True))]
        halves = rows(tf.reshape(x, [2, -1]))
        fetches += [stack(halves), get(halves, 1), length(halves), shape_in(halves)]
        known = empty([-1, 2])
        fetches += [stack(empty([2])), shape_in(known, tf.int64), shape_in(empty(), tf.int64), stack(reserve(2, [3])), get(reserve(2), 0, [2])]
    for value in ([1, 2], [3, 4, 5, 6]):
        for index in (0, 1):
            script.step(fetches, {x: f32(value), k: i32(index)})
    script.write()


def hidden(handle):
    """The same list, of which TensorFlow knows nothing while it makes the graph."""
    return apply("PlaceholderWithDefault", input=handle, shape=None).outputs[0]


def list_errors():
    """What TensorFlow refuses of lists when it runs."""
    script = Script("graphs/list_errors")
    with script.graph.as_default():
        x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
        two, pair, triple = hidden(push(empty(), x, x)), hidden(empty([2])), hidden(empty([3]))
        ints = hidden(push(empty(dtype=tf.int32), n))
        shape = tf.placeholder(tf.int32, None, "shape")
        refused = [pop(empty())[1], stack(push(empty(most=1), x, x)), stack(push(triple, x)), stack(push(ints, x)), pop(two, tf.int32)[1],
                   stack(empty()), stack(two, count=3), stack(push(two, x[:1])), stack(two, [3]), stack(reserve(2)), get(reserve(2), 1),
                   get(two, n), stack(put(two, n, x)), stack(put(hidden(reserve(2, [3])), 0, x)), length(one("TensorListFromTensor", tensor=x, element_shape=shape)),
                   length(one("TensorListResize", input_handle=two, size=-n)), length(reserve(-n)),
                   *(length(apply("AddN", inputs=[two, other]).outputs[0]) for other in (push(empty(), x), ints, push(empty(), x, x[:1]))),
                   length(apply("AddN", inputs=[triple, pair]).outputs[0]),
                   length(apply("EmptyTensorList", element_shape=shape, max_num_elements=-1, **FLOAT).outputs[0])]
        whole = stack(two)
    for fetch in refused:
        script.step([fetch], {x: f32([1, 2]), n: i32(2), shape: i32(3)}, fails=True)
    script.step([whole], {x: f32([1, 2])})
    script.write()


def list_parts():
    """Elements from rows and parts of a tensor, tensors from elements, and the gradients of all of that."""
    script = Script("graphs/list_parts", rtol=1e-6)
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, [3, 2], "x")
        scattered = one("TensorListScatterV2", tensor=x, indices=i32([3, 0, 1]), element_shape=i32(ANY), num_elements=5)
        gathered = one("TensorListGather", input_handle=scattered, indices=i32([3, 2, 1, 3]), element_shape=i32([2]), **FLOAT)
        first = one("TensorListScatter", tensor=x, indices=i32([1, 0, 2]), element_shape=i32(ANY))
        again = one("TensorListScatterIntoExistingList", input_handle=first, tensor=x * x, indices=i32([0, 2, 1]))
        rest = stack(again, [2])
        parts = one("TensorListSplit", tensor=x, element_shape=i32(ANY), lengths=tf.constant([1, 0, 2], tf.int64))
        whole, lengths = apply("TensorListConcatV2", input_handle=parts, element_shape=i32([-1, 2]),
                               leading_dims=tf.constant([], tf.int64), **FLOAT).outputs
        unset = one("TensorListResize", input_handle=parts, size=4)
        longer = apply("TensorListConcatV2", input_handle=unset, element_shape=i32(ANY), leading_dims=tf.constant([9, 9, 9, 2], tf.int64), **FLOAT).outputs
        older = apply("TensorListConcat", input_handle=parts, element_shape=[None, 2], **FLOAT).outputs[0]
        results = [gathered, rest, whole, longer[0], older]
        y = tf.add_n([tf.reduce_sum(tf.square(result)) for result in (gathered, rest, whole, older)], name="y")
        slope = tf.identity(tf.gradients(y, x)[0], name="slope")
        results = [tf.identity(result, name=f"result_{i}") for i, result in enumerate([*results, lengths, longer[1], slope])]
    own, theirs = own_gradients(script, y, {x: slope})
    fed = {x: f32([[1, -2], [3, 0.5], [-1, 4]])}
    script.step(results, fed)
    script.step(own, fed, like=theirs)
    script.write()


def mapped():
    """tf.map_fn and tf.scan over arrays of tensors, and their gradients."""
    script = Script("graphs/mapped", rtol=1e-5)
    with script.graph.as_default(), control_flow(2):
        x = tf.placeholder(tf.float32, [None, 2], "x")
        squares = tf.identity(tf.map_fn(lambda row: row * row[0], x), name="squares")
        running = tf.identity(tf.scan(lambda total, row: total * 0.5 + row * row, x), name="running")
        both = tf.add(squares, running, name="both")
        slopes = [tf.identity(tf.gradients(y, x)[0], name=f"slope_{y.op.name}") for y in (squares, running, both)]
    own, theirs = own_gradients(script, both, {x: slopes[2]})
    for value in ([[1, 2], [3, -4], [0.5, 1]], [[1, -1]]):
        script.step([squares, running, *slopes], {x: f32(value)})
        script.step(own, {x: f32(value)}, like=theirs)
    script.write()


def nested_loop_gradient():
    """The gradient through a loop in a loop: lists of lists."""
    script = Script("graphs/nested_loop_gradient_v2", rtol=1e-5)
    with script.graph.as_default(), control_flow(2):
        x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")

        def outer(i, a):
            return i + 1, tf.while_loop(lambda j, _: j < i + 1, lambda j, b: (j + 1, b * x), [tf.constant(0), a])[1] + x

        power = tf.while_loop(lambda i, _: i < n, outer, [tf.constant(0), tf.ones([2])])[1]
        slope = tf.identity(tf.gradients(power, x)[0], name="slope")
    own, theirs = own_gradients(script, power, {x: slope})
    for value in (0, 1, 3):
        script.step([slope], {x: f32([1.5, -0.5]), n: i32(value)})
        script.step(own, {x: f32([1.5, -0.5]), n: i32(value)}, like=theirs)
    script.write()


GRAPHS = (list_values, list_errors, list_parts, mapped, nested_loop_gradient)
