// Diagonals of matrices. The last two dimensions of a tensor hold a matrix, the others count matrices. Diagonal 0 is the main
// one, 1 the one above it, -1 the one below it.
//   MatrixDiag(diagonal)                  matrices with that main diagonal and zeros elsewhere
//   MatrixDiagPart(input)                 the main diagonals
//   MatrixSetDiag(input, diagonal)        the input with another main diagonal
// and of the diagonals k = [lower, upper], or one diagonal k:
//   MatrixDiagV2, MatrixDiagV3(diagonal, k, num_rows, num_cols, padding_value)   padding_value elsewhere; -1: as many as are needed
//   MatrixDiagPartV2, MatrixDiagPartV3(input, k, padding_value)
//   MatrixSetDiagV2, MatrixSetDiagV3(input, diagonal, k)
// Several diagonals are rows of one tensor, the upper one first, of the length of the longest. The others are at the left or at
// the right of their row, padding_value beside them; attribute align says so, first of those above the main diagonal, then of
// those below it. In V2 all are at the left.
#include "kernels/ops/array/matrix_diag.h"

#include <algorithm>

#include "graph/build/gradients.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

bool is_first_version(const Node& node) {
  return !node.type().ends_with("V2") && !node.type().ends_with("V3");
}

Result<DiagonalRange> range_of(std::span<const int64_t> k) {
  if (k.size() != 1 && k.size() != 2)
    return invalid_argument("k has " + std::to_string(k.size()) + " elements, expected 1 or 2");
  const DiagonalRange range{k.front(), k.back()};
  if (range.lower > range.upper) return invalid_argument(range.text() + ": the first is above the second");
  return range;
}

/// In a check: which diagonals, from input i; the main one in ops without k.
Result<DiagonalRange> read_range(const KernelContext& context, size_t i) {
  if (is_first_version(context.node())) return DiagonalRange{};
  const Tensor& k = context.input(i);
  if (k.shape().rank() > 1)
    return invalid_argument("k of shape " + k.shape().text() + " is neither scalar nor vector");
  return range_of(integers(k));
}

/// In a shape function; nothing when it is not known.
Result<std::optional<DiagonalRange>> known_range(const ShapeContext& context, size_t i) {
  if (is_first_version(context.node())) return std::optional(DiagonalRange{});
  const PartialShape& shape = context.input(i);
  if (shape.known_rank() && shape.rank() > 1)
    return invalid_argument("k of shape " + shape.text() + " is neither scalar nor vector");
  const auto k = context.constant_integers(i);
  if (!k) return std::optional<DiagonalRange>{};
  TROUPE_ASSIGN(const DiagonalRange range, range_of(*k));
  return std::optional(range);
}

void align(const Node& node, Diagonals& diagonals) {
  const AttrValue* const attr = node.attrs.find("align");
  if (!attr) return;
  const std::string& text = std::get<std::string>(*attr);
  diagonals.above_at_end = text.starts_with("RIGHT");
  diagonals.below_at_end = text.ends_with("RIGHT");
}

/// The diagonals of matrices of this size; unknown dimensions give an unknown length. InvalidArgument when one is outside of them.
Result<Diagonals> diagonals_in(const DiagonalRange& range, int64_t rows, int64_t columns) {
  for (const int64_t k : {range.lower, range.upper}) {
    const bool too_low = rows != unknown_dim && k <= -rows, too_high = columns != unknown_dim && k >= columns;
    if (k != 0 && (too_low || too_high))
      return invalid_argument(range.text() + " is outside of matrices of shape " +
                              PartialShape{rows, columns}.text());
  }
  const bool known = rows != unknown_dim && columns != unknown_dim;
  const int64_t length =
      std::min(rows + std::min<int64_t>(range.upper, 0), columns - std::max<int64_t>(range.lower, 0));
  return Diagonals{range, rows, columns, known ? length : unknown_dim};
}

/// The dimensions of packed diagonals after those that count matrices.
Dims packed_dims(std::span<const int64_t> matrices, const Diagonals& diagonals) {
  Dims dims(matrices);
  if (diagonals.range.count() > 1) dims.push_back(diagonals.range.count());
  dims.push_back(diagonals.length);
  return dims;
}

