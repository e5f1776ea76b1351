// Crosses of features: row i of the result, a sparse matrix, has one value for
// each choice of one feature of row i from every column (the last column
// changes fastest). The columns are first N sparse matrices, then dense
// matrices, of int64 or of strings.
//   SparseCross(indices..., values..., shapes..., dense_inputs...)
//       with out_type string   the features, joined by "_X_"
//       with out_type int64    the hash of hash_key and the features, modulo
//       num_buckets, or modulo 2**63 - 1 if that is 0
//   SparseCrossV2(indices..., values..., shapes..., dense_inputs..., sep)   the
//   features, joined by `sep`
// The rows of sparse matrices must ascend. InvalidArgument if they do not, or
// matrices have different numbers of rows.
#include <charconv>
#include <limits>

#include "graph/build/shape_context.h"
#include "graph/build/signature.h"
#include "kernels/ops/sparse/sparse_tensor.h"
#include "kernels/ops/strings/elements.h"
#include "kernels/ops/strings/fingerprints.h"

namespace troupe {
namespace {

size_t types_of(const Node& node, std::string_view attr) {
  return node.attrs.get<std::vector<DType>>(attr).size();
}

Status cross_shape(ShapeContext& context) {
  const auto sparse = static_cast<size_t>(context.attr<int64_t>("N"));
  const size_t types = types_of(context.node(), "sparse_types");
  if (types != sparse)
    return invalid_argument("sparse_types has " + std::to_string(types) + " types, but N is " +
                            std::to_string(sparse));
  for (size_t i = 0; i < sparse; ++i) {
    TROUPE_RETURN_IF_FAILED(sparse_shape(context, {i, sparse + i, 2 * sparse + i}).status());
    TROUPE_ASSIGN(const PartialShape shape, context.with_rank(2 * sparse + i, 1));
    if (shape[0] != unknown_dim && shape[0] != 2)
      return invalid_argument("shapes[" + std::to_string(i) + "] has " + std::to_string(shape[0]) +
                              " elements; it must have 2");
  }
  const size_t dense = types_of(context.node(), "dense_types");
  for (size_t i = 0; i < dense; ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(3 * sparse + i, 2).status());
  if (context.inputs() > 3 * sparse + dense)
    TROUPE_RETURN_IF_FAILED(context.with_rank(3 * sparse + dense, 0).status());
  context.set_output(0, PartialShape{unknown_dim, 2});
  context.set_output(1, PartialShape::vector(unknown_dim));
  context.set_output(2, PartialShape::vector(2));
  return {};
}

/// The features of one column: the values of a sparse matrix, with the row of
/// each, or all of a dense one.
struct Column {
  const Tensor& values;
  size_t input;                       ///< the number of the input with the values or, of a sparse
                                      ///< matrix, the indices
  const Tensor* indices = nullptr;    ///< null: dense
  std::vector<uint64_t> hashes = {};  ///< of strings, if hashes are asked for

  size_t count() const { return static_cast<size_t>(values.elements()); }
  int64_t row(size_t i) const { return indices->as<int64_t>()[2 * i]; }
  uint64_t hash(size_t i) const {
    return hashes.empty() ? static_cast<uint64_t>(values.as<int64_t>()[i]) : hashes[i];
  }
  void append_text(size_t i, std::string& to) const {
    if (values.dtype() == DType::String) {
      to += values.as<std::string>()[i];
      return;
    }
    std::array<char, 24> digits;
    to.append(digits.data(),
              std::to_chars(digits.data(), digits.data() + digits.size(), values.as<int64_t>()[i]).ptr);
  }
};

/// The features of a column in one row.
struct Features {
  size_t first, count;
};

/// A row in which every column has a feature.
struct CrossedRow {
  int64_t row;
  size_t end;  ///< the number of crosses in this row and those before it
};

/// Measuring finds the rows; computing makes the crosses.
struct CrossArguments {
  const Node& node;
  std::vector<Column> columns = {};
  int64_t batch = 0;
  std::string_view separator = {};
  bool is_hashed = false;
  std::vector<CrossedRow> rows = {};
  std::vector<Features> features = {};  ///< of each column for each of the rows
  size_t most = 0;                      ///< the number of crosses in the row that has most
  Tensor *indices = nullptr, *values = nullptr;

