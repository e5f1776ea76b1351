"""graphs/: TensorArrays and stacks, op by op in all versions, and in a loop and its gradient."""
from flow_graphs import control_flow, own_gradients
from reference import apply, date_back, f32, i32, tf
from script import Script


class Array:
    """A TensorArray and the flow after the last op on it."""

    def __init__(self, version, size, **attrs):
        made = apply("TensorArray" + version, size=size, dtype=tf.float32, **attrs)
        self.version, self.handle = version, made.outputs[0]
        self.flow = made.outputs[1] if version == "V3" else tf.constant(0.0)

    def op(self, verb, **arguments):
        return apply("TensorArray" + verb + self.version, handle=self.handle, **arguments)

    def change(self, verb, **arguments):
        self.flow = self.op(verb, flow_in=self.flow, **arguments).outputs[0]
        return self

    def read(self, verb="Read", **arguments):
        return self.op(verb, flow_in=self.flow, dtype=tf.float32, **arguments).outputs[0]

    def size(self):
        return self.op("Size", flow_in=self.flow).outputs[0]


def arrays(version):
    """Elements, rows and parts of x, and the gradients of what is read by x."""
    script = Script(f"graphs/arrays_{version.lower() or 'v1'}", rtol=1e-6)
    with script.graph.as_default():
        if version != "V3":
            date_back(15)
        x = tf.placeholder(tf.float32, [3, 2], "x")
        elements = Array(version, 2, clear_after_read=False).change("Write", index=1, value=x[0]).change("Write", index=0, value=x[1] * 2.0)
        product = tf.reduce_sum(elements.read(index=0) * elements.read(index=1) * elements.read(index=1))
        rows = Array(version, 3, element_shape=[2]).change("Scatter", indices=i32([2, 0]), value=x[:2])
        gathered = rows.read("Gather", indices=i32([0, 1, 2]), element_shape=[2])
        parts = Array(version, 0, dynamic_size=True).change("Split", value=x, lengths=tf.constant([2, 1], tf.int64))
        whole = parts.read("Concat")
        results = [product, gathered, whole, elements.size(), parts.size()]
        if version == "":
            unpacked = Array(version, 3).change("Unpack", value=x)
            results.append(unpacked.read("Pack"))
        if version == "V3":
            results += [tf.gradients(tf.square(result), x)[0] for result in results if result.dtype == tf.float32]
        made = rows.op("Grad", flow_in=rows.flow, source="zeros").outputs
        results.append(apply("TensorArrayRead" + version, handle=made[0], index=2, flow_in=(made + [rows.flow])[1], dtype=tf.float32).outputs[0])
        with tf.control_dependencies(results):
            closed = elements.op("Close")
        with tf.control_dependencies([closed]):
            results.append(tf.identity(x))
        if version == "V3":
            more = apply("TensorArrayGradWithShape", handle=rows.handle, flow_in=rows.flow, shape_to_prepend=i32([2]), source="more").outputs
            results.append(apply("TensorArrayReadV3", handle=more[0], index=2, flow_in=more[1], dtype=tf.float32).outputs[0])
        results = [tf.identity(result, name=f"result_{i}") for i, result in enumerate(results)]
    script.step(results, {x: f32([[1, -2], [3, 0.5], [-1, 4]])})
    script.write()


def array_loop():
    """A recurrent layer: states[i] = tanh(w states[i - 1] + x[i]), and the gradients by x and w."""
    script = Script("graphs/array_loop", rtol=3e-5)
    with script.graph.as_default(), control_flow(1):
        x, w = tf.placeholder(tf.float32, [None, 2], "x"), tf.placeholder(tf.float32, [], "w")
        steps = tf.shape(x)[0]
        inputs = tf.TensorArray(tf.float32, steps, element_shape=[2]).unstack(x)
        outputs = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[2])

        def body(i, state, outputs):
            state = tf.tanh(w * state + inputs.read(i))
            return i + 1, state, outputs.write(i, state)

        _, last, outputs = tf.while_loop(lambda i, *_: i < steps, body, [0, tf.zeros([2]), outputs])
        states = tf.identity(outputs.stack(), name="states")
        y = tf.add(tf.reduce_sum(states), tf.reduce_sum(last * last), name="y")
        slopes = [tf.identity(slope, name=f"slope_{i}") for i, slope in enumerate(tf.gradients(y, [x, w]))]
    own, theirs = own_gradients(script, y, dict(zip([x, w], slopes)))
    for value in ([[1, -2], [0.5, 1], [2, 0]], [[3, 1]]):
        script.step([states, *slopes], {x: f32(value), w: f32(0.5)})
        script.step(own, {x: f32(value), w: f32(0.5)}, like=theirs)
    script.write()


def stacks(version):
    script = Script(f"graphs/stacks_v{1 if version == '' else 2}")
    with script.graph.as_default():
        x = tf.placeholder(tf.float32, None, "x")
        size = {"max_size": -1} if version else {}
        handle = apply("Stack" + version, elem_type=tf.float32, **size).outputs[0]
        first = apply("StackPush" + version, handle=handle, elem=x).outputs[0]
        with tf.control_dependencies([first]):
            second = apply("StackPush" + version, handle=handle, elem=x * 2.0).outputs[0]
        with tf.control_dependencies([second]):
            last = apply("StackPop" + version, handle=handle, elem_type=tf.float32).outputs[0]
        with tf.control_dependencies([last]):
            closed = apply("StackClose" + version, handle=handle)
        with tf.control_dependencies([closed]):
            results = [tf.identity(last, name="last"), tf.identity(second, name="second")]
    script.step(results, {x: f32([1, 2])})
    script.write()


def _named(function, name, *arguments):
    def make():
        return function(*arguments)
    make.__name__ = name
    return make


GRAPHS = (array_loop, *(_named(arrays, f"arrays{version or 'V1'}", version) for version in ("", "V2", "V3")),
          *(_named(stacks, f"stacks{version or 'V1'}", version) for version in ("", "V2")))
