// Readers: they take the names of files from a queue and yield the records of the files. The actor of the reader carries out all of
// these ops; a read that has to wait for a name is a pending message there and blocks no thread.
//   IdentityReaderV2              the handle of a reader whose records are the names themselves. Nodes with equal (container,
//                                 shared_name), or else equal node name, share a reader
//   WholeFileReaderV2             a record is a file
//   TextLineReaderV2              a record is a line, without its end ("\n" or "\r\n"), after the first skip_header_lines
//   FixedLengthRecordReaderV2     a record has record_bytes bytes; the first stands behind header_bytes, each other one hop_bytes
//                                 (0: record_bytes) behind the beginning of the one before, and footer_bytes follow the last
//   TFRecordReaderV2              a record is one that TensorFlow wrote. The last two read compressed files, too
//   ReaderReadV2                  the next record, and its key: the name of the file, and, if it can have several records, ':' and
//                                 the number of the line or record or the byte where it begins. OutOfRange at the end of the queue
//   ReaderReadUpToV2              num_records or fewer records of one file, but at least one
//   ReaderNumRecordsProducedV2    how many records it has yielded; ReaderNumWorkUnitsCompletedV2: how many files
//   ReaderSerializeStateV2        what ReaderRestoreStateV2 continues from. Unlike TensorFlow's, all readers have it
//   ReaderResetV2                 drops the rest of the file and counts from 0
// The forms without V2 have the handle as a reference to a string, as older graphs do.
#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"

namespace troupe {
namespace {

OpDefBuilder reader_op(std::string name, ShapeFunction shape) {
  return OpDefBuilder(std::move(name))
      .served_by("reader")
      .effect(Effect::State)
      .shape(shape)
      .allows_uninitialized_input()  // readers and queues have no value
      .not_differentiable();
}

Status read_up_to_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  for (size_t i = 0; i < 2; ++i) context.set_output(i, PartialShape{unknown_dim});
  return {};
}

Status restore_shape(ShapeContext& context) { return context.with_rank(1, 0).status(); }

/// One generation of the ops: the suffix of their names and the type of their handles.
void add_generation(OpLibrary& library, const std::string& suffix, const std::string& handle_type) {
  const std::string handle = "reader_handle: " + handle_type, queue = "queue_handle: " + handle_type;
  const auto add_reader = [&](const std::string& name, const std::vector<std::string_view>& attrs) {
    OpDefBuilder op = reader_op(name + suffix, scalar_shape);
    op.output(handle);
    for (const std::string_view attr : attrs) op.attr(attr);
    library.op(op.attr("container: string = ''").attr("shared_name: string = ''"));
  };
  add_reader("IdentityReader", {});
  add_reader("WholeFileReader", {});
  add_reader("TextLineReader", {"skip_header_lines: int = 0"});
  add_reader("TFRecordReader", {"compression_type: string = ''"});
  std::vector<std::string_view> lengths = {"header_bytes: int = 0", "record_bytes: int",
                                           "footer_bytes: int = 0", "hop_bytes: int = 0"};
  if (!suffix.empty()) lengths.emplace_back("encoding: string = ''");
  add_reader("FixedLengthRecordReader", lengths);

  library.op(reader_op("ReaderRead" + suffix, scalar_shape)
                 .input(handle)
                 .input(queue)
                 .output("key: string")
                 .output("value: string"));
  library.op(reader_op("ReaderReadUpTo" + suffix, read_up_to_shape)
                 .input(handle)
                 .input(queue)
                 .input("num_records: int64")
                 .output("keys: string")
                 .output("values: string"));
  library.op(reader_op("ReaderNumRecordsProduced" + suffix, scalar_shape)
                 .input(handle)
                 .output("records_produced: int64"));
  library.op(reader_op("ReaderNumWorkUnitsCompleted" + suffix, scalar_shape)
                 .input(handle)
                 .output("units_completed: int64"));
  library.op(reader_op("ReaderSerializeState" + suffix, scalar_shape).input(handle).output("state: string"));
  library.op(reader_op("ReaderRestoreState" + suffix, restore_shape).input(handle).input("state: string"));
  library.op(reader_op("ReaderReset" + suffix, no_output_shape).input(handle));
}

}  // namespace

void add_reader_ops(OpLibrary& library) {
  add_generation(library, "", "Ref(string)");
  add_generation(library, "V2", "resource");
}

}  // namespace troupe
