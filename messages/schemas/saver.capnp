# Saver: writes tensors to the checkpoint files of TensorFlow and reads them. Requests come from executors; the files are those
# of the saver's own process. The work runs on the file thread, one request after the other; a request holds no other thread. A
# file appears under its name when it is complete and durable, so a save that fails or whose process is lost leaves the older
# file. Requests keep no state: when the saver is lost, its successor continues.
#
#   executors                          saver
#     | SaveTensors --------------------->| writes the files
#     |<--------------------- TensorsSaved
#     | RestoreTensors ------------------>| reads them
#     |<------------------ TensorsRestored
#     | MergeCheckpoints ---------------->| renames data files, writes one index
#     |<---------------- CheckpointsMerged
#     | LoadMatrix ---------------------->| reads a matrix, moves its rows and columns
#     |<--------------------- MatrixLoaded
#     | RemapVocabulary ----------------->| compares two files of words
#     |<--------------- VocabularyRemapped
#
@0xd3056f4743c82773;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;

enum CheckpointFormat {
  v1 @0;                     # a file; several that match a pattern are read as one checkpoint
  v2 @1;                     # PREFIX.index and PREFIX.data-00000-of-00001 and so on; reading takes v1 where there is no index
}

struct SaveTensors {
  # Request, answered by TensorsSaved. Attachments: the tensors.

  step @0 :StepId;
  format @1 :CheckpointFormat;
  path @2 :Data;             # the file, or the prefix of the files
  tensors @3 :List(NamedSlice);  # one for each attachment
}

struct NamedSlice {
  name @0 :Data;
  slice @1 :Data;            # "10 20 0,5:-": the tensor is, or is to be, this slice of a variable of shape [10,20]; empty: all of it
  dtype @2 :UInt8;           # when restoring: the number of the type that is expected
}

struct TensorsSaved {
  # Fails with InvalidArgument if a slice is not of that form or has another shape than its tensor, or a name is saved twice; with
  # Unimplemented for types that the format does not have; with Cancelled if the step ended; and as disks do.
}

struct RestoreTensors {
  # Request, answered by TensorsRestored.

  step @0 :StepId;
  format @1 :CheckpointFormat;
  path @2 :Data;
  tensors @3 :List(NamedSlice);
}

struct TensorsRestored {
  # Fails with NotFound if there is no such checkpoint or name; with InvalidArgument if the type or the shape in a slice is not
  # that of the variable; with DataLoss if the files are damaged; with Unimplemented if they have a form that is not read; with
  # Cancelled if the step ended. Attachments: the tensors, in the order of the request.
}

struct MergeCheckpoints {
  # Request, answered by CheckpointsMerged. Its renames are not undone if it fails or its step ends.

  step @0 :StepId;
  prefixes @1 :List(Data);
  destination @2 :Data;
  deleteOldFolders @3 :Bool; # removes the folders of the prefixes that are empty then, except for that of the destination
  allowMissing @4 :Bool;     # prefixes without files are left out, but not all
}

struct CheckpointsMerged {
  # Fails with InvalidArgument if two checkpoints have the same variable and do not both have parts of it.
}

struct LoadMatrix {
  # Request, answered by MatrixLoaded: a matrix of which some rows and columns are those of a matrix in a checkpoint of format v2.
  # Attachments: int64[rows], the row of the checkpoint for each row; int64[columns] or int64[0], the column of the checkpoint for
  # each column, or the same column for all; floats, the values of the elements whose row or column is negative, in row-major
  # order.

  step @0 :StepId;
  prefix @1 :Data;
  name @2 :Data;
  rows @3 :Int64;
  columns @4 :Int64;
}

struct MatrixLoaded {
  # Fails with InvalidArgument if the attachments do not have these numbers of elements, or the checkpoint has no such rows or
  # columns or no matrix of floats under this name; with Unimplemented if a row or column of the checkpoint is to be in two places;
  # otherwise as TensorsRestored. Attachment: the matrix.
}

struct RemapVocabulary {
  # Request, answered by VocabularyRemapped. A vocabulary is a file of text with one word in each line.

  step @0 :StepId;
  newFile @1 :Data;
  oldFile @2 :Data;
  first @3 :Int64;           # of the lines of the new file
  count @4 :Int64;
  oldSize @5 :Int64 = -1;    # so many lines of the old file count; -1: all
}

struct VocabularyRemapped {
  # Fails with InvalidArgument if a file has too few lines, an empty line, or, the old one, a line twice. Attachments:
  # int64[count], the line in the old file that is equal to each line, or -1; int32[], how many there are.
}

struct CancelFiles {
  # Not a request. Sent by an executor to a saver when a step ends early. The requests of the step are answered with Cancelled
  # soon.

  step @0 :StepId;
}
