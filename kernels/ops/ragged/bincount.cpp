// How often numbers come in each row, as DenseBincount (kernels/ops/math/bincount.cpp) counts them in those of a matrix.
//   RaggedBincount(splits, values, size, weights)                [rows, size]
//   SparseBincount(indices, values, dense_shape, size, weights)  the same for entries of a sparse matrix; [size] for a vector
// bins[r, k] counts the values of row r that are k, for k < size, or sums their weights, if there are any; with binary_output
// it is 1 where a number comes. Fails with InvalidArgument for a negative number. Integers wrap around.
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/ragged/numbers_in_rows.h"

namespace troupe {
namespace {

struct RowBincountArguments {
  NumbersInRows numbers;
  int64_t size;
  Tensor& bins;
  bool binary;
};

size_t size_input(NumberForm form) { return form == NumberForm::Ragged ? 2 : 3; }

Status check_size(int64_t size) {
  return size >= 0 ? Status{}
                   : invalid_argument("size is " + std::to_string(size) + "; it must not be negative");
}

Status row_bincount_shape(ShapeContext& context) {
  const NumberForm form = form_of(context.node());
  TROUPE_RETURN_IF_FAILED(context.with_rank(size_input(form), 0).status());
  const auto size = constant_integer(context, size_input(form));
  if (size) TROUPE_RETURN_IF_FAILED(check_size(*size));
  TROUPE_ASSIGN(const PartialShape rows, row_shape(context, form));
  context.set_output(0, concatenate(rows, PartialShape{size.value_or(unknown_dim)}));
  return {};
}

Result<RowBincountArguments> check_row_bincount(KernelContext& context) {
  const NumberForm form = form_of(context.node());
  TROUPE_ASSIGN(const NumbersInRows numbers, check_numbers_in_rows(context, form));
  const Tensor& given = context.input(size_input(form));
  if (!given.shape().is_scalar())
    return invalid_argument("size of shape " + given.shape().text() + " is not a scalar");
  TROUPE_ASSIGN(const int64_t size, integer_scalar(given, "size"));
  TROUPE_RETURN_IF_FAILED(check_size(size));
  const Dims dims = numbers.is_vector ? Dims{size} : Dims{numbers.rows, size};
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, context.node().output_types[0].dtype));
  TROUPE_ASSIGN(Tensor* const bins, context.output(0, shape));
  return RowBincountArguments{numbers, size, *bins, context.node().attrs.get<bool>("binary_output")};
}

template <class Number, class T>
Status count(const RowBincountArguments& arguments, std::span<const int64_t> rows) {
  const auto numbers = arguments.numbers.numbers.as<Number>();
  const T* const weights = arguments.numbers.weights ? arguments.numbers.weights->as<T>().data() : nullptr;
  const auto bins = arguments.bins.write<T>();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t number = numbers[i];
    if (number < 0) return negative_number(arguments.numbers.numbers, i, number);
    if (number >= arguments.size) continue;
    T& bin = bins[static_cast<size_t>(rows[i] * arguments.size + number)];
    bin = arguments.binary ? T{1} : Add::apply(bin, weights ? weights[i] : T{1});
  }
  return {};
}

Status compute_row_bincount(const RowBincountArguments& arguments, DeviceContext& device) {
  fill(device.pool(), arguments.bins);
  TROUPE_ASSIGN(const std::vector<int64_t> rows, rows_of_numbers(arguments.numbers));
  Status status;
  with_type(CountedTypes{}, arguments.numbers.numbers.dtype(), [&]<class Number>(std::type_identity<Number>) {
    with_type(CountWeightTypes{}, arguments.bins.dtype(),
              [&]<class T>(std::type_identity<T>) { status = count<Number, T>(arguments, rows); });
  });
  return status;
}

void add_attrs(OpDefBuilder& op) {
  op.host_input("size: Tidx")
      .input("weights: T")
      .output("output: T")
      .attr("Tidx: {int32, int64}")
      .attr("T: {int32, int64, float, double}")
      .attr("binary_output: bool = false")
      .shape(row_bincount_shape);
}

}  // namespace

void add_row_bincount_ops(OpLibrary& library) {
  OpDefBuilder ragged("RaggedBincount"), sparse("SparseBincount");
  ragged.input("splits: int64").input("values: Tidx");
  sparse.input("indices: int64").input("values: Tidx").host_input("dense_shape: int64");
  for (OpDefBuilder* const op : {&ragged, &sparse}) {
    add_attrs(*op);
  }
  library.op(ragged.constructor("ragged_bincount(splits, values, size, weights, binary_output)"));
  library.op(sparse);
  for (const char* const op : {"RaggedBincount", "SparseBincount"})
    library.kernel(cpu_kernel(op, check_row_bincount, compute_row_bincount));
}

}  // namespace troupe
