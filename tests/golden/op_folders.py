"""ops/: single ops on placeholders, each case of op_cases.py that shows something new; gradients/: those that are differentiable, with
the nodes that tf.gradients adds."""
import collections

import numpy
from tensorflow.python.framework import op_def_registry, ops

from op_cases import CLOSE, cases_of
from op_families import FAMILIES
from reference import FLOATS, Call, Missing, kind, mixed, name_of, tensorflow_outputs, tf
from script import Script

MOST, MOST_DIFFERENTIATED = 6, 2  # cases of one op
# The gradient of these is an error; that of DebugGradientIdentity, unless a debugger of TensorFlow made the node.
WITHOUT_GRADIENT = {"DebugGradientIdentity", "PreventGradient", "SparseDenseCwiseAdd", "SparseSparseMaximum", "SparseSparseMinimum"}
# TensorFlow 2 takes the diagonals to stand where they do in V3, the gates to stand where they do in BlockLSTM, and a transform by the
# inverse matrix for the gradient of one by the matrix.
WRONG_GRADIENT = {"MatrixDiagV2", "MatrixDiagPartV2", "BlockLSTMV2", "ImageProjectiveTransformV2", "ImageProjectiveTransformV3"}
ONE_OUTPUT = {"SoftmaxCrossEntropyWithLogits"}  # TensorFlow leaves out what the second output owes to the labels
KNOWN_SHAPES = {"BatchToSpaceND", "ParallelConcat", "SpaceToBatchND", "FusedPadConv2D"}  # of which TensorFlow wants to know the shapes of the inputs
MATRIX_FIRST = {"SparseToDense"}  # TensorFlow's gradient takes the first input to be a matrix
# Attributes that Troupe refuses when it makes the graph, TensorFlow when it runs it.
EARLY = {"AsString", "AudioSpectrogram", "DecodeWav", "Mfcc", "ScaleAndTranslate", "ScaleAndTranslateGrad", "StaticRegexFullMatch", "StaticRegexReplace", "StringLower", "StringToHashBucketStrong", "StringUpper",
         "UnicodeDecode", "UnicodeDecodeWithOffsets"}
SAME_SHAPES = {"SoftmaxCrossEntropyWithLogits"}  # of TensorFlow's gradients, which do not sum over what was broadcast

NO_GRADIENT_WITH = {("MatrixSolveLs", "fast", False), ("Qr", "full_matrices", True), ("Svd", "full_matrices", True)}  # of any shape


def cases_by_op():
    found = collections.defaultdict(list)
    for family in FAMILIES:
        for case in cases_of(family):
            if not has_quantized(case):
                found[case.op].append(case)
    return found


def has_quantized(case):
    """Files of arrays have no quantised integers; the graph quantized_network has their ops."""
    types = [kind(value) for value in case.arrays()] + [value for value in case.attrs.values() if isinstance(value, tf.DType)]
    return any(one.is_quantized for one in types)


# ---- which cases


def traits(case):
    """What a case may show that others do not."""
    values = case.arrays()
    first = "none" if not values else "string" if values[0].dtype == object else values[0].dtype.name
    shown = {("dtype", first), ("fails", case.fails), ("ours", case.why),
             ("ranks", tuple(value.ndim for value in values)), ("empty", any(value.size == 0 for value in values)),
             ("count", len(values)), ("shapes differ", len({value.shape for value in values}) > 1)}
    return shown | {("attr", key, str(value)) for key, value in case.attrs.items()}


def has_form(value):
    """Nested lists of strings cannot say the shape [0, 2]."""
    return not (value.dtype == object and value.ndim > 1 and value.size == 0)


def runs(case):
    """TensorFlow has the op and a kernel for it, and refuses it, if at all, only when it runs."""
    if op_def_registry.get(case.op) is None or (case.op in EARLY and (case.fails or case.ours == "fails")):
        return False
    try:
        outputs = tensorflow_outputs(case.op, case.inputs, case.attrs, known_shape(case.op, 2 if case.fails else 0, case.fails))
        said = all(map(has_form, case.arrays() + (outputs or [])))
        return said and ((outputs is None) == case.fails or case.ours is not None)
    except (Missing, ValueError, TypeError):
        return False


