# Session tensors: one actor per device keeps the tensors for which sessions have handles (features.md C12). A handle names session,
# number, and the task, incarnation and device of the actor, which executors of any task ask. Numbers are not used again while the
# task lives. When the actor's process is lost, its tensors are lost.
@0xb7e4d1902c6fa538;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct KeepTensor {
  # Request, answered by TensorKept. Sent by an executor of the actor's own device. Attachment: the tensor, which is not copied.

  session @0 :UInt64;
  number @1 :UInt64;         # chosen by the service of the device
}

struct TensorKept {
  # Fails with Cancelled if the session has ended.

  session @0 :UInt64;
  number @1 :UInt64;
}

struct GetTensor {
  # Request, answered by TensorGot.

  session @0 :UInt64;
  number @1 :UInt64;
  type @2 :UInt32;           # the dtype that the tensor must have
}

struct TensorGot {
  # Attachment: the tensor. Fails with InvalidArgument if there is no such tensor, or if it has another dtype.
}

struct DeleteTensor {
  # Request, answered by TensorDeleted.

  session @0 :UInt64;
  number @1 :UInt64;
}

struct TensorDeleted {
  # Fails with InvalidArgument if there is no such tensor.
}

struct EndSession {
  # Not a request. Sent by the worker of the task when the master of a session has ended: all tensors of the session are dropped.

  session @0 :UInt64;
}
