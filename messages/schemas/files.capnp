# Files: handlers of actors never touch files; file threads do, and tell the actor when they have finished.
#
#   role                     file thread
#     | work as a function ------->| reads or writes
#     |<-------------- FilesDone --|
@0xb2b64dd087277d85;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct FilesDone {
  # Not a request. Sent by the file thread to the role in its own process (actors/engine/file_role.h) when a piece of work with files
  # has ended.

  job @0 :UInt64;            # the number that the role gave to this work
}