Result<std::span<const int64_t>> batch_of_matrices(std::span<const int64_t> dims) {
  if (dims.size() >= 2) return dims.first(dims.size() - 2);
  return invalid_argument("input of shape " + partial(dims).text() + " holds no matrices");
}

// ---- Kernels

/// Where a diagonal lies in the matrices, and in the rows: element (i, j) is element j of that of matrix i.
Layout in_matrices(const Diagonals& diagonals, int64_t diagonal) {
  return {diagonals.first_in_matrix(diagonal),
          Dims{diagonals.rows * diagonals.columns, diagonals.columns + 1}};
}
Layout in_rows(const Diagonals& diagonals, int64_t diagonal) {
  return {diagonals.first_in_rows(diagonal), Dims{diagonals.range.count() * diagonals.length, 1}};
}

void compute_diagonals(const DiagonalArguments& arguments, DeviceContext& device) {
  Tensor& to = *arguments.to;
  if (to.elements() == 0) return;
  const Dims all{to.elements()}, one{1};
  if (arguments.base) strided_copy(device.pool(), all, *arguments.base, {0, one}, to, {0, one});
  if (arguments.fills) fill(device.pool(), to, arguments.background);
  const Diagonals& diagonals = arguments.diagonals;
  const auto count = static_cast<size_t>(diagonals.range.count());
  const size_t cost = 2 * size_of(to.dtype()) * static_cast<size_t>(arguments.matrices * diagonals.length);
  parallel_rows(device.pool(), count, cost, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const int64_t diagonal = diagonals.range.lower + static_cast<int64_t>(i);
      const Layout matrices = in_matrices(diagonals, diagonal), rows = in_rows(diagonals, diagonal);
      strided_copy(device.pool(), Dims{arguments.matrices, diagonals.length_of(diagonal)}, *arguments.from,
                   arguments.packs ? matrices : rows, to, arguments.packs ? rows : matrices);
    }
  });
}

/// A host input that must be a scalar, or null in ops without it.
Result<const Tensor*> read_background(const KernelContext& context, size_t i) {
  if (is_first_version(context.node())) return static_cast<const Tensor*>(nullptr);
  const Tensor& value = context.input(i);
  if (!value.shape().is_scalar())
    return invalid_argument("padding_value of shape " + value.shape().text() + " is not a scalar");
  return &value;
}

// ---- MatrixDiag

/// What is known of num_rows and num_cols; -1: as many as are needed. Nothing: not known.
struct WantedSize {
  std::optional<int64_t> rows = -1, columns = -1;
};

/// Dimension `wanted` where it is given, else `least`.
Result<int64_t> matrix_dim(std::optional<int64_t> wanted, int64_t least, const char* name) {
  if (!wanted || (*wanted == -1 && least == unknown_dim)) return unknown_dim;
  if (*wanted == -1) return least;
  if (*wanted >= 0 && *wanted >= least) return *wanted;
  return invalid_argument(std::string(name) + " is " + std::to_string(*wanted) + ", the diagonals need " +
                          std::to_string(least));
}

/// The matrices of which these are diagonals.
Result<Diagonals> diagonals_given(const DiagonalRange& range, std::span<const int64_t> packed,
                                  WantedSize wanted) {
  const bool many = range.count() > 1;
  if (packed.size() < (many ? 2 : 1))
    return invalid_argument("diagonal of shape " + partial(packed).text() + " for " + range.text());
  if (many && packed[packed.size() - 2] != unknown_dim && packed[packed.size() - 2] != range.count())
    return invalid_argument("diagonal of shape " + partial(packed).text() + " does not hold " +
                            std::to_string(range.count()) + " diagonals for " + range.text());
  Diagonals result{range, unknown_dim, unknown_dim, packed.back()};
  const bool known = result.length != unknown_dim;
  int64_t rows = known ? result.length - std::min<int64_t>(range.upper, 0) : unknown_dim;
  int64_t columns = known ? result.length + std::max<int64_t>(range.lower, 0) : unknown_dim;
  const int64_t least_rows = rows, least_columns = columns;
  if (wanted.rows == -1 && wanted.columns == -1) rows = columns = std::max(rows, columns);
  if (!wanted.rows && wanted.columns == -1) wanted.columns.reset();  // the matrices may be square
  if (!wanted.columns && wanted.rows == -1) wanted.rows.reset();
  TROUPE_ASSIGN(result.rows, matrix_dim(wanted.rows, rows, "num_rows"));
  TROUPE_ASSIGN(result.columns, matrix_dim(wanted.columns, columns, "num_cols"));
  const bool all_known = known && result.rows != unknown_dim && result.columns != unknown_dim;
  if (all_known && result.rows != least_rows && result.columns != least_columns)
    return invalid_argument("diagonals of length " + std::to_string(result.length) + " for " + range.text() +
                            " do not fit matrices of shape " +
                            PartialShape{result.rows, result.columns}.text());
  return result;
}

