#include "kernels/ops/parsing/example_parser.h"

#include <algorithm>

namespace troupe::parsing {
namespace {

/// What one feature costs beside its bytes, in bytes moved.
constexpr size_t feature_cost = 256;
/// One byte of a list costs about as much as moving so many.
constexpr size_t byte_cost = 2;

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

Status check_fallback(const Feature& feature) {
  const Tensor& fallback = *feature.fallback;
  const std::string what =
      "the default of " + in_quotes(feature.key) + " has shape " + fallback.shape().text();
  if (feature.form == Form::Padded && fallback.elements() != 1)
    return invalid_argument(what + "; it must have one element, with which shorter examples are filled up");
  if (feature.form == Form::Dense && fallback.elements() != 0 &&
      !std::ranges::equal(fallback.shape().dims(), feature.dims))
    return invalid_argument(what + "; it must have the feature's shape " + text_of(feature.dims) +
                            " or no elements");
  return {};
}

/// Sets dimensions, elements and form.
Status set_dims(const PartialShape& shape, bool may_be_padded, Feature& feature) {
  const bool padded = may_be_padded && shape.known_rank() && shape.rank() > 0 && shape[0] == unknown_dim;
  const auto dims = shape.dims().subspan(padded ? 1 : 0);
  if (!shape.known_rank() || std::ranges::count(dims, unknown_dim) != 0)
    return invalid_argument(
        "the shape " + shape.text() + " of feature " + in_quotes(feature.key) +
        (may_be_padded ? " must be known but for its first dimension" : " must be known"));
  TROUPE_ASSIGN(const Shape known, Shape::make(dims, feature.dtype));
  feature.form = padded ? Form::Padded : Form::Dense;
  feature.dims = Dims(dims);
  feature.elements = known.elements();
  if (padded && feature.elements == 0)
    return invalid_argument("the shape " + shape.text() + " of feature " + in_quotes(feature.key) +
                            " has no elements whatever its first dimension is");
  return {};
}

Status measure_feature(const ExampleArguments& arguments, size_t example, size_t number, Found& found) {
  const Feature& feature = arguments.features[number];
  const auto error = [&](const std::string& what) {
    return arguments.examples.error(example, feature.key, what);
  };
  const auto values = read_feature(found.values.list);
  if (!values) return error("it is neither a list of bytes, floats nor int64, or damaged");
  found.values = *values;
  if (values->dtype == DType::Invalid) {
    if (feature.form == Form::Dense && feature.fallback->elements() == 0 && feature.elements != 0)
      return error("it is missing and has no default");
    return {};
  }
  if (values->dtype != feature.dtype) return error(wrong_type(*values, feature.dtype));
  if (feature.form == Form::Dense) return {};
  const auto count = count_values(*values);
  if (!count) return error("its list is damaged");
  if (feature.form == Form::Padded && *count % feature.elements != 0)
    return error("it has " + std::to_string(*count) + " values, no multiple of " +
                 std::to_string(feature.elements) + " as its shape needs");
  found.count = *count;
  return {};
}

Status measure_example(ExampleArguments& arguments, size_t example) {
  const size_t features = arguments.features.size();
  Found* const found = arguments.found.data() + example * features;
  const bool whole = each_entry(arguments.examples.serialized[example], OnlyField,
                                [&](std::string_view key, std::string_view value) {
                                  const size_t number = arguments.keys.find(key);
                                  if (number < features) found[number].values.list = value;
                                });
  if (!whole) return arguments.examples.error(example, "", "the bytes are no Example");
  for (size_t i = 0; i < features; ++i)
    TROUPE_RETURN_IF_FAILED(measure_feature(arguments, example, i, found[i]));
  return {};
}

/// The numbers of values of one feature.
struct Counts {
  int64_t total = 0, most = 0;
};

/// Places the values of all examples one after the other, or each example's at its place in a padded tensor.
Counts place(ExampleArguments& arguments, size_t number) {
  Counts counts;
  for (size_t example = 0; example < arguments.examples.size(); ++example) {
    Found& found = arguments.at(example, number);
    found.first = counts.total;
    counts.total += found.count;
    counts.most = std::max(counts.most, found.count);
  }
  return counts;
}

Status allocate_sparse(const Examples& examples, const Feature& feature, const Counts& counts,
                       KernelContext& context) {
  const std::array<int64_t, 2> shape{static_cast<int64_t>(examples.size()), counts.most};
  const auto dims = std::span(shape).subspan(examples.batched ? 0 : 1);
  TROUPE_RETURN_IF_FAILED(
      context.output(feature.indices, Shape{counts.total, static_cast<int64_t>(dims.size())}).status());
  TROUPE_RETURN_IF_FAILED(context.output(feature.values, Shape::vector(counts.total)).status());
  return set_longs(context, feature.shape, dims);
}

Status allocate_ragged(const Examples& examples, const Feature& feature, const Counts& counts,
                       KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(context.output(feature.values, Shape::vector(counts.total)).status());
  const int64_t splits = examples.batched ? static_cast<int64_t>(examples.size()) + 1 : 0;
  TROUPE_ASSIGN(Tensor* const output, context.output(feature.indices, Shape::vector(splits)));
  if (splits != 0) set_split(*output, 0, 0);
  return check_splits(*output, feature.key, counts.total);
}

Status allocate_feature(ExampleArguments& arguments, size_t number, KernelContext& context) {
  const Feature& feature = arguments.features[number];
  const Examples& examples = arguments.examples;
  if (feature.form == Form::Dense) {
    TROUPE_ASSIGN(const Shape shape, batch_shape(examples, {}, feature.dims, feature.dtype));
    return context.output(feature.values, shape).status();
  }
  const Counts counts = place(arguments, number);
  if (feature.form == Form::Sparse) return allocate_sparse(examples, feature, counts, context);
  if (feature.form == Form::Ragged) return allocate_ragged(examples, feature, counts, context);
  TROUPE_ASSIGN(const Shape shape,
                batch_shape(examples, {counts.most / feature.elements}, feature.dims, feature.dtype));
  for (size_t example = 0; example < examples.size(); ++example)
    arguments.at(example, number).first = static_cast<int64_t>(example) * counts.most;
  return context.output(feature.values, shape).status();
}

Status write_dense(const ExampleArguments& arguments, size_t example, const Feature& feature,
                   const Found& found, Tensor& output) {
  const int64_t first = static_cast<int64_t>(example) * feature.elements;
  if (found.values.dtype == DType::Invalid) {
    if (feature.elements != 0) fill_elements(output, first, feature.elements, *feature.fallback);
    return {};
  }
  if (write_values(found.values, output, first, feature.elements)) return {};
  const auto count = count_values(found.values);
  if (!count || *count == feature.elements)
    return arguments.examples.error(example, feature.key, "its list is damaged");
  return arguments.examples.error(
      example, feature.key,
      "it has " + std::to_string(*count) + " values, but its shape is " + text_of(feature.dims));
}

void write_indices(const Found& found, size_t example, bool batched, Tensor& indices) {
  int64_t* to = indices.write<int64_t>().data() + found.first * (batched ? 2 : 1);
  for (int64_t i = 0; i < found.count; ++i) {
    if (batched) *to++ = static_cast<int64_t>(example);
    *to++ = i;
  }
}

Status write_feature(const ExampleArguments& arguments, size_t example, size_t number) {
  const Feature& feature = arguments.features[number];
  const Examples& examples = arguments.examples;
  const Found& found = arguments.at(example, number);
  Tensor& output = arguments.outputs[feature.values];
  if (feature.form == Form::Dense) return write_dense(arguments, example, feature, found, output);
  if (found.count != 0 && !write_values(found.values, output, found.first, found.count))
    return examples.error(example, feature.key, "its list is damaged");
  if (feature.form == Form::Sparse)
    write_indices(found, example, examples.batched, arguments.outputs[feature.indices]);
  if (feature.form == Form::Ragged && examples.batched)
    set_split(arguments.outputs[feature.indices], example + 1, found.first + found.count);
  if (feature.form == Form::Padded) {
    const int64_t end =
        (static_cast<int64_t>(example) + 1) * (output.elements() / static_cast<int64_t>(examples.size()));
    fill_elements(output, found.first + found.count, end - found.first - found.count, *feature.fallback);
  }
  return {};
}

}  // namespace

Status Examples::error(size_t example, std::string_view key, const std::string& what) const {
  std::string where = batched ? "example " + std::to_string(example) : std::string("the example");
  if (!names.empty()) where += ", " + in_quotes(names[example]);
  if (!key.empty()) where += ", feature " + in_quotes(key);
  return invalid_argument(where + ": " + what);
}

size_t Examples::cost(size_t features) const {
  size_t bytes = 0;
  for (const std::string& one : serialized) bytes += one.size();
  return byte_cost * bytes / std::max<size_t>(size(), 1) + feature_cost * features;
}

Result<Examples> read_examples(const KernelContext& context, size_t names_input) {
  const Tensor &serialized = context.input(0), &names = context.input(names_input);
  if (serialized.shape().rank() > 1)
    return invalid_argument("serialized has shape " + serialized.shape().text() +
                            "; it must be a scalar or a vector");
  const bool fits =
      names.shape() == serialized.shape() || (names.shape().rank() == 1 && names.elements() == 0);
  if (!fits)
    return invalid_argument("the names have shape " + names.shape().text() + ", the examples " +
                            serialized.shape().text() + "; there must be one for each, or an empty vector");
  return Examples{serialized.as<std::string>(), names.as<std::string>(), serialized.shape().rank() == 1};
}

void FeatureList::add_sparse(std::span<const std::string_view> keys, std::span<const DType> dtypes) {
  for (size_t i = 0; i < keys.size(); ++i)
    features_.push_back({.key = keys[i],
                         .dtype = dtypes[i],
                         .form = Form::Sparse,
                         .values = next_ + keys.size() + i,
                         .indices = next_ + i,
                         .shape = next_ + 2 * keys.size() + i});
  next_ += 3 * keys.size();
}

void FeatureList::add_ragged(std::span<const std::string_view> keys, std::span<const DType> dtypes) {
  for (size_t i = 0; i < keys.size(); ++i)
    features_.push_back({.key = keys[i],
                         .dtype = dtypes[i],
                         .form = Form::Ragged,
                         .values = next_ + i,
                         .indices = next_ + keys.size() + i});
  next_ += 2 * keys.size();
}

Status FeatureList::add_dense(const KernelContext& context, std::span<const std::string_view> keys,
                              const std::string& shapes_attr, size_t defaults, bool may_be_padded) {
  const auto& shapes = context.node().attrs.get<std::vector<PartialShape>>(shapes_attr);
  for (size_t i = 0; i < keys.size(); ++i) {
    const Tensor& fallback = context.input(defaults + i);
    Feature feature{.key = keys[i], .dtype = fallback.dtype(), .values = next_ + i, .fallback = &fallback};
    TROUPE_RETURN_IF_FAILED(set_dims(shapes[i], may_be_padded, feature));
    TROUPE_RETURN_IF_FAILED(check_fallback(feature));
    features_.push_back(std::move(feature));
  }
  next_ += keys.size();
  return {};
}

Result<ExampleArguments> FeatureList::arguments(const Examples& examples) && {
  std::vector<std::string_view> keys;
  for (const Feature& feature : features_) keys.push_back(feature.key);
  TROUPE_ASSIGN(KeyTable table, KeyTable::make(std::move(keys)));
  return ExampleArguments{examples, std::move(features_), std::move(table)};
}

Status measure_examples(ExampleArguments& arguments, DeviceContext& device) {
  const size_t examples = arguments.examples.size(), features = arguments.features.size();
  arguments.found.resize(examples * features);
  return for_each_string(device.pool(), examples, arguments.examples.cost(features),
                         [&](size_t example) { return measure_example(arguments, example); });
}

Status allocate_examples(ExampleArguments& arguments, KernelContext& context) {
  for (size_t i = 0; i < arguments.features.size(); ++i)
    TROUPE_RETURN_IF_FAILED(allocate_feature(arguments, i, context));
  arguments.outputs = context.outputs();
  return {};
}

Status compute_examples(const ExampleArguments& arguments, DeviceContext& device) {
  const size_t examples = arguments.examples.size(), features = arguments.features.size();
  return for_each_string(device.pool(), examples, arguments.examples.cost(features), [&](size_t example) {
    for (size_t i = 0; i < features; ++i) TROUPE_RETURN_IF_FAILED(write_feature(arguments, example, i));
    return Status{};
  });
}

Result<Shape> batch_shape(const Examples& examples, std::initializer_list<int64_t> more,
                          std::span<const int64_t> dims, DType dtype) {
  Dims all;
  if (examples.batched) all.push_back(static_cast<int64_t>(examples.size()));
  all.append(more);
  all.append(dims);
  return Shape::make(all, dtype);
}

Status set_longs(KernelContext& context, size_t output, std::span<const int64_t> values) {
  TROUPE_ASSIGN(Tensor* const tensor,
                context.output(output, Shape::vector(static_cast<int64_t>(values.size()))));
  std::ranges::copy(values, tensor->write<int64_t>().begin());
  return {};
}

void fill_elements(Tensor& tensor, int64_t first, int64_t count, const Tensor& value) {
  with_type(ElementTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto from = value.as<T>();
    T* const to = tensor.write<T>().data() + first;
    if (from.size() == 1)
      std::fill_n(to, count, from[0]);
    else
      std::copy_n(from.data(), count, to);
  });
}

