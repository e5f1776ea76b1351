# Graph: a graph as data. It travels when a session is extended and when a partition is registered, never per step. The receiver
# trusts nothing in it: indices, names, attributes and types are checked against the op table as for any other graph.
@0xeb3a7447b9bd7a42;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using PartialShape = import "tensor.capnp".PartialShape;

struct Graph {
  nodes @0 :List(Node);
  functions @1 :List(Function);    # those that the nodes call, directly or indirectly; the receiver may know some already
  firstNode @2 :UInt32;
  # The number of the first of `nodes`. Nodes are numbered from 0 in the order in which they were added. A complete graph starts at
  # 0; an extension starts at the number of nodes that the receiver already has, and may refer to those nodes.
}

struct Node {
  # Costs about 100 bytes and the bytes of its attributes.

  name @0 :Text;
  op @1 :Text;
  inputs @2 :List(Output);         # outputs of any nodes, also of later ones, because loops have edges back
  controlInputs @3 :List(UInt32);  # numbers of nodes
  attrs @4 :List(Attr);            # sorted by name; each name occurs once
  device @5 :Text;                 # the requested device, possibly partial; in a partition: fully specified
  colocateWith @6 :List(Text);     # names of nodes
  shapes @7 :List(PartialShape);   # shapes of the outputs if more is known than the op's shape function infers; otherwise empty
}

struct Output {
  # Output `index` of node number `node`: "name:index" in text. If the index is `control`, it is the node itself.

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
    tensor @7 :UInt32;             # index of an attachment
    function @8 :Text;             # name of a function of the graph
    strings @9 :List(Data);
    ints @10 :List(Int64);
    floats @11 :List(Float32);
    bools @12 :List(Bool);
    types @13 :List(UInt8);        # troupe::DType
    shapes @14 :List(PartialShape);
    tensors @15 :List(UInt32);     # indices of attachments
    functions @16 :List(Text);     # names of functions of the graph
  }
}

struct Function {
  name @0 :Text;
  body @1 :Graph;                  # its tensors are attachments of the same message
  arguments @2 :List(UInt32);      # numbers of nodes of the body
  results @3 :List(Output);        # outputs of nodes of the body
}
