# Status: the answer to a request that failed, in place of the reply. The rules below hold for the messages of all roles.
#
# Requests.  A message whose comment says "Request, answered by X" gets exactly one answer: an X, or a Status. The comment on X or
#   on the request says with which codes it fails. If the actor that owes the answer is lost, the engine or the link answers with
#   Unavailable. Nothing answers a message that is not a request.
# Delivery.  Messages from one actor to another arrive in the order sent, each at most once.
# Tensors.   Tensors are attachments: they travel beside the struct, never in it. Either the comment says "Attachments: ..." and
#   gives their order, or a field of type UInt32 is the index of an attachment and says so. Delivery within a process shares them.
# Names.     Structs contain names (Address in cluster.capnp, ids), which mean the same in every process, and never pointers.
# Compatibility.  Fields are only ever added. Both ends run the same build, which the Hello of a link checks (link.capnp); so a
#   default value means "not used", not "the sender is older".
@0x8bd5433fc49a5f2d;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct Status {
  code @0 :UInt8;      # troupe::Code, with TensorFlow's numbers; any other number is read as Unknown
  text @1 :Text;
  op @2 :Text;         # the op that failed: "MatMul"
  node @3 :Text;
  device @4 :Text;
  step @5 :UInt64;     # ordinal of the step; 0 if the failure happened outside any step
}
