"""Sends what TensorFlow 1.x sessions run to Troupe (driver.cpp). Nothing falls back to TensorFlow's own execution: eager ops
and handles raise ShimLimitation. install(driver) patches BaseSession; forget() ends the driver between tests."""
import itertools
import os
import struct
import subprocess
import tempfile
import threading

import numpy as np
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import pywrap_tf_session as tf_session
from tensorflow.python.client import session as session_lib
from tensorflow.python.framework import errors
from tensorflow.python.framework import dtypes


class _Noted(Exception):

    def __init__(self, text):
        super().__init__(text)
        events.append({'phase': type(self).__name__, 'text': text})


class ShimLimitation(_Noted):
    """Not Troupe's fault."""


class MissingOps(_Noted):
    """The graph has ops that Troupe lacks."""


class DriverDied(_Noted):
    pass


events = []  # what Troupe answered in this test that was no success
runs = 0  # steps that Troupe ran to the end
_driver_path = None
_driver = None
_lock = threading.Lock()
_opening = threading.Lock()
_ids = itertools.count(1)


class _Driver:

    def __init__(self, path):
        self.log = open(os.devnull, 'w') if not os.environ.get('TROUPE_DRIVER_LOG') else open(os.environ['TROUPE_DRIVER_LOG'], 'a')
        env = dict(os.environ, OMP_NUM_THREADS='1')
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env)
        self.sending = threading.Lock()
        self.pending = {}
        self.dead = None
        self.forgotten = False
        self.relayed = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _relay(self):
        """Passes on what the driver has printed, for tests that read what ops print."""
        with self.sending:
            new = os.pread(self.errors.fileno(), 1 << 20, self.relayed)
            self.relayed += len(new)
            os.write(2, new)

    def _read(self):
        out = self.process.stdout
        while True:
            head = out.read(8)
            if len(head) < 8:
                break
            body = out.read(struct.unpack('<Q', head)[0])
            waiting = self.pending.pop(struct.unpack_from('<Q', body)[0], None)
            if waiting:
                waiting[1] = body
                waiting[0].set()
        code = self.process.wait()
        printed = os.pread(self.errors.fileno(), 1 << 20, max(0, os.fstat(self.errors.fileno()).st_size - 600))
        self.dead = 'the driver ended with %d: %s' % (code, printed.decode('utf8', 'replace'))
        for waiting in list(self.pending.values()):
            waiting[0].set()

    def call(self, kind, payload):
        number = next(_ids)
        waiting = [threading.Event(), None]
        self.pending[number] = waiting
        body = struct.pack('<QB', number, ord(kind)) + payload
        try:
            with self.sending:
                self.process.stdin.write(struct.pack('<Q', len(body)))
                self.process.stdin.write(body)
                self.process.stdin.flush()
        except (BrokenPipeError, ValueError, OSError):
            pass
        while not waiting[0].wait(0.5):
            if self.dead:
                break
        if waiting[1] is None:
            if not self.dead:
                self.process.wait()
            if self.forgotten:
                raise RuntimeError('a thread of a former test')
            raise DriverDied(self.dead or 'the driver ended')
        self._relay()
        return waiting[1]


def _the_driver():
    global _driver
    with _lock:
        if _driver is None:
            _driver = _Driver(_driver_path)
        return _driver


def forget():
    """Ends the driver: the next session starts a fresh one."""
    global _driver, runs
    with _lock:
        driver, _driver = _driver, None
    if driver:
        driver.forgotten = True
        driver.process.kill()
        driver.process.wait()
    del events[:]
    runs = 0


def _text(value):
    value = value.encode('utf8') if isinstance(value, str) else bytes(value)
    return struct.pack('<Q', len(value)) + value


def _encode(tensor, value):
    dtype = tensor.dtype.base_dtype
    value = np.asarray(value)
    if dtype in (dtypes.resource, dtypes.variant):
        raise ShimLimitation('feeds a handle')
    if 'resource' in (value.dtype.names or ()):
        raise ShimLimitation('feeds the handle of a session tensor in place of the tensor')
    head = struct.pack('<BB', dtype.as_datatype_enum, value.ndim) + b''.join(struct.pack('<q', d) for d in value.shape)
    if dtype == dtypes.string:
        return head + b''.join(_text(v) for v in value.ravel())
    return head + _text(np.ascontiguousarray(value, dtype=dtype.as_numpy_dtype).tobytes())


class _Reader:

    def __init__(self, body, at):
        self.body, self.at = body, at

    def number(self, form):
        value = struct.unpack_from('<' + form, self.body, self.at)[0]
        self.at += struct.calcsize('<' + form)
        return value

    def bytes(self):
        n = self.number('Q')
        self.at += n
        return self.body[self.at - n:self.at]

    def tensor(self):
        dtype = dtypes.as_dtype(self.number('B'))
        shape = [self.number('q') for _ in range(self.number('B'))]
        if dtype == dtypes.string:
            n = int(np.prod(shape)) if shape else 1
            values = [self.bytes() for _ in range(n)]
            if not shape:
                return values[0]
            array = np.empty(n, dtype=object)
            array[:] = values
            return array.reshape(shape)
        kind = np.dtype(dtype.as_numpy_dtype)
        if kind.fields:  # a quantised type, of which TensorFlow's session returns the integers
            kind = kind[0]
        array = np.frombuffer(self.bytes(), dtype=kind).reshape(shape).copy()
        return array if shape else array[()]


