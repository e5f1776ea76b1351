# Queue: elements are tuples of tensors; whoever must wait for room or for elements waits as a pending request, holding no
# thread. Requests come from executors. Enqueues form one line and dequeues another; only the first of a line makes progress.
# Elements belong to the queue once taken; when its process is lost they are lost.
@0xd816cf141c9a30ad;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct Enqueue {
  # Request -> Enqueued, when there was room. Attachments: one tensor per component.

  step @0 :StepId;
}

struct EnqueueMany {
  # Request -> Enqueued, when the last element found room: elements go in one by one. Attachments: one tensor per component,
  # the elements stacked along dimension 0.

  step @0 :StepId;
}

struct Enqueued {
  # Or a failure: Cancelled: by its step, or the queue is closed
}

struct Dequeue {
  # Request -> Dequeued.

  step @0 :StepId;
}

struct DequeueMany {
  # Request -> Dequeued, once there are `count`. When the queue closes before: OutOfRange, and what was taken goes back in
  # order; with `upTo` the remainder is given instead, OutOfRange only when there is none.

  step @0 :StepId;
  count @1 :UInt64;
  upTo @2 :Bool;
}

struct Dequeued {
  # Or a failure: OutOfRange: closed and empty; Cancelled: by its step
  # Attachments: one tensor per component, stacked along dimension 0 for DequeueMany.
}

struct CloseQueue {
  # Request -> QueueClosed. Stands in the line of enqueues: those before it finish first, unless it cancels them. Those after
  # it are Cancelled; dequeues drain the queue.

  cancelPending @0 :Bool;
}

struct QueueClosed {
  # Or a failure: Cancelled: it was closed already
}

struct CancelAttempts {
  # executor -> queue when a step ends before its time. Not a request: the attempts themselves are answered Cancelled. No
  # element is lost: what a dequeue had taken goes back in order.

  step @0 :StepId;
}

struct GetQueueSize {
  # Request -> QueueSize.
}

struct QueueSize {
  size @0 :UInt64;
  closed @1 :Bool;
}