void clear_elements(Tensor& tensor, int64_t first, int64_t count) {
  with_type(ElementTypes{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    std::fill_n(tensor.write<T>().data() + first, count, T{});
  });
}

void set_split(Tensor& splits, size_t i, int64_t value) {
  if (splits.dtype() == DType::Int32)
    splits.write<int32_t>()[i] = static_cast<int32_t>(value);
  else
    splits.write<int64_t>()[i] = value;
}

Status check_splits(const Tensor& splits, std::string_view key, int64_t count) {
  if (splits.dtype() == DType::Int64 || count <= INT32_MAX) return {};
  return invalid_argument("feature " + in_quotes(key) + " has " + std::to_string(count) +
                          " values or rows, too many for splits of int32");
}

std::string wrong_type(const FeatureValues& values, DType wanted) {
  return "its values are of type " + std::string(name(values.dtype)) + ", but the op wants " +
         std::string(name(wanted));
}

const Types& types(const Node& node, std::string_view attr) { return node.attrs.get<Types>(attr); }

std::vector<std::string_view> keys_of_attr(const Node& node, std::string_view name) {
  const auto& keys = node.attrs.get<std::vector<std::string>>(name);
  return {keys.begin(), keys.end()};
}

Result<std::vector<std::string_view>> keys_of_scalars(const KernelContext& context, size_t first,
                                                      size_t count) {
  std::vector<std::string_view> keys;
  for (size_t i = first; i < first + count; ++i) {
    if (context.input(i).elements() != 1)
      return invalid_argument("a key has shape " + context.input(i).shape().text() + "; it must be a scalar");
    keys.emplace_back(context.input(i).as<std::string>()[0]);
  }
  return keys;
}