  size_t crosses() const { return rows.empty() ? 0 : rows.back().end; }
};

// ---- Check

Status different_batch(const Node& node, size_t input, int64_t rows, int64_t batch) {
  return invalid_argument(argument_name(node, input) + " says that there are " + std::to_string(rows) +
                          " rows; the matrices before have " + std::to_string(batch));
}

Result<CrossArguments> check_cross(KernelContext& context) {
  const Node& node = context.node();
  const bool has_separator_input = node.type() == "SparseCrossV2";
  const size_t sparse = types_of(node, "sparse_types"), dense = types_of(node, "dense_types");
  CrossArguments arguments{node};
  arguments.columns.reserve(sparse + dense);
  const auto add_rows = [&](size_t input, int64_t rows) {
    if (arguments.columns.empty()) arguments.batch = rows;
    return rows == arguments.batch ? ok_status() : different_batch(node, input, rows, arguments.batch);
  };
  for (size_t i = 0; i < sparse; ++i) {
    TROUPE_ASSIGN(const SparseTensor matrix, read_sparse(context, {i, sparse + i, 2 * sparse + i}));
    if (matrix.rank() != 2)
      return invalid_argument(argument_name(node, 2 * sparse + i) + " has " + std::to_string(matrix.rank()) +
                              " elements; it must have 2");
    TROUPE_RETURN_IF_FAILED(add_rows(2 * sparse + i, matrix.dims[0]));
    arguments.columns.push_back({matrix.values, i, &matrix.indices});
  }
  for (size_t i = 3 * sparse; i < 3 * sparse + dense; ++i) {
    TROUPE_RETURN_IF_FAILED(check_rank(context, i, 2));
    TROUPE_RETURN_IF_FAILED(add_rows(i, context.input(i).shape()[0]));
    arguments.columns.push_back({context.input(i), i});
  }
  if (has_separator_input) TROUPE_RETURN_IF_FAILED(check_rank(context, context.inputs() - 1, 0));
  arguments.separator = "_X_";
  if (has_separator_input) arguments.separator = context.input(context.inputs() - 1).as<std::string>()[0];
  arguments.is_hashed = node.output_types[1].dtype == DType::Int64;
  return arguments;
}

// ---- Measure

Status check_rows(const CrossArguments& arguments, const Column& column) {
  int64_t before = 0;
  for (size_t i = 0; i < column.count(); ++i) {
    const int64_t row = column.row(i);
    if (row < before || row >= arguments.batch)
      return invalid_argument(argument_name(arguments.node, column.input) + "[" + std::to_string(i) +
                              ",0] = " + std::to_string(row) + " is not in [" + std::to_string(before) +
                              ", " + std::to_string(arguments.batch) + "): rows must ascend");
    before = row;
  }
  return {};
}

void hash_strings(Pool& pool, Column& column) {
  const auto texts = column.values.as<std::string>();
  column.hashes.resize(texts.size());
  for_each_element(pool, texts.size(), string_cost,
                   [&](size_t i) { column.hashes[i] = fingerprint(texts[i]); });
}

/// Finds the rows, which are asked for in ascending order.
class RowFinder {
 public:
  explicit RowFinder(CrossArguments& arguments)
      : arguments_(arguments), starts_(arguments.columns.size()), found_(arguments.columns.size()) {}

  /// Adds a row if every column has features in it.
  Status add(int64_t row) {
    size_t crosses = 1;
    for (size_t c = 0; c < found_.size(); ++c) {
      found_[c] = features(c, row);
      if (found_[c].count == 0) return {};
      if (__builtin_mul_overflow(crosses, found_[c].count, &crosses)) return too_many(row);
    }
    size_t end = arguments_.crosses();
    if (__builtin_add_overflow(end, crosses, &end) || end > most_crosses) return too_many(row);
    arguments_.rows.push_back({row, end});
    arguments_.features.insert(arguments_.features.end(), found_.begin(), found_.end());
    arguments_.most = std::max(arguments_.most, crosses);
    return {};
  }

 private:
  static constexpr size_t most_crosses = std::numeric_limits<int64_t>::max() / 64;

  Status too_many(int64_t row) const {
    return resource_exhausted("the number of crosses of the rows up to " + std::to_string(row) +
                              " does not fit the memory of any machine");
  }
  Features features(size_t c, int64_t row) {
    const Column& column = arguments_.columns[c];
    if (!column.indices) {
      const auto width = static_cast<size_t>(column.values.shape()[1]);
      return {static_cast<size_t>(row) * width, width};
    }
    size_t& start = starts_[c];
    while (start < column.count() && column.row(start) < row) ++start;
    size_t end = start;
    while (end < column.count() && column.row(end) == row) ++end;
    return {start, end - start};
  }

  CrossArguments& arguments_;
  std::vector<size_t> starts_;  ///< for each sparse column the first feature
                                ///< that is not before the row
  std::vector<Features> found_;
};

Status measure_cross(CrossArguments& arguments, DeviceContext& device) {
  auto& columns = arguments.columns;
  for (const Column& column : columns)
    if (column.indices) TROUPE_RETURN_IF_FAILED(check_rows(arguments, column));
  const auto is_empty = [](const Column& column) { return column.count() == 0; };
  if (columns.empty() || std::ranges::any_of(columns, is_empty)) return {};
  if (arguments.is_hashed)
    for (Column& column : columns)
      if (column.values.dtype() == DType::String) hash_strings(device.pool(), column);
  RowFinder finder(arguments);
  const Column& first = columns[0];
  if (!first.indices) {
    for (int64_t row = 0; row < arguments.batch; ++row) TROUPE_RETURN_IF_FAILED(finder.add(row));
    return {};
  }
  for (size_t i = 0; i < first.count(); ++i)
    if (i == 0 || first.row(i) != first.row(i - 1)) TROUPE_RETURN_IF_FAILED(finder.add(first.row(i)));
  return {};
}

Status allocate_cross(CrossArguments& arguments, KernelContext& context) {
  const auto crosses = static_cast<int64_t>(arguments.crosses());
  TROUPE_ASSIGN(arguments.indices, indices_output(context, 0, crosses, 2));
  TROUPE_ASSIGN(arguments.values, vector_output(context, 1, crosses));
  return set_shape_output(context, 2, std::array{arguments.batch, static_cast<int64_t>(arguments.most)});
}

// ---- Compute

/// Goes through the crosses from number `begin` on.
class Crosses {
 public:
  Crosses(const CrossArguments& arguments, size_t begin) : arguments_(arguments), chosen_(width()) {
    const auto after = std::ranges::upper_bound(arguments.rows, begin, {}, &CrossedRow::end);
    row_ = static_cast<size_t>(after - arguments.rows.begin());
    in_row_ = begin - (row_ == 0 ? 0 : arguments.rows[row_ - 1].end);
    size_t rest = in_row_;
    for (size_t c = width(); c-- > 0; rest /= features(c).count) chosen_[c] = rest % features(c).count;
  }

