# Table: values by their keys. A table of constants is initialised once, with all its keys; until then it has none, and
# afterwards it does not change. A mutable table starts empty. A dense table is mutable, has keys and values of any shape, and
# has two keys of its own that stand for a bucket that is empty and one whose key was removed. Requests come from executors and
# are carried out in the order in which they arrive; none waits for another step. A request is one message for any number of
# keys. When the table's process is lost, its contents are lost.
#
#   executors                     table
#     | InitializeTable, ... ------->| on the pool if it takes long
#     |<---------------- TableChanged
#     | FindValues ----------------->|
#     |<----------------- ValuesFound
#
@0xe94c1b7a60d8f253;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("troupe::wire");

struct ReserveKeys {
  # Request, answered by TableChanged: gives a dense table the keys that stand for empty and removed ones. Later requests have
  # no effect. Attachments: the empty key and the deleted key, which may be missing. Fails with InvalidArgument if they are
  # equal or their shapes differ.
}

struct FindValues {
  # Request, answered by ValuesFound. Attachments: the keys, and the value for keys that are not in the table.
}

struct ValuesFound {
  # Fails with FailedPrecondition if the table is not initialised; with InvalidArgument if keys or value do not fit the table.
  # Attachment: the values, in the order of the keys.
}

struct InsertValues {
  # Request, answered by TableChanged: keys that are in the table get new values. Attachments: keys and values.

  clear @0 :Bool;            # first removes all keys that are in the table; initialises a table of constants
}

struct TableChanged {
  # Fails with InvalidArgument if keys or values do not fit the table, or with Unimplemented if a table of constants cannot be
  # changed so. After a failure the table is unchanged.
}

struct RemoveKeys {
  # Request, answered by TableChanged. Keys that are not in the table are passed over. Attachment: the keys.
}

struct InitializeTable {
  # Request, answered by TableChanged: fills a table of constants. Fails with FailedPrecondition if a key has two values, or if
  # the table is initialised with other contents. Attachments: keys and values.
}

struct InitializeTableFromFile {
  # Request, answered by TableChanged: fills a table of constants from the lines of a text file. Has no effect if the table is
  # initialised already. The file is read on the file thread.

  path @0 :Data;
  keyColumn @1 :Int64;       # where in a line the key is: -2: the whole line; -1: the line's number; else a column, from 0
  valueColumn @2 :Int64;     # where the value is
  lines @3 :Int64;           # the number of lines; a longer file is read so far; -1: any number
  delimiter @4 :UInt8;       # the byte between columns
  firstNumber @5 :Int64;     # the number of the first line
}

struct ExportTable {
  # Request, answered by TableExported.
}

struct TableExported {
  # Fails with Aborted if a table of constants is not initialised. Attachments: keys and values, in any order. A dense table has
  # a row for each bucket, in which its empty key stands for no key, its deleted key for a removed one.
}

struct GetTableSize {
  # Request, answered by TableSize.
}

struct TableSize {
  size @0 :UInt64;           # keys in the table
}

struct TableWorked {
  # Not a request. Sent by the compute pool to a table in its own process: work that is too long for a handler has ended.
}
