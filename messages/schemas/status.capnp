# Status: the answer to any request that failed, in place of the reply; and what holds for the messages of all roles.
#
# Delivery.  Between two actors messages arrive in the order sent, each at most once. A request is answered by exactly one
#   answer: the reply named in its comment, or a Status; when the answerer is lost, Unavailable, made by the engine or the link. What is not
#   called a request here is answered by nothing.
# Tensors.   They are attachments: beside the struct, never in it. A field of type UInt32 called an attachment is an index
#   among them; "attachments: ..." in a comment says what they are where position tells. Local delivery shares them.
# Names.     Structs carry names (Address in cluster.capnp, ids), never handles: they mean the same in every process.
# Compatibility.  Fields are only ever added. Both ends run the same build (the hello of a link sees to that), so a default
#   stands for "not used", not for "sender is older".
@0x8bd5433fc49a5f2d;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct Status {
  code @0 :UInt8;      # troupe::Code, TensorFlow's numbers; any other number is read as Unknown
  text @1 :Text;
  op @2 :Text;         # type of the op that failed: "MatMul"
  node @3 :Text;
  device @4 :Text;
  step @5 :UInt64;     # ordinal of the step, 0 when it was outside any
}
