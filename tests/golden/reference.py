"""The real TensorFlow, in graph mode on one thread with nothing simplified and oneDNN off, and the arrays that golden cases are made of.
"""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy
import tensorflow
from tensorflow.python.framework import op_def_library, op_def_registry

tf = tensorflow.compat.v1
tf.disable_eager_execution()
tf.disable_control_flow_v2()
numpy.seterr(over="ignore", invalid="ignore")

BFLOAT16 = tf.bfloat16.as_numpy_dtype
FLOATS = [numpy.float32, numpy.float64, numpy.float16, BFLOAT16]
INTEGERS = [numpy.int32, numpy.int64, numpy.int8, numpy.uint8, numpy.int16, numpy.uint16, numpy.uint32, numpy.uint64]
COMPLEX = [numpy.complex64, numpy.complex128]
INF, NAN = float("inf"), float("nan")


def array(dtype):
    return lambda values: numpy.array(values, dtype=dtype)


f32, f64, i32, i64, u8, boolean = map(array, [numpy.float32, numpy.float64, numpy.int32, numpy.int64, numpy.uint8, numpy.bool_])
c64 = array(numpy.complex64)


def text(values):
    return numpy.array(values, dtype=object)


def zeros(shape, dtype=numpy.float32):
    return numpy.zeros(shape, dtype=dtype)


def ramp(shape, dtype=numpy.float32, first=1):
    return (numpy.arange(numpy.prod(shape, dtype=int)) + first).astype(dtype).reshape(shape)


def mixed(shape, dtype=numpy.float32, low=-2.0, high=2.0, seed=1):
    """Numbers of few digits, the same in every run."""
    values = numpy.round(numpy.random.RandomState(seed).uniform(low, high, size=shape), 3)
    return values.astype(dtype)


def name_of(dtype):
    return tf.as_dtype(dtype).name


def kind(value):
    return tf.string if value.dtype == object else tf.as_dtype(value.dtype)


def quantized(values, dtype):
    """The array of integers as one of the quantised dtype, which says it; arrays of other dtypes as they are."""
    if not dtype.is_quantized:
        return values
    result = numpy.zeros(numpy.shape(values), dtype=dtype.as_numpy_dtype)
    result[result.dtype.names[0]] = values
    return result


# ---- one op


class Missing(Exception):
    """TensorFlow has no kernel for this."""


def default_of(attr):
    field = attr.default_value.WhichOneof("value")
    value = getattr(attr.default_value, field)
    if field == "list":
        return [item for _, items in value.ListFields() for item in items]
    return tf.as_dtype(value) if field == "type" else tf.TensorShape(value) if field == "shape" else value


def apply(op, **arguments):
    definition = op_def_registry.get(op)
    inferred = {name for argument in definition.input_arg for name in (argument.type_attr, argument.number_attr, argument.type_list_attr)}
    for attr in definition.attr:
        if attr.HasField("default_value") and attr.name not in inferred:
            arguments.setdefault(attr.name, default_of(attr))
    return op_def_library._apply_op_helper(op, **arguments)[2]


def date_back(version):
    """Makes the default graph one of this version, in which ops that a later one ended are allowed."""
    old = tf.GraphDef()
    old.versions.producer = version
    tf.import_graph_def(old, name="")


class Call:
    """One op on placeholders, in the default graph. Where the op takes references or resources they are variables, and what is fetched
    are their new values if the op yields none itself; `shape_of(value)` says what a placeholder knows of its shape. `scope` makes the names of variables differ."""

    def __init__(self, op, inputs, attrs, scope="", shape_of=lambda value: value.shape):
        self.feeds, self.made = {}, []
        self.scope, self.shape_of = scope, shape_of
        if ended := op_def_registry.get(op).deprecation.version:
            date_back(ended - 1)
        arguments = {argument.name: self._source(argument, value)
                     for argument, value in zip(op_def_registry.get(op).input_arg, inputs)}
        with tf.control_dependencies([assign for _, assign, _ in self.made]):
            self.node = apply(op, name="node", **arguments, **attrs)
        with tf.control_dependencies([self.node]):
            read = [apply("ReadVariableOp", resource=v, dtype=dtype, name="r").outputs[0] if v.dtype == tf.resource else
                    apply("Identity", input=v, name="r").outputs[0] for v, _, dtype in self.made]
        yields = [output for output in self.node.outputs if not output.dtype._is_ref_dtype]
        self.fetches = yields or read

    def _source(self, argument, value):
        if isinstance(value, list):
            return [self._source(argument, one) for one in value]
        if not argument.is_ref and argument.type != tf.resource.as_datatype_enum:
            return self._placeholder(value)
        resource = not argument.is_ref
        variable = apply("VarHandleOp" if resource else "VariableV2", shape=value.shape, dtype=kind(value), name="v",
                         shared_name=f"{self.scope}v{len(self.made)}").outputs[0]
        initial = self._placeholder(value)
        assign = (apply("AssignVariableOp", resource=variable, value=initial, name="a") if resource else
                  apply("Assign", ref=variable, value=initial, validate_shape=False, name="a"))
        self.made.append((variable, assign, kind(value)))
        return variable

    def _placeholder(self, value):
        placeholder = tf.placeholder(kind(value), self.shape_of(value))
        self.feeds[placeholder] = value
        return placeholder


def copies(feeds):
    """TensorFlow's InplaceAdd and its like change arrays that are fed."""
    return {key: numpy.copy(value) for key, value in feeds.items()}


def session(graph):
    config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0
    return tf.Session(graph=graph, config=config)


def tensorflow_outputs(op, inputs, attrs, shape_of=None):
    """The outputs, or None when it refuses: as the graph is made (ValueError or TypeError if shape_of is given), as it runs, or because it
    does not have the op (any more)."""
    if op_def_registry.get(op) is None:
        return None
    with tf.Graph().as_default() as graph:
        try:
            call = Call(op, inputs, attrs, shape_of=shape_of or (lambda value: value.shape))
        except (ValueError, TypeError) as error:
            if "allowed values" in str(error):
                raise Missing(str(error))
            if shape_of:
                raise
            return None
        with session(graph) as running:
            try:
                values = running.run(call.fetches, copies(call.feeds))
                values = [text(value) if fetch.dtype == tf.string else value for value, fetch in zip(values, call.fetches)]
                return [quantized(value, fetch.dtype) for value, fetch in zip(values, call.fetches)]
            except tf.errors.OpError as error:
                if "No OpKernel" in str(error) or isinstance(error, tf.errors.UnimplementedError):
                    raise Missing(str(error))
                return None