  int64_t row() const { return arguments_.rows[row_].row; }
  int64_t number_in_row() const { return static_cast<int64_t>(in_row_); }
  uint64_t hash(uint64_t key) const {
    for (size_t c = 0; c < width(); ++c)
      key = combined_fingerprint(key, arguments_.columns[c].hash(feature(c)));
    return key;
  }
  void append_text(std::string& to) const {
    for (size_t c = 0; c < width(); ++c) {
      if (c != 0) to += arguments_.separator;
      arguments_.columns[c].append_text(feature(c), to);
    }
  }
  void advance() {
    ++in_row_;
    for (size_t c = width(); c-- > 0;) {
      if (++chosen_[c] < features(c).count) return;
      chosen_[c] = 0;
    }
    ++row_;
    in_row_ = 0;
  }

 private:
  size_t width() const { return arguments_.columns.size(); }
  const Features& features(size_t c) const { return arguments_.features[row_ * width() + c]; }
  size_t feature(size_t c) const { return features(c).first + chosen_[c]; }

  const CrossArguments& arguments_;
  ShortList<size_t> chosen_;  ///< of each column
  size_t row_ = 0, in_row_ = 0;
};

void compute_cross(const CrossArguments& arguments, DeviceContext& device) {
  const auto indices = arguments.indices->write<int64_t>();
  Tensor& values = *arguments.values;
  uint64_t key = 0, buckets = 0;
  if (arguments.is_hashed) {
    key = static_cast<uint64_t>(arguments.node.attrs.get<int64_t>("hash_key"));
    buckets = static_cast<uint64_t>(arguments.node.attrs.get<int64_t>("num_buckets"));
    if (buckets == 0) buckets = std::numeric_limits<int64_t>::max();
  }
  const size_t cost = (arguments.is_hashed ? 32 : string_cost) * (arguments.columns.size() + 1);
  parallel_items(device.pool(), arguments.crosses(), cost, [&](size_t begin, size_t end) {
    Crosses crosses(arguments, begin);
    for (size_t i = begin; i < end; ++i, crosses.advance()) {
      indices[2 * i] = crosses.row();
      indices[2 * i + 1] = crosses.number_in_row();
      if (arguments.is_hashed)
        values.write<int64_t>()[i] = static_cast<int64_t>(crosses.hash(key) % buckets);
      else
        crosses.append_text(values.write<std::string>()[i]);
    }
  });
}

}  // namespace

void add_sparse_crosses(OpLibrary& library) {
  library.op(OpDefBuilder("SparseCross")
                 .input("indices: N * int64")
                 .input("values: sparse_types")
                 .host_input("shapes: N * int64")
                 .input("dense_inputs: dense_types")
                 .output("output_indices: int64")
                 .output("output_values: out_type")
                 .host_output("output_shape: int64")
                 .attr("N: int >= 0")
                 .attr("hashed_output: bool")
                 .attr("num_buckets: int >= 0")
                 .attr("hash_key: int")
                 .attr("sparse_types: list({int64, string}) >= 0")
                 .attr("dense_types: list({int64, string}) >= 0")
                 .attr("out_type: {int64, string}")
                 .attr("internal_type: {int64, string}")
                 .shape(cross_shape)
                 .not_differentiable());
  library.op(OpDefBuilder("SparseCrossV2")
                 .input("indices: N * int64")
                 .input("values: sparse_types")
                 .host_input("shapes: N * int64")
                 .input("dense_inputs: dense_types")
                 .host_input("sep: string")
                 .output("output_indices: int64")
                 .output("output_values: string")
                 .host_output("output_shape: int64")
                 .attr("N: int >= 0")
                 .attr("sparse_types: list({int64, string}) >= 0")
                 .attr("dense_types: list({int64, string}) >= 0")
                 .shape(cross_shape)
                 .not_differentiable());
  for (const char* const name : {"SparseCross", "SparseCrossV2"})
    library.kernel(measured_cpu_kernel(name, check_cross, measure_cross, allocate_cross, compute_cross));
}

}  // namespace troupe
