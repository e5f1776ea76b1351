# Queue: its elements are tuples of tensors. They leave it in the order in which they came, in random order, or by priority. An
# enqueue that waits for room and a dequeue that waits for elements (an attempt) is a pending request and holds no thread. Requests
# come from executors. Enqueues, and closes between them, wait in one line, dequeues in another. Only the first attempt of a line
# makes progress, and it keeps the progress that it has made: a dequeue of many elements takes elements as they come, so it may take
# more elements than the queue can hold at once. While a queue that shuffles is open, dequeues leave a minimum of elements in it.
# The queue owns an element once it has accepted it. When the queue's process is lost, its elements are lost. When an attempt fails,
# the elements that it had taken go back to the front of the queue, in order.
@0xd816cf141c9a30ad;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct Enqueue {
  # Request, answered by Enqueued when the element has found room. Attachments: one tensor per component.

  step @0 :StepId;
  timeout @1 :Int64 = -1;    # nanoseconds that the attempt may wait before it fails with DeadlineExceeded; negative: no limit
}

struct EnqueueMany {
  # Request, answered by Enqueued when the last element has found room. Elements go in as there is room, and those that are in stay
  # there, even if the request fails. An enqueue of no elements is answered at once, even by a closed queue. Attachments: one tensor
  # per component, with the elements stacked along dimension 0.

  step @0 :StepId;
  timeout @1 :Int64 = -1;    # as for Enqueue
}

struct Enqueued {
  # Fails with Cancelled if the step ended or the queue is closed; with InvalidArgument if the elements do not have the components
  # of the queue.
}

struct Dequeue {
  # Request, answered by Dequeued. Fails with OutOfRange if the queue is closed and empty.

  step @0 :StepId;
  timeout @1 :Int64 = -1;    # as for Enqueue
}

struct DequeueMany {
  # Request, answered by Dequeued when `count` elements have been taken; a dequeue of no elements is answered at once. If the queue
  # is closed and has too few elements, the request fails with OutOfRange, and the elements taken go back. With `upTo` the request
  # gets the remaining elements instead, and fails with OutOfRange only if there are none.

  step @0 :StepId;
  count @1 :UInt64;
  upTo @2 :Bool;
  timeout @3 :Int64 = -1;    # as for Enqueue
}

struct Dequeued {
  # Fails with Cancelled if the step ended; with InvalidArgument if elements of unknown shape are to be stacked. Attachments: one
  # tensor per component, stacked along dimension 0 for DequeueMany.
}

struct CloseQueue {
  # Request, answered by QueueClosed. It waits in the line of enqueues: the enqueues before it finish first. With `cancelPending` it
  # does not wait: it ends the waiting enqueues and closes with Cancelled. Later enqueues fail with Cancelled; dequeues take the
  # remaining elements.

  cancelPending @0 :Bool;
  step @1 :StepId;
}

struct QueueClosed {
  # Fails with Cancelled if the step ended, or if the queue was closed already, unless the close has `cancelPending`.
}

struct BatchSeparated {
  # Not a request. Sent by the compute pool to a queue in its own process: the elements of a large batch, for a queue that does not
  # keep their order, have been copied into tensors of their own. Attachments: the components of the elements, element by element,
  # each with a leading dimension of 1. Has no effect if the attempt was answered already.

  attempt @0 :UInt64;        # the number that the queue gave to the attempt
}

struct GetQueueSize {
  # Request, answered by QueueSize.
}

struct QueueSize {
  size @0 :UInt64;           # elements in the queue, without those that a waiting dequeue has taken
  closed @1 :Bool;
}
