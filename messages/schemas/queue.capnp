# Queue: elements are tuples of tensors; whoever must wait for room or for elements waits as a pending request, holding no
# thread. Requests come from executors. Enqueues (with closes among them) form one line and dequeues another; only the first of
# a line makes progress, and it keeps what it has: a dequeue of many takes elements as they come, so that more than the capacity
# can pass through.
# Elements belong to the queue once taken; when its process is lost they are lost. What an attempt had taken and cannot keep
# goes back to the front, in order.
@0xd816cf141c9a30ad;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct Enqueue {
  # Request -> Enqueued, when there was room. Attachments: one tensor per component.

  step @0 :StepId;
  timeout @1 :Int64 = -1;    # nanoseconds that it may wait, then DeadlineExceeded; negative: as long as it takes
}

struct EnqueueMany {
  # Request -> Enqueued, when the last element found room: elements go in as there is room, and those that are in stay, whatever
  # becomes of the others. Of none: at once, even when the queue is closed. Attachments: one tensor per component, the elements
  # stacked along dimension 0.

  step @0 :StepId;
  timeout @1 :Int64 = -1;
}

struct Enqueued {
  # Or a failure: Cancelled: by its step, or the queue is closed; InvalidArgument: not what the queue holds
}

struct Dequeue {
  # Request -> Dequeued, or OutOfRange: the queue is closed and empty.

  step @0 :StepId;
  timeout @1 :Int64 = -1;
}

struct DequeueMany {
  # Request -> Dequeued, once there are `count`; of none: at once. When the queue closes before: OutOfRange, and what was taken
  # goes back; with `upTo` the remainder is given instead, OutOfRange only when there is none.

  step @0 :StepId;
  count @1 :UInt64;
  upTo @2 :Bool;
  timeout @3 :Int64 = -1;
}

struct Dequeued {
  # Or a failure: Cancelled: by its step; InvalidArgument: elements of unknown shape cannot be stacked
  # Attachments: one tensor per component, stacked along dimension 0 for DequeueMany.
}

struct CloseQueue {
  # Request -> QueueClosed. Stands in the line of enqueues: those before it finish first. With `cancelPending` it does not wait
  # but ends them, closes among them, with Cancelled. Enqueues after it are Cancelled; dequeues drain the queue.

  cancelPending @0 :Bool;
  step @1 :StepId;
}

struct QueueClosed {
  # Or a failure: Cancelled: by its step, or it was closed already (which a close with `cancelPending` does not mind)
}

struct CancelAttempts {
  # executor -> queue when a step ends before its time. Not a request: the attempts themselves are answered Cancelled. No
  # element is lost: what a dequeue had taken goes back in order.

  step @0 :StepId;
}

struct AttemptExpired {
  # clock -> queue, in its own process: the time of an attempt is over. Not a request. No effect on one that was answered.

  attempt @0 :UInt64;        # counted by the queue
}

struct GetQueueSize {
  # Request -> QueueSize.
}

struct QueueSize {
  size @0 :UInt64;           # elements in the queue; those that a waiting dequeue has taken are not
  closed @1 :Bool;
}
