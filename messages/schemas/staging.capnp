# Staging area: keeps tuples of tensors between steps. A stage gives them back in the order in which they came, a map by their
# keys. Tuples of a map may come, and leave, in parts. Requests come from executors. A put that must wait for room and a take
# that must wait for a tuple are pending requests and hold no thread (messages/schemas/waiting.capnp). The puts of a stage wait
# in one line; those of a map, and all takes, wait each for itself, and those that came first are tried first. The limits are
# those of the node that puts. When the area's process is lost, its tuples are lost.
@0xd03a5c7e1f92b864;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

struct PutLimits {
  # How much the area may hold after a put.

  tuples @0 :UInt64;         # 0: any number
  bytes @1 :UInt64;          # 0: any number
}

struct StageTuple {
  # Request to a stage, answered by TupleStaged when the tuple has found room. Attachments: the tensors of the tuple.

  step @0 :StepId;
  limits @1 :PutLimits;
}

struct StagePart {
  # Request to a map, answered by TupleStaged when the part has found room. `limits.tuples` counts complete tuples, and only a
  # part that is a whole tuple waits for it. A whole tuple whose key is there already is dropped. Attachments: the tensors of
  # the part.

  step @0 :StepId;
  limits @1 :PutLimits;
  key @2 :Int64;
  indices @3 :List(Int32);   # the places of these tensors in the tuple, ascending
  size @4 :UInt32;           # the number of tensors of a whole tuple
}

struct TupleStaged {
  # Fails with ResourceExhausted if the tensors alone exceed the limit of bytes, with InvalidArgument if the indices are wrong
  # or a place of the tuple is taken, with Cancelled if the step ended.
}

struct TakeTuple {
  # Request to a stage, answered by TupleTaken when there is a tuple.

  step @0 :StepId;
  types @1 :List(UInt32);    # the dtypes that the tensors must have
  peek @2 :Bool;             # the tuple stays in the area
  index @3 :UInt64;          # if peek: the number of the tuple, from the oldest, for which the request waits
}

struct TakePart {
  # Request to a map, answered by TupleTaken when there is a complete tuple of this key. A tuple leaves the area when its last
  # tensor is taken.

  step @0 :StepId;
  types @1 :List(UInt32);    # as for TakeTuple
  peek @2 :Bool;             # the tensors stay in the area
  anyKey @3 :Bool;           # takes from the tuple of the smallest key
  key @4 :Int64;             # unless anyKey
  indices @5 :List(Int32);   # the places of the wanted tensors, ascending
}

struct TupleTaken {
  # Fails with InvalidArgument if the tensors have other types, or a wanted one was taken before, with Cancelled if the step
  # ended. After a failure nothing is taken. Attachments: the tensors.

  key @0 :Int64;             # of a map
}

struct ClearStaging {
  # Request, answered by StagingCleared: drops all tuples.
}

struct StagingCleared {
}

struct GetStagingSize {
  # Request, answered by StagingSize.
}

struct StagingSize {
  complete @0 :UInt64;       # tuples
  incomplete @1 :UInt64;     # tuples of a map that have come in part
}
