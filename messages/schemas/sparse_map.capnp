# Sparse map: keeps sparse tensors under numbers, their handles, which travel through queues in their place. Requests come from
# executors. A handle is not used again. When the map's process is lost, its tensors are lost.
@0x9c1fd52e7b4a83d6;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct AddSparseTensors {
  # Request, answered by SparseTensorsAdded. Attachments: for each sparse tensor its indices, values and dense shape.
}

struct SparseTensorsAdded {
  first @0 :Int64;           # the handle of the first; the others follow it
  count @1 :UInt64;          # how many there are
}

struct TakeSparseTensors {
  # Request, answered by SparseTensorsTaken. Attachment: a vector of handles.
}

struct SparseTensorsTaken {
  # The map does not have these tensors any more. Fails with InvalidArgument, and nothing is taken, if the map does not have one of
  # them or a handle is there twice. Attachments: for each sparse tensor its indices, values and dense shape.
}
