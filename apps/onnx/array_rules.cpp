// Rules for ops that move elements: shapes, slices, joins, selections.
#include <algorithm>

#include "apps/onnx/conversion.h"

namespace troupe::onnx {
namespace {

constexpr int64_t to_the_end = INT64_MAX;

/// Returns a value of ONNX, int64, in the dtype of the node's output.
std::string as_output(Conversion& to, const Node& node, const std::string& value, size_t output = 0) {
  const DType wanted = node.output_types[output].dtype;
  return wanted == DType::Int64 ? value : to.cast(value, wanted);
}

Status reshape(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Reshape", {to.input(node, 0), to.as_int64(node, 1)}));
  return {};
}

Status shape_of(Conversion& to, const Node& node) {
  to.set(node, 0, as_output(to, node, to.add("Shape", {to.input(node, 0)})));
  return {};
}

Status squeeze(Conversion& to, const Node& node) {
  const auto& axes = node.attrs.get<std::vector<int64_t>>("squeeze_dims");
  std::vector<std::string> inputs = {to.input(node, 0)};
  if (!axes.empty()) inputs.push_back(to.integers(axes));
  to.set(node, 0, to.add("Squeeze", inputs));
  return {};
}

Status expand_dims(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto axes, to.known_integers(node, 1));
  to.set(node, 0, to.add("Unsqueeze", {to.input(node, 0), to.integers(axes)}));
  return {};
}

/// Keeps what lies at most so many diagonals below and above the main one; -1 stands for all.
Status band_part(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const int64_t below, to.known_integer(node, 1));
  TROUPE_ASSIGN(const int64_t above, to.known_integer(node, 2));
  std::string kept = to.input(node, 0);
  const auto cut = [&](int64_t diagonal, bool upper) {
    const std::string k = to.constant(Tensor::scalar(diagonal));
    kept = to.add("Trilu", {kept, k}, {{"upper", int64_t{upper}}});
  };
  if (above >= 0) cut(above, false);
  if (below >= 0) cut(-below, true);
  to.set(node, 0, kept);
  return {};
}

Status transpose(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto order, to.known_integers(node, 1));
  to.set(node, 0, to.add("Transpose", {to.input(node, 0)}, {{"perm", order}}));
  return {};
}

Status concat(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const int64_t axis, to.known_integer(node, node.inputs.size() - 1));
  std::vector<std::string> parts = to.inputs(node);
  parts.pop_back();
  to.set(node, 0, to.add("Concat", parts, {{"axis", axis}}));
  return {};
}

Status pack(Conversion& to, const Node& node) {
  const int64_t axis = node.attrs.get<int64_t>("axis");
  std::vector<std::string> parts;
  for (const std::string& input : to.inputs(node))
    parts.push_back(to.add("Unsqueeze", {input, to.integers({axis})}));
  to.set(node, 0, to.add("Concat", parts, {{"axis", axis}}));
  return {};
}

Status unpack(Conversion& to, const Node& node) {
  const int64_t axis = node.attrs.get<int64_t>("axis");
  const auto count = static_cast<uint32_t>(node.output_types.size());
  for (uint32_t i = 0; i < count; ++i) {
    const Tensor at = Tensor::scalar(static_cast<int64_t>(i));
    to.set(node, i, to.add("Gather", {to.input(node, 0), to.constant(at)}, {{"axis", axis}}));
  }
  return {};
}

Status split(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const int64_t axis, to.known_integer(node, 0));
  const auto count = static_cast<int64_t>(node.output_types.size());
  const auto parts = to.add("Split", {to.input(node, 1)}, node.output_types.size(),
                            {{"axis", axis}, {"num_outputs", count}});
  for (uint32_t i = 0; i < parts.size(); ++i) to.set(node, i, parts[i]);
  return {};
}

Status split_v(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto sizes, to.known_integers(node, 1));
  TROUPE_ASSIGN(const int64_t axis, to.known_integer(node, 2));
  if (std::ranges::count(sizes, -1) != 0) return unimplemented("a size of -1 cannot be exported");
  const auto parts = to.add("Split", {to.input(node, 0), to.integers(sizes)}, sizes.size(), {{"axis", axis}});
  for (uint32_t i = 0; i < parts.size(); ++i) to.set(node, i, parts[i]);
  return {};
}