Result<std::vector<std::string_view>> keys_of_vector(const KernelContext& context, size_t input,
                                                     size_t count) {
  const Tensor& keys = context.input(input);
  if (keys.shape().rank() != 1 || keys.elements() != static_cast<int64_t>(count))
    return invalid_argument("input " + std::to_string(input) + ", keys, has shape " + keys.shape().text() +
                            "; there must be " + std::to_string(count) + " keys");
  const auto elements = keys.as<std::string>();
  return std::vector<std::string_view>(elements.begin(), elements.end());
}

Status check_lengths(const Node& node, std::initializer_list<std::string_view> attrs) {
  std::string_view first;
  int64_t wanted = 0;
  for (const std::string_view name : attrs) {
    const int64_t length = std::visit(
        []<class T>(const T& value) -> int64_t {
          if constexpr (std::is_same_v<T, int64_t>) return value;
          if constexpr (requires { value.size(); }) return static_cast<int64_t>(value.size());
          return 0;
        },
        *node.attrs.find(name));
    if (first.empty()) {
      first = name;
      wanted = length;
    } else if (length != wanted) {
      return invalid_argument(std::string(name) + " has length " + std::to_string(length) + ", but " +
                              std::string(first) + " has " + std::to_string(wanted));
    }
  }
  return {};
}

void FeatureShapes::add_each(size_t count, const PartialShape& shape) {
  for (size_t i = 0; i < count; ++i) add(shape);
}

void FeatureShapes::add_sparse(size_t count, int64_t rank) {
  const int64_t all = batch_.known_rank() ? static_cast<int64_t>(batch_.rank()) + rank : unknown_dim;
  add_each(count, PartialShape{unknown_dim, all});
  add_each(count, PartialShape{unknown_dim});
  add_each(count, PartialShape{all});
}

void FeatureShapes::add_dense(std::string_view shapes_attr, size_t more) {
  const PartialShape front = concatenate(batch_, PartialShape::of_rank(more));
  for (const PartialShape& shape : context_.attr<std::vector<PartialShape>>(shapes_attr))
    add(concatenate(front, shape));
}

}  // namespace troupe::parsing