def representative(cases, most):
    """Those that show most that is new, at most so many, in their order."""
    left, chosen, seen = list(enumerate(cases)), [], set()
    while left and len(chosen) < most:
        best = max(left, key=lambda one: len(traits(one[1]) - seen))
        left.remove(best)
        if not traits(best[1]) - seen:
            break
        if runs(best[1]):
            chosen.append(best)
            seen |= traits(best[1])
    return [case for _, case in sorted(chosen, key=lambda one: one[0])]


def write(op, cases):
    write_op(op, cases)
    if is_differentiable(op):
        write_gradient(op, cases)


# ---- ops/


def known_shape(op, index, fails):
    """What placeholders of a case know: all, all but the first dimension, or nothing, in turn. Of a failing case nothing, so that
    TensorFlow makes the graph."""
    def shape_of(value):
        if op in KNOWN_SHAPES:
            return value.shape
        if fails or index % 3 == 2:
            return None
        return [None] + list(value.shape[1:]) if index % 3 == 1 and value.ndim else value.shape
    return shape_of


def write_op(op, cases):
    script = Script(f"ops/{op}")
    for index, case in enumerate(representative(cases, MOST)):
        with script.graph.as_default(), tf.name_scope(f"case{index}"):
            call = Call(case.op, case.inputs, case.attrs, f"case{index}/", known_shape(op, index, case.fails or case.ours == "fails"))
        said = {} if case.ours is None else {"why": case.why, "ours": "InvalidArgument" if case.ours == "fails" else case.ours}
        targets = [] if call.fetches else [call.node]
        script.step(call.fetches, call.feeds, targets, "InvalidArgument" if case.fails else False, rtol=case.close, atol=case.near, **said)
    if script.steps:
        script.write()


# ---- gradients/


def is_float(value):
    return value.dtype in (numpy.float32, numpy.float64)


def has_slope(case):
    """Finite numbers in, of which at least one is a float."""
    values = [value for value in case.arrays() if is_float(value)]
    if case.op in SAME_SHAPES and len({value.shape for value in values}) > 1:
        return False
    if case.op in MATRIX_FIRST and case.inputs[0].ndim != 2:
        return False
    if any((case.op, name, value) in NO_GRADIENT_WITH for name, value in case.attrs.items() if isinstance(value, bool)):
        return False
    return (values and not case.fails and case.ours is None and all(numpy.isfinite(value).all() for value in values)
            and all(value.size for value in case.arrays()))


def is_differentiable(op):
    definition = op_def_registry.get(op)
    if definition is None or op in WITHOUT_GRADIENT | WRONG_GRADIENT or any(one.is_ref or one.type == tf.resource.as_datatype_enum for one in definition.input_arg):
        return False
    try:
        return ops.gradient_registry.lookup(op) is not None
    except LookupError:
        return False


def weighted(outputs, values):
    """A tensor that depends on every output, and by every element differently. `values` are those of the outputs."""
    products = [output * tf.constant(mixed(value.shape, value.dtype, 0.5, 2, 40 + index))
                for index, (output, value) in enumerate(zip(outputs, values)) if is_float(value)]
    if len(products) == 1:
        return products[0]
    return tf.add_n([tf.reduce_sum(product) for product in products]) if products else None


def write_gradient(op, cases):
    script = Script(f"gradients/{op}")
    for index, case in enumerate(representative([case for case in cases if has_slope(case)], MOST_DIFFERENTIATED)):
        with script.graph.as_default(), tf.name_scope(f"case{index}"):
            add_gradient(script, case, f"g{index}")
    if script.gradients:
        script.write()


def add_gradient(script, case, name):
    call = Call(case.op, case.inputs, case.attrs)
    of = weighted(call.fetches[:1 if case.op in ONE_OUTPUT else None], tensorflow_outputs(case.op, case.inputs, case.attrs))
    by = [tensor for tensor, value in call.feeds.items() if is_float(value)]
    found = tf.gradients(of, by) if of is not None else []
    pairs = [(tensor, tf.convert_to_tensor(gradient)) for tensor, gradient in zip(by, found) if gradient is not None]
    if not pairs:
        return
    close = 64 * CLOSE[name_of(case.arrays()[0].dtype)] if case.arrays()[0].dtype in FLOATS else 1e-5
    close = max(close, case.close)  # TensorFlow computes some ops less exactly than their dtype allows
    said = {"rtol": close, "atol": close}
    theirs = [gradient for _, gradient in pairs]
    script.gradient(name, of, [tensor for tensor, _ in pairs])
    script.step(theirs, call.feeds, **said)
    script.step([f"{name}:{i}" for i in range(len(pairs))], call.feeds, like=theirs, **said)
