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