Status slice(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto begin, to.known_integers(node, 1));
  TROUPE_ASSIGN(const auto size, to.known_integers(node, 2));
  std::vector<int64_t> end;
  for (size_t i = 0; i < begin.size(); ++i) end.push_back(size[i] == -1 ? to_the_end : begin[i] + size[i]);
  to.set(node, 0, to.add("Slice", {to.input(node, 0), to.integers(begin), to.integers(end)}));
  return {};
}

Status strided_slice(Conversion& to, const Node& node) {
  const auto mask = [&](const char* name) { return static_cast<uint64_t>(node.attrs.get<int64_t>(name)); };
  if (mask("ellipsis_mask") != 0 || mask("new_axis_mask") != 0)
    return unimplemented("an ellipsis or a new axis in a slice cannot be exported");
  TROUPE_ASSIGN(auto begin, to.known_integers(node, 1));
  TROUPE_ASSIGN(auto end, to.known_integers(node, 2));
  TROUPE_ASSIGN(const auto strides, to.known_integers(node, 3));
  std::vector<int64_t> axes, removed;
  for (size_t i = 0; i < begin.size(); ++i) {
    const uint64_t bit = uint64_t{1} << i;
    axes.push_back(static_cast<int64_t>(i));
    if (mask("shrink_axis_mask") & bit) {
      removed.push_back(static_cast<int64_t>(i));
      end[i] = begin[i] == -1 ? to_the_end : begin[i] + 1;
      continue;
    }
    if (mask("begin_mask") & bit) begin[i] = strides[i] > 0 ? 0 : to_the_end;
    if (mask("end_mask") & bit) end[i] = strides[i] > 0 ? to_the_end : INT64_MIN;
  }
  std::string value = to.add("Slice", {to.input(node, 0), to.integers(begin), to.integers(end),
                                       to.integers(axes), to.integers(strides)});
  if (!removed.empty()) value = to.add("Squeeze", {value, to.integers(removed)});
  to.set(node, 0, value);
  return {};
}

Status gather(Conversion& to, const Node& node) {
  const bool has_axis = node.type() == "GatherV2";
  if (has_axis && node.attrs.get<int64_t>("batch_dims") != 0)
    return unimplemented("batch_dims cannot be exported");
  int64_t axis = 0;
  if (has_axis) {
    TROUPE_ASSIGN(axis, to.known_integer(node, 2));
  }
  to.set(node, 0, to.add("Gather", {to.input(node, 0), to.input(node, 1)}, {{"axis", axis}}));
  return {};
}

Status gather_nd(Conversion& to, const Node& node) {
  const std::string& indices = to.input(node, 1);
  const bool is_wide = to.dtype(node, 1) == DType::Int64;
  to.set(node, 0,
         to.add("GatherND", {to.input(node, 0), is_wide ? indices : to.cast(indices, DType::Int64)}));
  return {};
}

Status top_k(Conversion& to, const Node& node) {
  const std::string count = to.add("Reshape", {to.as_int64(node, 1), to.integers({1})});
  const auto results =
      to.add("TopK", {to.input(node, 0), count}, 2, {{"sorted", int64_t{node.attrs.get<bool>("sorted")}}});
  to.set(node, 0, results[0]);
  to.set(node, 1, as_output(to, node, results[1], 1));
  return {};
}

/// Unique yields the distinct values in the order in which they come first, and the position of each value among them. Runtimes
/// have it for 64-bit integers, but not for those of 32 bits.
Status unique(Conversion& to, const Node& node) {
  const bool is_narrow = to.dtype(node, 0) == DType::Int32;
  const std::string values = is_narrow ? to.cast(to.input(node, 0), DType::Int64) : to.input(node, 0);
  const auto results = to.add("Unique", {values}, 3, {{"sorted", int64_t{0}}});
  to.set(node, 0, is_narrow ? to.cast(results[0], DType::Int32) : results[0]);
  to.set(node, 1, as_output(to, node, results[2], 1));
  return {};
}

/// ONNX counts negative indices from the end; here they are hot nowhere, like those that are too large.
Status one_hot(Conversion& to, const Node& node) {
  const std::string one = to.integers({1}), zero = to.integers({0}), indices = to.as_int64(node, 0),
                    depth = to.as_int64(node, 1);
  const auto element = [&](size_t input) { return to.add("Reshape", {to.input(node, input), one}); };
  const std::string values = to.add("Concat", {element(3), element(2)}, {{"axis", int64_t{0}}});
  const std::string valid = to.add("Where", {to.add("Less", {indices, zero}), depth, indices});
  to.set(node, 0, to.add("OneHot", {valid, depth, values}, {{"axis", node.attrs.get<int64_t>("axis")}}));
  return {};
}

