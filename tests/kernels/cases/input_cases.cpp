// Samples of the ops that bring data into graphs: files, readers, and the maps that keep sparse tensors on their way.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor word(const std::string& value) { return Tensor::scalar(value); }
Tensor words() { return strings({"a", "b"}); }

void add_files(OpCases& cases) {
  const std::string test = "actors/services/files_steps_test.cpp";
  cases.served("ReadFile", {word("a")}, {}, "[]", test);
  cases.bad("ReadFile", {words()}, {}, "of shape [2] has rank 1, expected 0");
  cases.served("WriteFile", {word("a"), word("b")}, {}, "", test);
  cases.bad("WriteFile", {words(), word("b")}, {}, "of shape [2] has rank 1, expected 0");
  cases.bad("WriteFile", {word("a"), words()}, {}, "of shape [2] has rank 1, expected 0");
  cases.served("MatchingFiles", {words()}, {}, "[?]", test);
  cases.bad("MatchingFiles", {words().reshaped(Shape{2, 1})}, {}, "pattern has shape [2,1]");
}

Tensor reader_handle() { return word("r"); }  // the handle of a reader or queue of an op without V2

void add_readers(OpCases& cases) {
  const std::string test = "actors/services/reader_steps_test.cpp";
  const Tensor count = Tensor::scalar<int64_t>(3);
  for (const std::string v : {"", "V2"}) {
    for (const char* op : {"IdentityReader", "WholeFileReader", "TextLineReader", "TFRecordReader"}) {
      cases.served(op + v, {}, {}, "[]", test);
      cases.bad(op + v, {word("a")}, {}, "takes 0 inputs, got 1");
    }
    cases.served("FixedLengthRecordReader" + v, {}, {{"record_bytes", int64_t{3}}}, "[]", test);
    cases.bad("FixedLengthRecordReader" + v, {}, {}, "record_bytes");
    cases.served("ReaderRead" + v, {reader_handle(), reader_handle()}, {}, "[] []", test);
    cases.bad("ReaderRead" + v, {reader_handle()}, {}, "takes 2 inputs, got 1");
    cases.served("ReaderReadUpTo" + v, {reader_handle(), reader_handle(), count}, {}, "[?] [?]", test);
    cases.bad("ReaderReadUpTo" + v, {reader_handle(), reader_handle(), Tensor::vector<int64_t>({3})}, {},
              "[1]");
    cases.served("ReaderNumRecordsProduced" + v, {reader_handle()}, {}, "[]", test);
    cases.served("ReaderNumWorkUnitsCompleted" + v, {reader_handle()}, {}, "[]", test);
    cases.served("ReaderSerializeState" + v, {reader_handle()}, {}, "[]", test);
    for (const char* op :
         {"ReaderNumRecordsProduced", "ReaderNumWorkUnitsCompleted", "ReaderSerializeState", "ReaderReset"})
      cases.bad(op + v, {}, {}, "takes 1 inputs, got 0");
    cases.served("ReaderRestoreState" + v, {reader_handle(), word("")}, {}, "", test);
    cases.bad("ReaderRestoreState" + v, {reader_handle(), words()}, {}, "[2]");
    cases.served("ReaderReset" + v, {reader_handle()}, {}, "", test);
  }
}

void add_sparse_maps(OpCases& cases) {
  const std::string test = "actors/services/sparse_map_steps_test.cpp";
  const Tensor indices = Tensor::of<int64_t>(Shape{2, 2}, {0, 1, 2, 0}),
               dims = Tensor::vector<int64_t>({3, 4}), handles = Tensor::vector<int64_t>({0});
  for (const char* op : {"AddSparseToTensorsMap", "AddManySparseToTensorsMap"}) {
    const bool many = std::string_view(op) == "AddManySparseToTensorsMap";
    cases.served(op, {indices, words(), dims}, {}, many ? "[?]" : "[]", test);
    cases.bad(op, {indices, strings({"a"}), dims}, {}, "[1,2]");
    cases.bad(op, {indices, words(), Tensor::vector<int64_t>({3})}, {}, "[2,1]");
    cases.bad(op, {dims, words(), dims}, {}, "has rank 1, expected 2");
    cases.bad(op, {indices, words(), indices}, {}, "has rank 2, expected 1");
  }
  cases.served("TakeManySparseFromTensorsMap", {handles}, {{"dtype", f32}}, "[?,?] [?] [?]", test);
  cases.bad("TakeManySparseFromTensorsMap", {indices}, {{"dtype", f32}}, "has rank 2, expected 1");
  cases.bad("TakeManySparseFromTensorsMap", {handles}, {}, "dtype");
}

void add_session_tensors(OpCases& cases) {
  const std::string test = "actors/services/session_tensors_test.cpp";
  cases.served("GetSessionHandle", {words()}, {}, "[]", test);
  cases.bad("GetSessionHandle", {}, {}, "takes 1 inputs, got 0");
  cases.served("GetSessionTensor", {word("a")}, {{"dtype", f32}}, "?", test);
  cases.bad("GetSessionTensor", {words()}, {{"dtype", f32}}, "has rank 1, expected 0");
  cases.bad("GetSessionTensor", {word("a")}, {}, "dtype");
  cases.served("DeleteSessionTensor", {word("a")}, {}, "", test);
  cases.bad("DeleteSessionTensor", {words()}, {}, "has rank 1, expected 0");
}

void add_timestamp(OpCases& cases) {
  cases.served("Timestamp", {}, {}, "[]", "actors/services/timestamp_test.cpp");
  cases.bad("Timestamp", {word("a")}, {}, "takes 0 inputs, got 1");
}

}  // namespace

void add_input_cases(OpCases& cases) {
  add_files(cases);
  add_readers(cases);
  add_session_tensors(cases);
  add_sparse_maps(cases);
  add_timestamp(cases);
}

}  // namespace troupe::test
