"""The exceptions of Troupe: Error, and a class for each code, with the names that TensorFlow gives them."""
from __future__ import annotations

import enum


class Code(enum.IntEnum):
    """What kind of failure it is; the numbers are TensorFlow's."""

    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15


class Error(Exception):
    """A failure of Troupe. `text` says what is wrong; str() also says where: the op, the node and the device, if they are known."""

    code: Code = Code.UNKNOWN

    def __init__(self, message: str, text: str = "", op: str = "", node: str = "", device: str = "", step: int = 0):
        super().__init__(message)
        self.text = text or message
        self.op = op
        self.node = node
        self.device = device
        self.step = step


class CancelledError(Error):
    code = Code.CANCELLED


class UnknownError(Error):
    code = Code.UNKNOWN


class InvalidArgumentError(Error, ValueError):
    code = Code.INVALID_ARGUMENT


class DeadlineExceededError(Error, TimeoutError):
    code = Code.DEADLINE_EXCEEDED


class NotFoundError(Error):
    code = Code.NOT_FOUND


class AlreadyExistsError(Error):
    code = Code.ALREADY_EXISTS


class PermissionDeniedError(Error):
    code = Code.PERMISSION_DENIED


class ResourceExhaustedError(Error):
    code = Code.RESOURCE_EXHAUSTED


class FailedPreconditionError(Error):
    code = Code.FAILED_PRECONDITION


class AbortedError(Error):
    code = Code.ABORTED


class OutOfRangeError(Error):
    code = Code.OUT_OF_RANGE


class UnimplementedError(Error):
    code = Code.UNIMPLEMENTED


class InternalError(Error):
    code = Code.INTERNAL


class UnavailableError(Error):
    code = Code.UNAVAILABLE


class DataLossError(Error):
    code = Code.DATA_LOSS


_CLASSES: dict[int, type[Error]] = {subclass.code: subclass for subclass in Error.__subclasses__()}


def error_of(code: int, message: str, text: str, op: str, node: str, device: str, step: int) -> Error:
    """Makes the exception of a failure; the extension module calls it."""
    return _CLASSES.get(code, UnknownError)(message, text, op, node, device, step)
