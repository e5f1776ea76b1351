# Mutex: gives its lock to one step at a time, in the order of the requests. Requests come from executors; one that must wait is
# kept by the actor and holds no thread (messages/schemas/waiting.capnp). A lock never leaves the process of its mutex. When that
# process is lost, so are the steps that hold locks.
@0xa43c7e0d15f8926b;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct LockMutex {
  # Request, answered by MutexLocked when all locks that were requested before have been released.

  step @0 :StepId;
}

struct MutexLocked {
  # Fails with Cancelled if the step ended. Attachment: the lock, a scalar variant. The lock is released when its last tensor
  # goes, and so it is if nobody takes the answer.
}

struct UnlockMutex {
  # Not a request. Sent by a lock to its mutex, in the same process, when the lock goes.

  lock @0 :UInt64;           # the number that the mutex gave to the lock; has no effect unless this is the lock that is held
}
