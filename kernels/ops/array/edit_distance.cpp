// EditDistance(hypothesis_indices, hypothesis_values, hypothesis_shape, truth_indices, truth_values, truth_shape): of two sparse
// tensors whose last dimension holds sequences, for each sequence the least number of insertions, deletions and replacements that
// make the hypothesis the truth; with `normalize` divided by the length of the truth: of an empty one infinity, or 0 when both
// are empty. A sequence consists of the values that are there, in the order in which they are listed. The result has the
// dimensions but the last, each the greater of both shapes. InvalidArgument for positions outside of the shape, or sequences that
// are not listed in order. A NaN equals nothing.
#include <algorithm>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

using ComparableTypes = Joined<PlainTypes, TypeList<std::string>>;

/// A sparse tensor: positions [n, rank] of the n values, and the shape.
struct Sparse {
  const Tensor& positions;  ///< int64
  const Tensor& values;
  Dims shape;
};

struct EditDistanceArguments {
  Sparse hypothesis, truth;
  Tensor& output;
  bool normalizes;
};

Result<Dims> output_dims(std::span<const int64_t> hypothesis, std::span<const int64_t> truth) {
  if (hypothesis.size() != truth.size() || hypothesis.size() < 2)
    return invalid_argument("hypothesis_shape " + text_of(hypothesis) + " and truth_shape " + text_of(truth) +
                            " must be of one rank, 2 or more");
  Dims dims;
  for (size_t i = 0; i < hypothesis.size(); ++i) {
    if (hypothesis[i] < 0 || truth[i] < 0)
      return invalid_argument("hypothesis_shape " + text_of(hypothesis) + " or truth_shape " +
                              text_of(truth) + " has a negative element");
    if (i + 1 < hypothesis.size()) dims.push_back(std::max(hypothesis[i], truth[i]));
  }
  return dims;
}

Status edit_distance_shape(ShapeContext& context) {
  for (const size_t first : {0, 3}) {
    TROUPE_ASSIGN(const auto positions, context.with_rank(first, 2));
    TROUPE_ASSIGN(const auto values, context.with_rank(first + 1, 1));
    TROUPE_ASSIGN(const auto shape, context.with_rank(first + 2, 1));
    TROUPE_RETURN_IF_FAILED(merge(positions, PartialShape{values[0], shape[0]}).status());
  }
  const auto hypothesis = context.constant_integers(2), truth = context.constant_integers(5);
  if (!hypothesis || !truth) return {};
  TROUPE_ASSIGN(const Dims dims, output_dims(*hypothesis, *truth));
  context.set_output(0, partial(dims));
  return {};
}

Result<Sparse> read_sparse(const KernelContext& context, size_t first, const std::string& name) {
  const Tensor &positions = context.input(first), &values = context.input(first + 1);
  TROUPE_ASSIGN(Dims shape, integer_vector(context.input(first + 2), name + "_shape"));
  const Shape &of_positions = positions.shape(), &of_values = values.shape();
  const bool fits = of_positions.rank() == 2 && of_values.rank() == 1 && of_positions[0] == of_values[0] &&
                    of_positions[1] == static_cast<int64_t>(shape.size());
  if (fits) return Sparse{positions, values, std::move(shape)};
  return invalid_argument(name + "_indices of shape " + of_positions.text() + ", " + name +
                          "_values of shape " + of_values.text() + " and " + name + "_shape " +
                          text_of(shape) + " make no sparse tensor");
}

Result<EditDistanceArguments> check_edit_distance(KernelContext& context) {
  TROUPE_ASSIGN(Sparse hypothesis, read_sparse(context, 0, "hypothesis"));
  TROUPE_ASSIGN(Sparse truth, read_sparse(context, 3, "truth"));
  TROUPE_ASSIGN(const Dims dims, output_dims(hypothesis.shape, truth.shape));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, DType::Float));
  TROUPE_ASSIGN(Tensor* const output, context.output(0, shape));
  return EditDistanceArguments{std::move(hypothesis), std::move(truth), *output,
                               context.node().attrs.get<bool>("normalize")};
}

