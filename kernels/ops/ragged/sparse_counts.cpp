// How often numbers come in each row, as a sparse matrix, or for a vector a sparse vector: entry [r, k] counts the values of
// row r that are k, or sums their weights, if there are any; with binary_output it is 1.
//   DenseCountSparseOutput(values, weights)                         of a vector or matrix
//   RaggedCountSparseOutput(splits, values, weights)                of a ragged matrix
//   SparseCountSparseOutput(indices, values, dense_shape, weights)  of entries of a sparse vector or matrix
// Numbers that are not below maxlength count nowhere, unless that is -1. The last dimension of the result is maxlength, if that is
// not -1, else minlength or the greatest number, at least 0, and 1, whichever is more. Fails with InvalidArgument for a negative
// number. Integers wrap around.
#include <algorithm>
#include <tuple>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/ops/ragged/numbers_in_rows.h"
#include "kernels/ops/sparse/sparse_tensor.h"

namespace troupe {
namespace {

/// A number that counts, and where it comes from.
struct Counted {
  int64_t row, number;
  size_t source;

  bool is_at(const Counted& other) const { return row == other.row && number == other.number; }
};

/// Measuring finds and orders the numbers that count.
struct SparseCountArguments {
  NumbersInRows numbers;
  int64_t least, most;  ///< minlength and maxlength
  bool binary;
  std::vector<Counted> counted = {};
  int64_t entries = 0, greatest = 0;
  Tensor *indices = nullptr, *values = nullptr;
};

Status sparse_count_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape rows, row_shape(context, form_of(context.node())));
  const int64_t rank = rows.known_rank() ? static_cast<int64_t>(rows.rank()) + 1 : unknown_dim;
  context.set_output(0, PartialShape{unknown_dim, rank});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{rank});
  return {};
}

Result<SparseCountArguments> check_sparse_count(KernelContext& context) {
  const Node& node = context.node();
  TROUPE_ASSIGN(const NumbersInRows numbers, check_numbers_in_rows(context, form_of(node)));
  return SparseCountArguments{numbers, node.attrs.get<int64_t>("minlength"),
                              node.attrs.get<int64_t>("maxlength"), node.attrs.get<bool>("binary_output")};
}

Status measure_sparse_count(SparseCountArguments& arguments, DeviceContext& /*device*/) {
  TROUPE_ASSIGN(const std::vector<int64_t> rows, rows_of_numbers(arguments.numbers));
  const Dims numbers = integers(arguments.numbers.numbers);
  auto& counted = arguments.counted;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0) return negative_number(arguments.numbers.numbers, i, numbers[i]);
    if (arguments.most >= 0 && numbers[i] >= arguments.most) continue;
    counted.push_back({rows[i], numbers[i], i});
    arguments.greatest = std::max(arguments.greatest, numbers[i]);
  }
  std::ranges::sort(counted, {},
                    [](const Counted& one) { return std::tuple(one.row, one.number, one.source); });
  for (size_t i = 0; i < counted.size(); ++i)
    if (i == 0 || !counted[i].is_at(counted[i - 1])) ++arguments.entries;
  return {};
}

Status allocate_sparse_count(SparseCountArguments& arguments, KernelContext& context) {
  if (arguments.greatest == INT64_MAX)
    return invalid_argument("values has the number 2^63 - 1; it must be less than that");
  const int64_t size =
      arguments.most >= 0 ? arguments.most : std::max(arguments.greatest + 1, arguments.least);
  const Dims dims = arguments.numbers.is_vector ? Dims{size} : Dims{arguments.numbers.rows, size};
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, arguments.entries, dims.size()));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, arguments.entries));
  return set_shape_output(context, 2, dims);
}

template <class T>
void write_counts(const SparseCountArguments& arguments) {
  const T* const weights = arguments.numbers.weights ? arguments.numbers.weights->as<T>().data() : nullptr;
  int64_t* index = arguments.indices->write<int64_t>().data();
  const auto values = arguments.values->write<T>();
  const auto& counted = arguments.counted;
  for (size_t i = 0, entry = 0; i < counted.size(); ++i) {
    const T weight = arguments.binary || !weights ? T{1} : weights[counted[i].source];
    if (i != 0 && counted[i].is_at(counted[i - 1])) {
      if (!arguments.binary) values[entry - 1] = Add::apply(values[entry - 1], weight);
      continue;
    }
    values[entry++] = weight;
    if (!arguments.numbers.is_vector) *index++ = counted[i].row;
    *index++ = counted[i].number;
  }
}

void compute_sparse_count(const SparseCountArguments& arguments, DeviceContext& /*device*/) {
  with_type(CountWeightTypes{}, arguments.values->dtype(),
            [&]<class T>(std::type_identity<T>) { write_counts<T>(arguments); });
}

void add_count(OpLibrary& library, const char* name, std::initializer_list<const char*> inputs) {
  OpDefBuilder op(name);
  for (const char* const input : inputs)
    if (std::string_view(input).starts_with("dense_shape"))
      op.host_input(input);
    else
      op.input(input);
  library.op(op.input("weights: output_type")
                 .output("output_indices: int64")
                 .output("output_values: output_type")
                 .host_output("output_dense_shape: int64")
                 .attr("T: {int32, int64}")
                 .attr("minlength: int >= -1 = -1")
                 .attr("maxlength: int >= -1 = -1")
                 .attr("binary_output: bool")
                 .attr("output_type: {int32, int64, float, double}")
                 .shape(sparse_count_shape));
  library.kernel(measured_cpu_kernel(name, check_sparse_count, measure_sparse_count, allocate_sparse_count,
                                     compute_sparse_count));
}

}  // namespace

void add_sparse_count_ops(OpLibrary& library) {
  add_count(library, "DenseCountSparseOutput", {"values: T"});
  add_count(library, "RaggedCountSparseOutput", {"splits: int64", "values: T"});
  add_count(library, "SparseCountSparseOutput", {"indices: int64", "values: T", "dense_shape: int64"});
}

}  // namespace troupe
