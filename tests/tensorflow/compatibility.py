"""What the tests of TensorFlow 1.15 expect of TensorFlow and NumPy and newer versions call otherwise or lack."""
import collections
import sys
import time
import types


def trackables_where_they_were(load):
    """The package training.tracking, whose modules have moved."""
    package = types.ModuleType('tensorflow.python.training.tracking')
    for name, source in (('base', 'trackable.base'), ('tracking', 'trackable.autotrackable'), ('util', 'checkpoint.checkpoint')):
        setattr(package, name, load(source))
        sys.modules[f'{package.__name__}.{name}'] = load(source)
    sys.modules[package.__name__] = package


def moved(package, modules):
    """Makes a package that TensorFlow no longer has of modules under their new names."""
    import importlib
    import sys
    import types
    whole = 'tensorflow.python.' + package
    sys.modules[whole] = types.ModuleType(whole)
    for name, now in modules.items():
        module = importlib.import_module('tensorflow.python.' + now)
        setattr(sys.modules[whole], name, module)
        sys.modules[whole + '.' + name] = module


def compat(tf):
    """What TensorFlow 1.15 called otherwise, and NumPy."""
    import collections.abc
    import importlib
    import inspect
    import unittest
    import numpy as np
    for name, value in (('bool', bool), ('int', int), ('float', float), ('object', object), ('str', str), ('complex', complex),
                      ('long', int), ('unicode', str), ('float_', np.float64), ('NaN', np.nan), ('Inf', np.inf), ('unicode_', np.str_),
                      ('string_', np.bytes_), ('product', np.prod), ('complex_', np.complex128), ('alltrue', np.all)):
        if not hasattr(np, name):
            setattr(np, name, value)
    if 'newshape' not in inspect.signature(np.reshape).parameters:
        reshape = np.reshape
        np.reshape = lambda a, shape=None, *rest, newshape=None, **named: reshape(a, newshape if shape is None else shape, *rest, **named)
    for name in ('Mapping', 'MutableMapping', 'Sequence', 'Iterable', 'Callable', 'Hashable'):
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    if not hasattr(inspect, 'getargspec'):
        inspect.getargspec = inspect.getfullargspec
    if not hasattr(time, 'clock'):
        time.clock = time.process_time
    load = lambda m: importlib.import_module('tensorflow.python.' + m)

    def also(target, source, names=None):
        try:
            target, source = load(target), load(source)
        except ImportError:
            return
        for name in names or [n for n in dir(source) if not n.startswith('_')]:
            if not hasattr(target, name) and hasattr(source, name):
                setattr(target, name, getattr(source, name))

    for source in ('cond', 'while_loop', 'control_flow_case', 'control_flow_switch_case', 'control_flow_assert', 'cond_v2', 'while_v2',
                 'control_flow_util'):
        also('ops.control_flow_ops', 'ops.' + source)
    for source in ('map_fn', 'scan', 'while_loop'):
        also('ops.functional_ops', 'ops.' + source)
    also('ops.variables', 'ops.variable_v1')
    also('ops.gradients_impl', 'ops.unconnected_gradients')
    also('ops.gradients_impl', 'ops.gradients_util')
    also('ops.gradients_impl', 'ops.custom_gradient')
    for source in ('tensor', 'indexed_slices', 'composite_tensor', 'tensor_conversion_registry', 'tensor_conversion', 'device', 'registry',
                 'sparse_tensor'):
        also('framework.ops', 'framework.' + source)
    also('ops.array_ops', 'ops.array_ops_stack')
    also('ops.array_ops', 'ops.manip_ops')
    also('ops.math_ops', 'ops.clip_ops')
    also('ops.nn', 'ops.nn_impl')
    also('ops.nn', 'ops.nn_ops')
    also('ops.nn_ops', 'ops.nn_impl')
    also('ops.nn', 'ops.embedding_ops')
    for name in ('losses', 'losses_impl'):
        also('ops.losses.' + name, 'ops.losses.util')
    also('ops.state_ops', 'ops.gen_state_ops')
    moved('training.tracking', {'base': 'trackable.base', 'tracking': 'trackable.autotrackable', 'util': 'checkpoint.checkpoint'})
    also('framework.tensor_spec', 'framework.tensor')
    variables, v1 = load('ops.variables'), load('ops.variable_v1')
    variables.Variable = variables.VariableV1 = v1.VariableV1
    try:
        load('ops.tensor_array_ops')
        load('framework.ops').Tensor
    except AttributeError:
        pass
    trackables_where_they_were(load)
    ops, common_shapes = load('framework.ops'), load('framework.common_shapes')
    if not hasattr(ops, 'RegisterShape'):  # shape functions are in C++ now
        ops.RegisterShape = lambda op: (lambda function: function)
        common_shapes.unknown_shape = None
    # Graph mode only: eager execution would be TensorFlow's own.
    test_util, context = load('framework.test_util'), load('eager.context')

    def in_graph(func=None, config=None, use_gpu=True, **ignored):

        def decorator(f):

            def decorated(self, *args, **kwargs):
                with context.graph_mode():
                    with self.test_session(use_gpu=use_gpu, config=config):
                        f(self, *args, **kwargs)

            decorated.__name__ = f.__name__
            return decorated

        return decorator(func) if func is not None else decorator

    test_util.run_in_graph_and_eager_modes = in_graph
    unittest.TestCase.assertItemsEqual = unittest.TestCase.assertCountEqual
    test_util.TensorFlowTestCase.assertItemsEqual = unittest.TestCase.assertCountEqual
    for name in ('enable_control_flow_v2', 'with_control_flow_v2', 'assert_no_new_pyobjects_executing_eagerly', 'disable_xla',
                              'run_all_without_xla', 'disable_all_xla', 'xla_allow_fallback', 'disable_control_flow_v2', 'disable_tfrt'):
        if not hasattr(test_util, name):
            setattr(test_util, name, lambda *a, **k: (lambda f: f))
    if not hasattr(test_util, 'disable_control_flow_v2'):
        test_util.disable_control_flow_v2 = lambda *a, **k: (lambda f: f)
