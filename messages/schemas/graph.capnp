# A graph as data. It travels when a session is extended and when a partition is registered: never per step.
# Its reader trusts nothing: indices, names, attributes and types are checked against the op table as for any other graph.
@0xeb3a7447b9bd7a42;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using PartialShape = import "tensor.capnp".PartialShape;

struct Graph {
  nodes @0 :List(Node);
  functions @1 :List(Function);
  firstNode @2 :UInt32;
  # The number of the first of `nodes`. Nodes are numbered from 0 in the order they were added; a graph sent whole starts at
  # 0, an extension at the number of nodes the receiver has, and may refer to those.
}

struct Node {
  # Costs about 100 bytes and its attributes.

  name @0 :Text;
  op @1 :Text;
  inputs @2 :List(Output);         # of any node, also a later one: loops close backwards
  controlInputs @3 :List(UInt32);  # numbers of nodes
  attrs @4 :List(Attr);            # ordered by name, each name once
  device @5 :Text;                 # as requested, possibly partial; in a partition: fully specified
  colocateWith @6 :List(Text);     # names of nodes
  shapes @7 :List(PartialShape);   # of its outputs, where more is known than the op's shape function tells; else empty
}

struct Output {
  # Output `index` of node number `node`: "name:index" in text. With `control` it is the node itself.

  node @0 :UInt32;
  index @1 :UInt32;
  const control :UInt32 = 0xffffffff;
}

struct Attr {
  name @0 :Text;
  union {
    string @1 :Data;
    int @2 :Int64;
    float @3 :Float32;
    bool @4 :Bool;
    type @5 :UInt8;                # troupe::DType
    shape @6 :PartialShape;
    tensor @7 :UInt32;             # an attachment
    function @8 :Text;             # name of a function of the graph
    strings @9 :List(Data);
    ints @10 :List(Int64);
    floats @11 :List(Float32);
    bools @12 :List(Bool);
    types @13 :List(UInt8);
    shapes @14 :List(PartialShape);
    tensors @15 :List(UInt32);     # attachments
    functions @16 :List(Text);
  }
}

struct Function {
  name @0 :Text;
  body @1 :Graph;                  # its tensors are attachments of the same message
  arguments @2 :List(UInt32);      # numbers of nodes of the body
  results @3 :List(Output);        # of the body
}
