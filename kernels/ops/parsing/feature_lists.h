// Parses the lists of features of a batch of SequenceExamples, and their context: the work that the ops of
// parse_sequence_example.cpp share. As in example_parser.h, a measuring pass counts, and a second one writes every value once; the
// arguments refer to the inputs of the op.
#pragma once

#include "kernels/ops/parsing/example_parser.h"

namespace troupe::parsing {

/// A list of features that is asked for.
struct List {
  std::string_view key;
  DType dtype;
  Form form;
  size_t values, indices = 0;  ///< outputs; `indices` is that of the splits into rows of a ragged list
  /// The dense shape; of a dense list the numbers of rows, or 0; of a ragged one the splits of rows into values.
  size_t shape = 0;
  Dims dims = {};  ///< of a row of a dense list
  int64_t elements = 1;
  bool may_be_missing = true;
};

/// A list as it was found in an example.
struct FoundList {
  std::string_view rows = {};  ///< the message
  bool present = false;
  int64_t row_count = 0, count = 0, most = 0;  ///< the rows, the values of all, the values of the longest row
  int64_t first_row = 0, first = 0;            ///< where they begin in the outputs
};

struct SequenceArguments {
  ExampleArguments context;
  std::vector<List> lists;
  KeyTable keys;
  std::vector<FoundList> found = {};  ///< by example and list

  const Examples& examples() const { return context.examples; }
  FoundList& at(size_t example, size_t list) { return found[example * lists.size() + list]; }
  const FoundList& at(size_t example, size_t list) const { return found[example * lists.size() + list]; }
};

Status measure_sequences(SequenceArguments& arguments, DeviceContext& device);
Status allocate_sequences(SequenceArguments& arguments, KernelContext& context);
Status compute_sequences(const SequenceArguments& arguments, DeviceContext& device);

}  // namespace troupe::parsing
