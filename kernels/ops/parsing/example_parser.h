// Parses a batch of serialized Examples: the work that ParseExample and the ops like it share. A measuring pass finds the features
// of all examples and counts the values of those whose number is not fixed; then the outputs are allocated, and a second pass
// writes every value once, where it belongs. Both passes run in parallel over the examples. The arguments refer to the strings,
// keys and defaults of the op, which stay in place while it runs. See kernels/core/checked_kernel.h.
#pragma once

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/each_string.h"
#include "kernels/ops/parsing/example_values.h"

namespace troupe::parsing {

using ElementTypes = TypeList<float, int64_t, std::string>;

/// How the values of a feature are returned.
enum class Form : uint8_t {
  Dense,   ///< each example has the same number of values
  Padded,  ///< one tensor; shorter examples are filled up
  Sparse,
  Ragged,  ///< the values of all examples, and where those of each end
};

struct Feature {
  std::string_view key;
  DType dtype = DType::Invalid;
  Form form = Form::Sparse;
  size_t values = 0;   ///< the output of the values
  size_t indices = 0;  ///< that of the indices of a sparse feature, or of the splits of a ragged one
  size_t shape = 0;    ///< that of the dense shape of a sparse feature
  Dims dims = {};      ///< of a dense feature; of a padded one those after the first
  int64_t elements = 1;
  /// For a dense feature the values of examples that lack it (without elements: none may); for a padded one the padding element.
  const Tensor* fallback = nullptr;
};

/// The strings that are parsed.
struct Examples {
  std::span<const std::string> serialized;
  std::span<const std::string> names;  ///< for errors; may be empty
  bool batched = true;                 ///< false: one example, whose outputs have no dimension for the batch

  size_t size() const { return serialized.size(); }
  /// InvalidArgument "example 3, "name", feature "key": ...".
  Status error(size_t example, std::string_view key, const std::string& what) const;
  /// The cost of parsing an example, in bytes moved (kernels/core/parallel.h).
  size_t cost(size_t features) const;
};

/// Reads input 0, the strings, a scalar or a vector, and the input of their names, one for each or none.
Result<Examples> read_examples(const KernelContext& context, size_t names_input);

/// The values of a feature in an example.
struct Found {
  FeatureValues values = {};
  int64_t count = 0;
  int64_t first = 0;  ///< where they begin in the output
};

struct ExampleArguments {
  Examples examples;
  std::vector<Feature> features;
  KeyTable keys;
  std::vector<Found> found = {};  ///< by example and feature
  std::span<Tensor> outputs = {};

  const Found& at(size_t example, size_t feature) const { return found[example * features.size() + feature]; }
  Found& at(size_t example, size_t feature) { return found[example * features.size() + feature]; }
};

/// Collects the features of an op, in the order of its outputs.
class FeatureList {
 public:
  /// `first` is the number of the first output.
  explicit FeatureList(size_t first = 0) : next_(first) {}

  void add_sparse(std::span<const std::string_view> keys, std::span<const DType> dtypes);
  void add_ragged(std::span<const std::string_view> keys, std::span<const DType> dtypes);
  /// `defaults` are the inputs from that number on. Fails with InvalidArgument unless the shapes are known but for the first
  /// dimension, which only features that may be padded leave open, and the defaults fit them.
  Status add_dense(const KernelContext& context, std::span<const std::string_view> keys,
                   const std::string& shapes_attr, size_t defaults, bool may_be_padded);
  size_t next_output() const { return next_; }
  Result<ExampleArguments> arguments(const Examples& examples) &&;

 private:
  std::vector<Feature> features_;
  size_t next_;
};

Status measure_examples(ExampleArguments& arguments, DeviceContext& device);
Status allocate_examples(ExampleArguments& arguments, KernelContext& context);
Status compute_examples(const ExampleArguments& arguments, DeviceContext& device);

// ---- What the ops on lists of features need, too

/// Returns the dimensions after those of the batch, which are left out when there is no batch.
Result<Shape> batch_shape(const Examples& examples, std::initializer_list<int64_t> more,
                          std::span<const int64_t> dims, DType dtype);
/// Sets the output to a vector of int64.
Status set_longs(KernelContext& context, size_t output, std::span<const int64_t> values);
/// Sets elements [first, first + count) to `value`'s elements, again and again.
void fill_elements(Tensor& tensor, int64_t first, int64_t count, const Tensor& value);
/// Sets the elements to 0 or "".
void clear_elements(Tensor& tensor, int64_t first, int64_t count);
/// Sets element i of the splits, int32 or int64.
void set_split(Tensor& splits, size_t i, int64_t value);
/// Fails with InvalidArgument if the number of values exceeds the type of the splits.
Status check_splits(const Tensor& splits, std::string_view key, int64_t count);
std::string wrong_type(const FeatureValues& values, DType wanted);

using Types = std::vector<DType>;

/// Returns the types of a list attribute.
const Types& types(const Node& node, std::string_view attr);
/// Returns the strings of a list attribute.
std::vector<std::string_view> keys_of_attr(const Node& node, std::string_view name);
/// Returns the strings of `count` scalars from input `first` on.
Result<std::vector<std::string_view>> keys_of_scalars(const KernelContext& context, size_t first,
                                                      size_t count);
/// Returns the elements of a vector of strings. Fails with InvalidArgument unless there are `count`.
Result<std::vector<std::string_view>> keys_of_vector(const KernelContext& context, size_t input,
                                                     size_t count);

/// For shape functions: fails with InvalidArgument unless these attributes, lists or numbers of arguments, have the same length.
Status check_lengths(const Node& node, std::initializer_list<std::string_view> attrs);
/// For shape functions: sets the outputs of features one after the other. `batch` is the shape of the strings, of rank 0 or 1; a
/// value stands at `rank` more indices.
class FeatureShapes {
 public:
  FeatureShapes(ShapeContext& context, PartialShape batch) : context_(context), batch_(std::move(batch)) {}
  void add(PartialShape shape) { context_.set_output(next_++, std::move(shape)); }
  void add_each(size_t count, const PartialShape& shape);
  void add_sparse(size_t count, int64_t rank);
  /// Dense features: the batch and the shape of each, behind `more` unknown dimensions.
  void add_dense(std::string_view shapes_attr, size_t more);
  const PartialShape& batch() const { return batch_; }

 private:
  ShapeContext& context_;
  PartialShape batch_;
  size_t next_ = 0;
};

}  // namespace troupe::parsing