std::span<const int64_t> batch_of_packed(std::span<const int64_t> packed, const DiagonalRange& range) {
  return packed.first(packed.size() - (range.count() > 1 ? 2 : 1));
}

/// A scalar that may be unknown, in a shape function.
Result<std::optional<int64_t>> known_scalar(const ShapeContext& context, size_t i) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  return constant_integer(context, i);
}

Status matrix_diag_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto range, known_range(context, 1));
  WantedSize wanted;
  if (!is_first_version(context.node())) {
    TROUPE_ASSIGN(wanted.rows, known_scalar(context, 2));
    TROUPE_ASSIGN(wanted.columns, known_scalar(context, 3));
    TROUPE_RETURN_IF_FAILED(context.with_rank(4, 0).status());
  }
  const PartialShape& packed = context.input(0);
  if (!range || !packed.known_rank()) return {};
  TROUPE_ASSIGN(const Diagonals diagonals, diagonals_given(*range, packed.dims(), wanted));
  Dims dims(batch_of_packed(packed.dims(), *range));
  dims.append(Dims{diagonals.rows, diagonals.columns});
  context.set_output(0, partial(dims));
  return {};
}

// ---- MatrixDiagPart

Status matrix_diag_part_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto range, known_range(context, 1));
  if (context.inputs() > 2) TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const auto batch, batch_of_matrices(input.dims()));
  if (!range) return {};
  TROUPE_ASSIGN(const Diagonals diagonals,
                diagonals_in(*range, input[batch.size()], input[batch.size() + 1]));
  context.set_output(0, partial(packed_dims(batch, diagonals)));
  return {};
}

// ---- MatrixSetDiag

Status matrix_set_diag_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto range, known_range(context, 2));
  const PartialShape& input = context.input(0);
  context.set_output(0, input);
  if (!input.known_rank()) return {};
  TROUPE_ASSIGN(const auto batch, batch_of_matrices(input.dims()));
  if (!range) return {};
  TROUPE_ASSIGN(const Diagonals diagonals,
                diagonals_in(*range, input[batch.size()], input[batch.size() + 1]));
  return merge(context.input(1), partial(packed_dims(batch, diagonals))).status();
}

// ---- Gradients

/// An op of this family in the version of the node, with its k and align: "MatrixDiagPart" -> MatrixDiagPartV3.
class SameVersion {
 public:
  SameVersion(const GradientContext& context, size_t k_input) : context_(context), k_input_(k_input) {}

  Output diag_part(Output matrices) const { return add("MatrixDiagPart", {matrices}, true); }
  Output set_diag(Output matrices, Output diagonal) const {
    return add("MatrixSetDiag", {matrices, diagonal}, false);
  }
  /// The diagonals of zeros like these matrices, padded with ones.
  Output gaps(Output matrices) const {
    const Output none = context_.scope().add_one("ZerosLike", {matrices});
    return add("MatrixDiagPart", {none}, true, 1);
  }