Status tile(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Tile", {to.input(node, 0), to.as_int64(node, 1)}));
  return {};
}

Status fill(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Expand", {to.input(node, 1), to.as_int64(node, 0)}));
  return {};
}

Status broadcast_to(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Expand", {to.input(node, 0), to.as_int64(node, 1)}));
  return {};
}

Status range(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Range", to.inputs(node)));
  return {};
}

Status pad(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto pairs, to.known_integers(node, 1));
  std::vector<int64_t> pads;
  for (const size_t side : {size_t{0}, size_t{1}})
    for (size_t i = side; i < pairs.size(); i += 2) pads.push_back(pairs[i]);
  const bool mirrors = node.type() == "MirrorPad";
  if (mirrors && node.attrs.get<std::string>("mode") != "REFLECT")
    return unimplemented("mode SYMMETRIC cannot be exported");
  std::vector<std::string> inputs = {to.input(node, 0), to.integers(pads)};
  if (node.type() == "PadV2") inputs.push_back(to.input(node, 2));
  to.set(node, 0, to.add("Pad", inputs, {{"mode", std::string(mirrors ? "reflect" : "constant")}}));
  return {};
}

Status reverse(Conversion& to, const Node& node) {
  TROUPE_ASSIGN(const auto axes, to.known_integers(node, 1));
  const std::vector<int64_t> last(axes.size(), -1), before_all(axes.size(), INT64_MIN), back(axes.size(), -1);
  to.set(node, 0,
         to.add("Slice", {to.input(node, 0), to.integers(last), to.integers(before_all), to.integers(axes),
                          to.integers(back)}));
  return {};
}

Status reverse_sequence(Conversion& to, const Node& node) {
  const auto time = node.attrs.get<int64_t>("seq_dim"), batch = node.attrs.get<int64_t>("batch_dim");
  if (time + batch != 1)
    return unimplemented("its sequences are not the first two dimensions, which are all that ONNX reverses");
  to.set(node, 0,
         to.add("ReverseSequence", {to.input(node, 0), to.as_int64(node, 1)},
                {{"time_axis", time}, {"batch_axis", batch}}));
  return {};
}

Status cast(Conversion& to, const Node& node) {
  const DType wanted = node.output_types[0].dtype;
  if (type_number(wanted) == 0)
    return unimplemented("ONNX has no tensors of type " + std::string(name(wanted)));
  to.set(node, 0, to.cast(to.input(node, 0), wanted));
  return {};
}

Status passed_on(Conversion& to, const Node& node) {
  for (uint32_t i = 0; i < node.output_types.size(); ++i) to.set(node, i, to.input(node, i));
  return {};
}

}  // namespace

void add_array_rules(Rules& rules) {
  rules["Reshape"] = reshape;
  rules["Shape"] = shape_of;
  rules["Squeeze"] = squeeze;
  rules["ExpandDims"] = expand_dims;
  rules["Transpose"] = transpose;
  rules["MatrixBandPart"] = band_part;
  rules["ConcatV2"] = concat;
  rules["Pack"] = pack;
  rules["Unpack"] = unpack;
  rules["Split"] = split;
  rules["SplitV"] = split_v;
  rules["Slice"] = slice;
  rules["StridedSlice"] = strided_slice;
  rules["ReverseV2"] = reverse;
  rules["ReverseSequence"] = reverse_sequence;
  rules["GatherNd"] = gather_nd;
  rules["TopKV2"] = top_k;
  rules["Unique"] = unique;
  rules["OneHot"] = one_hot;
  rules["Tile"] = tile;
  rules["Fill"] = fill;
  rules["BroadcastTo"] = broadcast_to;
  rules["Range"] = range;
  rules["Cast"] = cast;
  for (const char* const op : {"Gather", "GatherV2"}) rules[op] = gather;
  for (const char* const op : {"Pad", "PadV2", "MirrorPad"}) rules[op] = pad;
  for (const char* const op : {"Identity", "IdentityN", "ReadVariableOp", "StopGradient", "PreventGradient",
                               "CheckNumerics", "EnsureShape", "PlaceholderWithDefault"})
    rules[op] = passed_on;
}

}  // namespace troupe::onnx
