# Barrier: gathers the components of elements, which come one by one and in any order, by the keys of the elements. An element
# of which all components have come is ready. Ready elements leave the barrier in the order in which their keys came first,
# those that came in one request in the order in which they became ready. Requests come from executors. A take that must wait
# for elements is a pending request and holds no thread (messages/schemas/waiting.capnp); takes wait in one line. When the
# barrier's process is lost, its elements are lost.
@0xb17de09c58a3462f;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct InsertComponents {
  # Request, answered by ComponentsInserted: one component of one element for each key. Attachments: the keys, a vector of
  # strings, and the components, stacked along dimension 0. All of them are inserted, or none.

  component @0 :UInt32;      # the number of the component
}

struct ComponentsInserted {
  # Fails with InvalidArgument if the components do not fit the barrier, or if an element has this component already; with
  # Cancelled if the barrier is closed and knows a key not yet, or if its inserts were cancelled.
}

struct TakeElements {
  # Request, answered by ElementsTaken when `count` elements are ready. With `smallBatch` a take from a closed barrier gets
  # those that are ready.

  step @0 :StepId;
  count @1 :UInt32;
  smallBatch @2 :Bool;
}

struct ElementsTaken {
  # Fails with OutOfRange if the barrier is closed and will not have as many elements, with Cancelled if the step ended.
  # Attachments: a number that orders the elements by the request in which they came first, the keys, and each component,
  # stacked along dimension 0.
}

struct CloseBarrier {
  # Request, answered by BarrierClosed. Afterwards elements whose key is known can still become ready, but no others. With
  # `cancelPending` elements that are not ready are dropped, and all later inserts fail.

  cancelPending @0 :Bool;
}

struct BarrierClosed {
  # Fails with Cancelled if the barrier is closed already, unless this is the first close with `cancelPending`.
}

struct GetBarrierSize {
  # Request, answered by BarrierSize.
}

struct BarrierSize {
  ready @0 :UInt64;          # elements of which all components have come
  incomplete @1 :UInt64;     # the others
}