 private:
  Output add(const std::string& op, std::vector<Output> inputs, bool padded, int64_t padding = 0) const {
    const Scope& scope = context_.scope();
    if (is_first_version(context_.node())) return scope.add_one(op, std::move(inputs));
    const DType dtype = scope.dtype(inputs[0]);
    inputs.push_back(context_.input(k_input_));
    if (padded)
      inputs.push_back(scope.add_one("Cast", {integer_constant(scope, padding)}, {{"DstT", dtype}}));
    if (context_.node().type().ends_with("V2")) return scope.add_one(op + "V2", std::move(inputs));
    return scope.add_one(op + "V3", std::move(inputs), {{"align", context_.attr<std::string>("align")}});
  }

  const GradientContext& context_;
  const size_t k_input_;
};

Output sum_of_all(const Scope& scope, Output x) {
  const Output flat = scope.add_one("Reshape", {x, integer_constants(scope, Dims{-1})});
  return scope.add_one("Sum", {flat, integer_constant(scope, 0)});
}

void matrix_diag_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const SameVersion same(context, 1);
  const Output gradient = context.gradient(), diagonal = same.diag_part(gradient);
  context.set(0, diagonal);
  if (is_first_version(context.node())) return;
  const Output zeros = scope.add_one("ZerosLike", {diagonal});
  context.set(4, sum_of_all(scope, same.set_diag(gradient, zeros)));
}

void matrix_diag_part_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const SameVersion same(context, 1);
  const Output gradient = context.gradient();
  context.set(0, same.set_diag(scope.add_one("ZerosLike", {context.input(0)}), gradient));
  if (is_first_version(context.node())) return;
  context.set(2, sum_of_all(scope, scope.add_one("Mul", {gradient, same.gaps(context.input(0))})));
}

void matrix_set_diag_gradient(GradientContext& context) {
  const SameVersion same(context, 2);
  const Output gradient = context.gradient();
  const Output zeros = context.scope().add_one("ZerosLike", {context.input(1)});
  context.set(0, same.set_diag(gradient, zeros));
  context.set(1, same.diag_part(gradient));
}

// ---- Definitions

constexpr const char* alignments =
    "align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'";

/// `version`: "", "V2" or "V3".
OpDefBuilder versioned(OpDefBuilder op, const std::string& version) {
  op.attr("T: type");
  return version == "V3" ? op.attr(alignments) : op;
}

OpDefBuilder matrix_diag_op(const std::string& version) {
  OpDefBuilder op("MatrixDiag" + version);
  if (version.empty()) op.former_name("BatchMatrixDiag");
  op.input("diagonal: T");
  if (!version.empty())
    op.host_input("k: int32")
        .host_input("num_rows: int32")
        .host_input("num_cols: int32")
        .host_input("padding_value: T");
  op.output("output: T").shape(matrix_diag_shape).gradient(matrix_diag_gradient);
  return versioned(op, version);
}

OpDefBuilder matrix_diag_part_op(const std::string& version) {
  OpDefBuilder op("MatrixDiagPart" + version);
  if (version.empty()) op.former_name("BatchMatrixDiagPart");
  op.input("input: T");
  if (!version.empty()) op.host_input("k: int32").host_input("padding_value: T");
  op.output("diagonal: T").shape(matrix_diag_part_shape).gradient(matrix_diag_part_gradient);
  return versioned(op, version);
}

OpDefBuilder matrix_set_diag_op(const std::string& version) {
  OpDefBuilder op("MatrixSetDiag" + version);
  if (version.empty()) op.former_name("BatchMatrixSetDiag");
  op.input("input: T").input("diagonal: T");
  if (!version.empty()) op.host_input("k: int32");
  op.output("output: T").shape(matrix_set_diag_shape).gradient(matrix_set_diag_gradient);
  return versioned(op, version);
}

}  // namespace

