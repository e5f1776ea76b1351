# Files: handlers of actors never touch files; file threads do (actors/engine/offloading_role.h).
#
# The files role, one per device, carries out the ops that read, write and find files. Requests come from executors. The file thread
# does one piece of work at a time, in order. All paths lie under the roots that the process was started with. A request whose step
# ends early is carried out nevertheless.
@0xb2b64dd087277d85;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct ReadFile {
  # Request, answered by FileRead. Attachment: the path, a scalar.
}

struct FileRead {
  # Fails with NotFound if there is no such file, with FailedPrecondition if it is a folder, with PermissionDenied outside of the
  # roots, and with ResourceExhausted if it has more than 2 GiB. Attachment: its content, a scalar.
}

struct WriteFile {
  # Request, answered by FileWritten. Replaces the file, or makes it with the folders above it; it appears when it is complete.
  # Attachments: the path and the content, scalars.
}

struct FileWritten {
  # The file is durable. Fails as the disk does.
}

struct FindFiles {
  # Request, answered by FilesFound. Attachment: patterns of paths, a scalar or a vector (messages/env/glob.h).
}

struct FilesFound {
  # Fails as the disk does. Attachment: the paths that match, in ascending order, once for each pattern that they match.
}
