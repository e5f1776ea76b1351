"""Runs the tests of one file in child processes, each of which runs until the file ends, a test crashes it or runs out of time."""
import importlib.util
import json
import os
import select
import signal
import sys
import time
import traceback
import unittest

import expectations


# ---- The child


class TestTimeout(BaseException):
    pass


class FirstFailure(unittest.TestResult):
    """Keeps the first error of a test, of its parts and of its cleanup."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def keep(self, error):
        self.kept = self.kept or error

    def addError(self, test, error):
        self.keep(error)
        super().addError(test, error)

    def addFailure(self, test, error):
        self.keep(error)
        super().addFailure(test, error)

    def addSubTest(self, test, subtest, error):
        if error:
            self.keep(error)
        super().addSubTest(test, subtest, error)


def redirect_output(path):
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, file in ((0, null), (1, log), (2, log)):
        os.dup2(file, number)


def load_module(path):
    """Imports a file as a main program, because some make their tests only then."""
    import absl.testing.absltest
    from tensorflow.python.platform import googletest, test as tf_test
    for place in (googletest, tf_test, unittest, absl.testing.absltest):
        place.main = lambda *a, **k: None
    spec = importlib.util.spec_from_file_location("__main__", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["__main__"] = module
    spec.loader.exec_module(module)
    return module


def flattened(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flattened(item)
        else:
            yield item


def tests_of(module):
    """Returns (name, test) for each test."""
    for test in flattened(unittest.defaultTestLoader.loadTestsFromModule(module)):
        name = test.id().rsplit("__main__.", 1)[-1] if " " in test.id() else ".".join(test.id().split(".")[-2:])
        if not name.endswith(".test_session"):
            yield name, test


def run_test(test, limit):
    """Returns the outcome of a test and its first failure, as sys.exc_info() gives it, or None."""
    result = FirstFailure()
    try:
        signal.setitimer(signal.ITIMER_REAL, limit)
        test.run(result)
    except BaseException:
        result.keep(sys.exc_info())
    signal.setitimer(signal.ITIMER_REAL, 0)
    if result.kept:
        return "timeout" if result.kept[0] is TestTimeout else "fail", result.kept
    if not result.wasSuccessful():
        return "fail", None
    return "skip" if result.skipped else "pass", None


def described(failure, path):
    kind, value, trace = failure
    frames = [f for f in traceback.extract_tb(trace) if os.path.basename(path) in f.filename]
    return {"error": kind.__name__, "mro": [k.__name__ for k in kind.__mro__],
            "text": str(value).split("\n\nOriginal stack")[0][:3000], "line": [f"{f.lineno}: {f.line}" for f in frames][-3:]}


def child(args, path, session, skip, only, pipe):
    """Runs the tests of a file, and writes a line of JSON about each to `pipe`. Ends the process."""
    os.setpgid(0, 0)
    redirect_output(os.path.join(args.out, "child.log"))
    send = os.fdopen(pipe, "w", buffering=1)
    tell = lambda **what: print(json.dumps(what), file=send)

    def alarmed(*_):
        raise TestTimeout(f"{args.limit} s")

    signal.signal(signal.SIGALRM, alarmed)
    if session:
        session.install(args.driver)
    expectations.watch()
    try:
        tests = list(tests_of(load_module(os.path.join(args.tests, path))))
    except BaseException as error:
        tell(event="import", error=f"{type(error).__name__}: {str(error)[:300]}")
        os._exit(0)
    for name, test in tests:
        if name in skip or (only is not None and name not in only):
            continue
        tell(event="begin", name=name)
        del expectations.notes[:]
        if session:
            session.forget()
        begin = time.time()
        outcome, failure = run_test(test, args.limit)
        what = {"outcome": outcome, "seconds": round(time.time() - begin, 2)}
        if failure:
            what.update(described(failure, path))
        if session:
            what.update(events=session.events[:6] + session.events[-2:], runs=session.runs, notes=expectations.notes[:4])
        tell(event="end", **what)
        if outcome == "timeout":  # its threads may go on
            os._exit(0)
    if session:
        session.forget()
    tell(event="done")
    os._exit(0)


# ---- The parent


class Child:
    """A child process, and what it has written."""

    def __init__(self, args, *call):
        self.limit, self.results, self.running, self.done, self.data = args.limit, {}, None, False, b""
        self.stream, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.stream)
            try:
                child(args, *call, writing)
            finally:
                os._exit(1)
        os.close(writing)
        self.deadline = time.time() + 60  # of the import

    def take(self, line):
        what = json.loads(line)
        self.deadline = time.time() + self.limit + 5
        event = what.pop("event")
        if event == "import":
            self.results[""] = what
            self.done = True
        elif event == "begin":
            self.running = what["name"]
        elif event == "end":
            self.results[self.running] = what
            self.running = None
        else:
            self.done = True

    def read(self, end):
        """Reads until the child ends, is silent for too long, or the time is `end`."""
        while time.time() < min(self.deadline, end):
            if not select.select([self.stream], [], [], 1)[0]:
                continue
            part = os.read(self.stream, 1 << 16)
            if not part:
                return
            *lines, self.data = (self.data + part).split(b"\n")
            for line in lines:
                self.take(line)
        if time.time() < self.deadline:  # the time of the file is over: this says nothing of the test that runs
            self.running = None

    def end(self):
        """Kills the child and what it has started. A test that was running has crashed or run out of time."""
        silent = time.time() > self.deadline
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.stream)
        if self.running is not None:
            self.results[self.running] = {"outcome": "timeout" if silent else "crash", "text": f"Python ended with status {status}"}


def run_file(args, path, session=None, only=None):
    """Returns what the children told of each test, {name: {"outcome": ...}}, or {"": error} if the file cannot be imported. With a
    `session` Troupe runs the steps. A file may take args.budget seconds."""
    results, end = {}, time.time() + args.budget
    while True:
        process = Child(args, path, session, set(results), only)
        process.read(end)
        process.end()
        results.update(process.results)
        if process.done or not process.results or time.time() > end:
            return results
