# What there is to say about tensors outside themselves. A tensor that travels is an attachment and carries its own dtype and
# shape, so nothing here is needed to send one.
@0x993c3b428778cab2;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct PartialShape {
  # What is known of a shape before there is a tensor.

  unknownRank @0 :Bool;
  dims @1 :List(Int64);      # -1 where unknown
}