/// The sequences of a sparse tensor, one after the other.
class Sequences {
 public:
  /// For each value the number of its sequence in the output. InvalidArgument as check_rows_at() says it, or when the numbers fall.
  static Result<Sequences> make(const Sparse& sparse, const Shape& output, const std::string& name) {
    TROUPE_RETURN_IF_FAILED(check_rows_at(sparse.positions, sparse.shape));
    Sequences result;
    const Dims positions = integers(sparse.positions), strides = strides_of(output.dims());
    const size_t rank = sparse.shape.size();
    for (size_t i = 0; i < positions.size(); i += rank) {
      int64_t number = 0;
      for (size_t d = 0; d + 1 < rank; ++d) number += positions[i + d] * strides[d];
      if (!result.numbers_.empty() && number < result.numbers_.back())
        return invalid_argument(name + "_indices[" + std::to_string(i / rank) +
                                "] is of a sequence before that of the position before it");
      result.numbers_.push_back(number);
    }
    return result;
  }
  /// The values of the next sequence: the caller asks for all numbers in turn.
  template <class T>
  std::span<const T> next(int64_t number, std::span<const T> values) {
    const size_t begin = at_;
    while (at_ < numbers_.size() && numbers_[at_] == number) ++at_;
    return values.subspan(begin, at_ - begin);
  }

 private:
  Dims numbers_;
  size_t at_ = 0;
};

/// Levenshtein's distance, row by row.
template <class T>
int64_t distance(std::span<const T> a, std::span<const T> b, Dims& row) {
  row = Dims(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int64_t>(j);
  for (size_t i = 0; i < a.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const int64_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

float normalized(int64_t distance, size_t length) {
  if (length != 0) return static_cast<float>(distance) / static_cast<float>(length);
  return distance == 0 ? 0 : std::numeric_limits<float>::infinity();
}

Status compute_edit_distance(const EditDistanceArguments& arguments, DeviceContext&) {
  const Shape& shape = arguments.output.shape();
  TROUPE_ASSIGN(Sequences hypotheses, Sequences::make(arguments.hypothesis, shape, "hypothesis"));
  TROUPE_ASSIGN(Sequences truths, Sequences::make(arguments.truth, shape, "truth"));
  const auto output = arguments.output.write<float>();
  with_type(ComparableTypes{}, arguments.truth.values.dtype(), [&]<class T>(std::type_identity<T>) {
    Dims row;
    for (size_t i = 0; i < output.size(); ++i) {
      const auto hypothesis = hypotheses.next(static_cast<int64_t>(i), arguments.hypothesis.values.as<T>());
      const auto truth = truths.next(static_cast<int64_t>(i), arguments.truth.values.as<T>());
      const int64_t edits = distance(hypothesis, truth, row);
      output[i] = arguments.normalizes ? normalized(edits, truth.size()) : static_cast<float>(edits);
    }
  });
  return {};
}

}  // namespace

void add_edit_distance(OpLibrary& library) {
  library.op(OpDefBuilder("EditDistance")
                 .input("hypothesis_indices: int64")
                 .input("hypothesis_values: T")
                 .host_input("hypothesis_shape: int64")
                 .input("truth_indices: int64")
                 .input("truth_values: T")
                 .host_input("truth_shape: int64")
                 .output("output: float")
                 .attr("normalize: bool = true")
                 .attr("T: type")
                 .constructor("edit_distance(hypothesis_indices, hypothesis_values, hypothesis_shape, "
                              "truth_indices, truth_values, truth_shape, normalize)")
                 .shape(edit_distance_shape)
                 .not_differentiable());
  library.kernel(cpu_kernel("EditDistance", check_edit_distance, compute_edit_distance)
                     .on("T", dtypes(ComparableTypes{})));
}

}  // namespace troupe