def _call(session, kind, payload, phase):
    body = _the_driver().call(kind, payload)
    reader = _Reader(body, 8)
    code = reader.number('B')
    if code == 0:
        return reader
    text, op, node, message = [reader.bytes().decode('utf8', 'replace') for _ in range(4)]
    event = {'phase': phase, 'code': code, 'text': text, 'op': op, 'node': node}
    events.append(event)
    if text.startswith('driver: '):
        raise ShimLimitation(text)
    if code == 255:
        raise DriverDied(text)
    if code == errors.UNIMPLEMENTED and 'no such op' in text:
        raise MissingOps(text)
    node_def = operation = None
    try:
        operation = session.graph.get_operation_by_name(node)
        node_def = operation.node_def
    except (KeyError, ValueError):
        pass
    raise errors.exception_type_from_error_code(code)(node_def, operation, message)


def _open(session):
    with _opening:
        return _opened(session)


def _opened(session):
    """The id of Troupe's session, which lives in the driver of this test."""
    driver = _the_driver()
    held = getattr(session, '_troupe', None)
    if held and held[0] is driver:
        return held
    if held:
        raise ShimLimitation('a session of a former test')
    if getattr(session, '_target', b'') not in (b'', '', None):
        raise ShimLimitation('a session of a server')
    config = session._config
    cpus = (dict(config.device_count).get('CPU', 1) if config else 1) or 1
    soft = bool(config and config.allow_soft_placement)
    number = next(_ids)
    _call(session, 'O', struct.pack('<QIB', number, cpus, soft), 'open')
    session._troupe = held = [driver, number, None, threading.Lock()]
    return held


def _do_run(self, handle, target_list, fetch_list, feed_dict, options, run_metadata):
    global runs
    if options is not None and not hasattr(options, 'timeout_in_ms'):
        options = config_pb2.RunOptions.FromString(tf_session.TF_GetBuffer(options))
    if run_metadata is not None:  # stays empty: a test that looks into it fails for that
        events.append({'phase': 'ShimLimitation', 'text': 'run metadata'})
    held = _extend(self)
    parts = [struct.pack('<Q', held[1])]
    if handle is not None:
        if target_list:
            raise RuntimeError('partial_run() requires empty target_list.')
        parts.append(struct.pack('<Q', handle))
    else:
        parts.append(struct.pack('<Q', _timeout(self, options)))
    parts.append(struct.pack('<I', len(feed_dict)))
    for key, value in feed_dict.items():
        tensor = key.deref()
        parts += [_text(tensor.name), _encode(tensor, value)]
    parts.append(_fetch_names(fetch_list))
    if handle is None:
        parts.append(_names(target_list))
    reader = _call(self, 'R' if handle is None else 'P', b''.join(parts), 'run')
    runs += 1
    return [reader.tensor() for _ in range(reader.number('I'))]


def _partial_run_setup(self, fetches, feeds=None):
    handler = session_lib._FetchHandler(self.graph, fetches, {})
    feeds = feeds if isinstance(feeds, (list, tuple)) else [] if feeds is None else [feeds]
    feeds = [self.graph.as_graph_element(feed, allow_tensor=True, allow_operation=False) for feed in feeds]
    held = _extend(self)
    parts = [struct.pack('<QQ', held[1], _timeout(self, None)), _names(feeds), _fetch_names(handler.fetches()), _names(handler.targets())]
    return _call(self, 'S', b''.join(parts), 'setup').number('Q')


def _names(items):
    return struct.pack('<I', len(items)) + b''.join(_text(item.name) for item in items)


def _fetch_names(fetches):
    if any(tensor.dtype.base_dtype in (dtypes.resource, dtypes.variant) for tensor in fetches):
        raise ShimLimitation('fetches a handle')
    return _names(fetches)


def _timeout(session, options):
    timeout = options.timeout_in_ms if options else 0
    return timeout or (session._config.operation_timeout_in_ms if session._config else 0)


def _extend(self):
    """Returns the opened session, with the present graph."""
    held = _open(self)
    with held[3]:
        version = self.graph.version
        if held[2] != version:
            _call(self, 'L', struct.pack('<Q', held[1]) + _text(self.graph.as_graph_def().SerializeToString()), 'load')
            held[2] = version
    return held


def _make_callable(self, fetches, feed_list=None, accept_options=False):
    feed_list = feed_list or []

    def call(*values, **kwargs):
        if len(values) != len(feed_list):
            raise TypeError('Expected %d arguments' % len(feed_list))
        return self.run(fetches, dict(zip(feed_list, values)))

    return call


def _no(what):

    def raises(*args, **kwargs):
        raise ShimLimitation(what)

    return raises


def install(driver):
    global _driver_path
    _driver_path = driver
    base = session_lib.BaseSession
    base._do_run = _do_run
    base.make_callable = _make_callable
    base._extend_graph = lambda self: None
    base._call_tf_sessionrun = _no('below run')
    base._call_tf_sessionprun = _no('below partial_run')
    base.partial_run_setup = _partial_run_setup
    base._make_callable_from_options = _no('make_callable_from_options')
    close = base.close

    def closes(self):
        held = getattr(self, '_troupe', None)
        if held and held[0] is _driver and not held[0].dead:
            self._troupe = None
            try:
                _the_driver().call('C', struct.pack('<Q', held[1]))
            except DriverDied:
                pass
        close(self)

    base.close = closes
    from tensorflow.python import pywrap_tfe
    pywrap_tfe.TFE_Py_FastPathExecute = _no('eager')
    pywrap_tfe.TFE_Py_Execute = _no('eager')
