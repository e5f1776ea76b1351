"""Notes why an expectation of an error failed: another class, another text, or no error."""
import re

notes = []


def shown(e):
    return str(e).split('\n\nOriginal stack')[0][:400]


def watch():
    """Tells failures of assertRaises apart: another class, another text, nothing raised."""
    import contextlib
    import unittest
    from tensorflow.python.framework import errors, test_util
    context = unittest.case._AssertRaisesContext
    leave = context.__exit__

    def exits(self, exc_type, exc_value, tb):
        expected = self.expected if isinstance(self.expected, tuple) else (self.expected,)
        names = '/'.join(e.__name__ for e in expected)
        if exc_type is None:
            notes.append(('not raised', names, ''))
        elif not issubclass(exc_type, expected):
            notes.append(('wrong class', names, '%s: %s' % (exc_type.__name__, shown(exc_value))))
        try:
            return leave(self, exc_type, exc_value, tb)
        except AssertionError:
            if exc_type is not None and issubclass(exc_type, expected):
                notes.append(('text', self.expected_regex.pattern if self.expected_regex else '', shown(exc_value)))
            raise

    context.__exit__ = exits

    @contextlib.contextmanager
    def match(self, exception_type, expected):

        def predicate(e):
            if callable(expected):
                return expected(e)
            text, op = (e.message, e.op) if isinstance(e, errors.OpError) else (str(e), None)
            while op is not None:
                text += '\nCaused by: ' + op.name
                op = op._original_op
            return re.search(expected, text)

        name = getattr(exception_type, '__name__', str(exception_type))
        try:
            yield
        except Exception as e:
            if not isinstance(e, exception_type):
                notes.append(('wrong class', name, '%s: %s' % (type(e).__name__, shown(e))))
            elif not predicate(e):
                notes.append(('text', str(expected), shown(e)))
            else:
                return
            raise AssertionError('Exception of type %s: %s' % (type(e), e))
        notes.append(('not raised', name, str(expected)))
        self.fail(name + ' not raised')

    test_util.TensorFlowTestCase.assertRaisesWithPredicateMatch = match
