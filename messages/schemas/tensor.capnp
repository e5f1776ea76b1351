# Tensor: what messages say about tensors apart from the tensors themselves. A tensor that travels is an attachment and carries its
# own dtype and shape, so sending one needs nothing from this file.
@0x993c3b428778cab2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct PartialShape {
  # What is known of a shape before the tensor exists.

  unknownRank @0 :Bool;
  dims @1 :List(Int64);      # -1 where unknown
}

struct RowSlice {
  # Row i of the tensor is row first + i * stride of the larger one. A variable, or a part of one, takes its rows from all tensors
  # that have some of them.

  of @0 :Text;               # the name of the larger tensor
  rows @1 :Int64;            # of the larger tensor
  first @2 :Int64;
  stride @3 :Int64;
  count @4 :Int64;           # the rows of the tensor
}