Result<DiagonalArguments> check_matrix_diag(KernelContext& context) {
  const Tensor& packed = context.input(0);
  TROUPE_ASSIGN(const DiagonalRange range, read_range(context, 1));
  WantedSize wanted;
  if (!is_first_version(context.node())) {
    TROUPE_ASSIGN(wanted.rows, integer_scalar(context.input(2), "num_rows"));
    TROUPE_ASSIGN(wanted.columns, integer_scalar(context.input(3), "num_cols"));
  }
  TROUPE_ASSIGN(Diagonals diagonals, diagonals_given(range, packed.shape().dims(), wanted));
  align(context.node(), diagonals);
  TROUPE_ASSIGN(const Tensor* const background, read_background(context, 4));
  const auto batch = batch_of_packed(packed.shape().dims(), range);
  Dims dims(batch);
  dims.append(Dims{diagonals.rows, diagonals.columns});
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, packed.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return DiagonalArguments{.fills = true,
                           .background = background,
                           .from = &packed,
                           .to = output,
                           .diagonals = diagonals,
                           .matrices = static_cast<int64_t>(count_of(batch))};
}

Result<DiagonalArguments> check_matrix_diag_part(KernelContext& context) {
  const Tensor& input = context.input(0);
  TROUPE_ASSIGN(const DiagonalRange range, read_range(context, 1));
  TROUPE_ASSIGN(const auto batch, batch_of_matrices(input.shape().dims()));
  TROUPE_ASSIGN(Diagonals diagonals,
                diagonals_in(range, input.shape()[batch.size()], input.shape()[batch.size() + 1]));
  align(context.node(), diagonals);
  TROUPE_ASSIGN(const Tensor* const background, read_background(context, 2));
  TROUPE_ASSIGN(const Shape shape, Shape::make(packed_dims(batch, diagonals), input.dtype()));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return DiagonalArguments{.fills = diagonals.has_gaps(),
                           .background = background,
                           .from = &input,
                           .to = output,
                           .packs = true,
                           .diagonals = diagonals,
                           .matrices = static_cast<int64_t>(count_of(batch))};
}

Result<DiagonalArguments> check_matrix_set_diag(KernelContext& context) {
  const Tensor& packed = context.input(1);
  const Shape shape = context.input(0).shape();  // a copy: the input may become the output
  TROUPE_ASSIGN(const DiagonalRange range, read_range(context, 2));
  TROUPE_ASSIGN(const auto batch, batch_of_matrices(shape.dims()));
  TROUPE_ASSIGN(Diagonals diagonals, diagonals_in(range, shape[batch.size()], shape[batch.size() + 1]));
  align(context.node(), diagonals);
  const Dims expected = packed_dims(batch, diagonals);
  if (!std::ranges::equal(packed.shape().dims(), expected))
    return invalid_argument("diagonal of shape " + packed.shape().text() + " for input of shape " +
                            shape.text() + " and " + range.text() + ", expected " + text_of(expected));
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, shape));
  const bool in_place = !context.input(0).valid();
  return DiagonalArguments{.base = in_place ? nullptr : &context.input(0),
                           .from = &packed,
                           .to = output,
                           .diagonals = diagonals,
                           .matrices = static_cast<int64_t>(count_of(batch))};
}

void add_matrix_diag_ops(OpLibrary& library) {
  library.op(matrix_diag_op("").constructor("matrix_diag(diagonal)"));
  library.op(matrix_diag_op("V2"));
  library.op(matrix_diag_op("V3").constructor(
      "matrix_diag_v3(diagonal, k = 0, num_rows = -1, num_cols = -1, padding_value = 0, align)"));
  library.op(matrix_diag_part_op("").constructor("matrix_diag_part(input)"));
  library.op(matrix_diag_part_op("V2"));
  library.op(
      matrix_diag_part_op("V3").constructor("matrix_diag_part_v3(input, k = 0, padding_value = 0, align)"));
  library.op(matrix_set_diag_op("").constructor("matrix_set_diag(input, diagonal)"));
  library.op(matrix_set_diag_op("V2"));
  library.op(matrix_set_diag_op("V3").constructor("matrix_set_diag_v3(input, diagonal, k = 0, align)"));
  for (const std::string version : {"", "V2", "V3"}) {
    library.kernel(cpu_kernel("MatrixDiag" + version, check_matrix_diag, compute_diagonals));
    library.kernel(cpu_kernel("MatrixDiagPart" + version, check_matrix_diag_part, compute_diagonals));
    library.kernel(cpu_kernel("MatrixSetDiag" + version, check_matrix_set_diag, compute_diagonals));
  }
}

}  // namespace troupe
