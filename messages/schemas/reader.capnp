# Reader: yields the records of files whose names it takes from a queue. A file, or a name itself for a reader of names, is a unit
# of work. Requests come from executors. All but GetReaderCounts wait in one line, and only the first makes progress: a read takes
# the next name when the reader has no unit, and waits while the queue is empty. What the reader has taken from the queue or read
# from a file when a request is cancelled stays there for the next request. When the reader's process is lost, its state is lost.
#
#   executor                 reader                        queue              file thread
#     | ReadRecords ----------->| Dequeue ------------------->|                    |
#     |                         |<------------------ Dequeued |                    |
#     |                         | reads some records --------------------------->  |
#     |<----------- RecordsRead |<------------------------------------------ done  |
#
@0xe0f4a9cc52d37b61;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

using StepId = import "session.capnp".StepId;
using Address = import "cluster.capnp".Address;

struct ReadRecords {
  # Request, answered by RecordsRead.

  step @0 :StepId;
  queue @1 :Address;         # of the queue that has the names; may be in another process
  count @2 :UInt64;          # the most records that are wanted
  single @3 :Bool;           # the record is wanted as scalars; `count` is 1
}

struct RecordsRead {
  # Fails with Cancelled if the step ended, and as the queue does: with OutOfRange if it is closed and empty. Fails as the disk does
  # if a file cannot be opened; the next request continues with the next name. Fails with DataLoss at a damaged record, and so do
  # later requests. Attachments: the keys of the records, and their bytes: vectors of as many elements as there are records. These
  # belong to one unit; there is none only if none is wanted.
}

struct GetReaderCounts {
  # Request, answered by ReaderCounts at once.
}

struct ReaderCounts {
  records @0 :UInt64;        # that were yielded
  units @1 :UInt64;          # that were completed
}

struct SaveReader {
  # Request, answered by ReaderSaved.
}

struct ReaderSaved {
  # Attachment: the state (actors/services/reader/reader_state.h), a scalar.
}

struct RestoreReader {
  # Request, answered by ReaderRestored. Attachment: the state, a scalar.
}

struct ReaderRestored {
  # Fails with InvalidArgument if the state is none; the reader then is as after ResetReader.
}

struct ResetReader {
  # Request, answered by ReaderReset. The reader drops its unit and counts from 0.
}

struct ReaderReset {
}
