// Rules for convolutions, pooling and normalization. TensorFlow's images have their channels last unless data_format says
// otherwise, those of ONNX first: the transposes around each op cancel out between two of them, which runtimes see.
#include <algorithm>

#include "apps/onnx/conversion.h"

namespace troupe::onnx {
namespace {

bool has_channels_last(const Node& node) { return node.attrs.get<std::string>("data_format") == "NHWC"; }

/// Returns the numbers for height and width.
std::vector<int64_t> of_plane(const Node& node, const char* attr) {
  const auto& all = node.attrs.get<std::vector<int64_t>>(attr);
  const size_t first = has_channels_last(node) ? 1 : 2;
  return {all[first], all[first + 1]};
}

/// Returns the padding EXPLICIT: at the top, on the left, at the bottom, on the right.
std::vector<int64_t> explicit_pads(const Node& node) {
  const auto& pairs = node.attrs.get<std::vector<int64_t>>("explicit_paddings");
  const size_t first = has_channels_last(node) ? 2 : 4;
  return {pairs[first], pairs[first + 2], pairs[first + 1], pairs[first + 3]};
}

bool is_dilated(const Node& node) {
  return node.attrs.find("dilations") && of_plane(node, "dilations") != std::vector<int64_t>{1, 1};
}

/// Adds the padding of windows with the height and width `kernel`. Runtimes do not pad dilated windows by themselves.
Status add_padding(const Node& node, const std::vector<int64_t>& kernel, NodeAttributes& attributes) {
  const auto& padding = node.attrs.get<std::string>("padding");
  if (padding == "SAME" && is_dilated(node)) {
    if (of_plane(node, "strides") != std::vector<int64_t>{1, 1})
      return unimplemented("windows with dilations and strides and padding SAME cannot be exported");
    std::vector<int64_t> before, after;
    for (size_t i = 0; i < 2; ++i) {
      const int64_t all = (kernel[i] - 1) * of_plane(node, "dilations")[i];
      before.push_back(all / 2);
      after.push_back(all - all / 2);
    }
    attributes.emplace_back("pads", std::vector{before[0], before[1], after[0], after[1]});
    return {};
  }
  if (padding == "SAME") attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
  if (padding == "EXPLICIT") attributes.emplace_back("pads", explicit_pads(node));
  return {};
}

std::string with_channels_first(Conversion& to, const std::string& images) {
  return to.add("Transpose", {images}, {{"perm", std::vector<int64_t>{0, 3, 1, 2}}});
}

std::string with_channels_last(Conversion& to, const std::string& images) {
  return to.add("Transpose", {images}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}}});
}

std::string images(Conversion& to, const Node& node, size_t input) {
  const std::string& given = to.input(node, input);
  return has_channels_last(node) ? with_channels_first(to, given) : given;
}

/// Returns the number of groups of a convolution of such images with a filter [height, width, channels / groups, out].
Result<int64_t> groups(const Node& node, const PartialShape& image, const PartialShape& filter) {
  if (!image.known_rank() || !filter.known_rank())
    return unimplemented("the numbers of channels are not known");
  const int64_t channels = image[has_channels_last(node) ? 3 : 1], in_group = filter[2];
  if (channels <= 0 || in_group <= 0) return unimplemented("the numbers of channels are not known");
  return channels / in_group;
}

/// Returns input 1, a filter [height, width, in, out], as [out, in, height, width].
std::string turned_filter(Conversion& to, const Node& node) {
  return to.add("Transpose", {to.input(node, 1)}, {{"perm", std::vector<int64_t>{3, 2, 0, 1}}});
}

void set_images(Conversion& to, const Node& node, const std::string& value) {
  to.set(node, 0, has_channels_last(node) ? with_channels_last(to, value) : value);
}

Status convolution(Conversion& to, const Node& node) {
  const PartialShape& filter = to.shape(node, 1);
  TROUPE_ASSIGN(const int64_t group, groups(node, to.shape(node, 0), filter));
  NodeAttributes attributes = {
      {"strides", of_plane(node, "strides")}, {"dilations", of_plane(node, "dilations")}, {"group", group}};
  TROUPE_RETURN_IF_FAILED(add_padding(node, {filter[0], filter[1]}, attributes));
  set_images(to, node, to.add("Conv", {images(to, node, 0), turned_filter(to, node)}, attributes));
  return {};
}

/// The gradient of a convolution by its images, which is ONNX's transposed convolution. TensorFlow knows the size of the result,
/// ONNX how much of it is cut off.
Status transposed_convolution(Conversion& to, const Node& node) {
  const PartialShape &given = to.shape(node, 2), &filter = to.shape(node, 1), &made = node.output_shapes[0];
  if (!given.known_rank() || !filter.fully_known())
    return unimplemented("the sizes of the images are not known");
  TROUPE_ASSIGN(const int64_t group, groups(node, made, filter));
  const size_t first = has_channels_last(node) ? 1 : 2;
  const auto strides = of_plane(node, "strides"), dilations = of_plane(node, "dilations");
  const auto& padding = node.attrs.get<std::string>("padding");
  std::vector<int64_t> before, after, added;
  for (size_t i = 0; i < 2; ++i) {
    if (given[first + i] == unknown_dim || made[first + i] == unknown_dim)
      return unimplemented("the height or the width of the images is not known");
    const int64_t whole = (given[first + i] - 1) * strides[i] + (filter[i] - 1) * dilations[i] + 1;
    const int64_t cut = std::max<int64_t>(whole - made[first + i], 0);
    before.push_back(padding == "SAME" ? cut / 2 : padding == "VALID" ? 0 : explicit_pads(node)[i]);
    after.push_back(cut - before[i]);
    added.push_back(std::max<int64_t>(made[first + i] - whole, 0));
  }
  set_images(to, node,
             to.add("ConvTranspose", {images(to, node, 2), turned_filter(to, node)},
                    {{"strides", strides},
                     {"dilations", dilations},
                     {"group", group},
                     {"pads", std::vector{before[0], before[1], after[0], after[1]}},
                     {"output_padding", added}}));
  return {};
}

/// ONNX's op is that of images with their channels first, and divides alpha by the number of channels that it sums.
Status local_response_normalization(Conversion& to, const Node& node) {
  const int64_t size = 2 * node.attrs.get<int64_t>("depth_radius") + 1;
  const std::string normalized = to.add("LRN", {with_channels_first(to, to.input(node, 0))},
                                        {{"size", size},
                                         {"alpha", node.attrs.get<float>("alpha") * static_cast<float>(size)},
                                         {"beta", node.attrs.get<float>("beta")},
                                         {"bias", node.attrs.get<float>("bias")}});
  to.set(node, 0, with_channels_last(to, normalized));
  return {};
}

Status blocks(Conversion& to, const Node& node) {
  const auto& format = node.attrs.get<std::string>("data_format");
  if (format == "NCHW_VECT_C") return unimplemented("data_format NCHW_VECT_C cannot be exported");
  NodeAttributes attributes = {{"blocksize", node.attrs.get<int64_t>("block_size")}};
  if (node.type() == "DepthToSpace") attributes.emplace_back("mode", std::string("DCR"));
  set_images(to, node, to.add(node.type(), {images(to, node, 0)}, attributes));
  return {};
}

/// The filter [height, width, in, multiplier] becomes [in * multiplier, 1, height, width], in groups of one channel.
Status depthwise_convolution(Conversion& to, const Node& node) {
  const PartialShape& shape = to.shape(node, 1);
  if (!shape.fully_known()) return unimplemented("the shape of the filter is not known");
  NodeAttributes attributes = {{"strides", of_plane(node, "strides")},
                               {"dilations", of_plane(node, "dilations")},
                               {"group", shape[2]}};
  TROUPE_RETURN_IF_FAILED(add_padding(node, {shape[0], shape[1]}, attributes));
  const std::string turned =
      to.add("Transpose", {to.input(node, 1)}, {{"perm", std::vector<int64_t>{2, 3, 0, 1}}});
  const std::string filter =
      to.add("Reshape", {turned, to.integers({shape[2] * shape[3], 1, shape[0], shape[1]})});
  set_images(to, node, to.add("Conv", {images(to, node, 0), filter}, attributes));
  return {};
}

Status pool(Conversion& to, const Node& node) {
  NodeAttributes attributes = {{"kernel_shape", of_plane(node, "ksize")},
                               {"strides", of_plane(node, "strides")}};
  TROUPE_RETURN_IF_FAILED(add_padding(node, of_plane(node, "ksize"), attributes));
  set_images(to, node,
             to.add(node.type() == "MaxPool" ? "MaxPool" : "AveragePool", {images(to, node, 0)}, attributes));
  return {};
}

/// Returns a vector with an element per channel as something to combine with images.
std::string per_channel(Conversion& to, const Node& node, const std::string& vector) {
  if (has_channels_last(node)) return vector;
  return to.add("Unsqueeze", {vector, to.integers({1, 2})});
}

Status bias(Conversion& to, const Node& node) {
  to.set(node, 0, to.add("Add", {to.input(node, 0), per_channel(to, node, to.input(node, 1))}));
  return {};
}

Status batch_norm(Conversion& to, const Node& node) {
  if (node.attrs.get<bool>("is_training"))
    return unimplemented("it normalizes with the statistics of the batch, as in training");
  if (to.dtype(node, 0) != DType::Float) return unimplemented("it can be exported for float only");
  const std::string epsilon = to.constant(Tensor::scalar(node.attrs.get<float>("epsilon")));
  const std::string deviation = to.add("Sqrt", {to.add("Add", {to.input(node, 4), epsilon})});
  const std::string factor = to.add("Div", {to.input(node, 1), deviation});
  const std::string centred = to.add("Sub", {to.input(node, 0), per_channel(to, node, to.input(node, 3))});
  const std::string scaled = to.add("Mul", {centred, per_channel(to, node, factor)});
  to.set(node, 0, to.add("Add", {scaled, per_channel(to, node, to.input(node, 2))}));
  return {};
}

Status resize(Conversion& to, const Node& node) {
  const bool is_linear = node.type() == "ResizeBilinear";
  if (is_linear && to.dtype(node, 0) != DType::Float)
    return unimplemented("it can be exported for float only");
  std::string at = "asymmetric", nearest = "floor";
  if (node.attrs.get<bool>("align_corners")) at = "align_corners";
  if (node.attrs.get<bool>("half_pixel_centers")) at = "half_pixel";
  if (at != "asymmetric") nearest = "round_prefer_ceil";
  NodeAttributes attributes = {{"mode", std::string(is_linear ? "linear" : "nearest")},
                               {"coordinate_transformation_mode", at}};
  if (!is_linear) attributes.emplace_back("nearest_mode", nearest);
  const std::string images = with_channels_first(to, to.input(node, 0));
  const std::string kept = to.add("Slice", {to.add("Shape", {images}), to.integers({0}), to.integers({2})});
  const std::string sizes = to.add("Concat", {kept, to.as_int64(node, 1)}, {{"axis", int64_t{0}}});
  to.set(node, 0, with_channels_last(to, to.add("Resize", {images, "", "", sizes}, attributes)));
  return {};
}

}  // namespace

void add_image_rules(Rules& rules) {
  rules["Conv2D"] = convolution;
  rules["Conv2DBackpropInput"] = transposed_convolution;
  rules["LRN"] = local_response_normalization;
  for (const char* const op : {"DepthToSpace", "SpaceToDepth"}) rules[op] = blocks;
  rules["DepthwiseConv2dNative"] = depthwise_convolution;
  for (const char* const op : {"MaxPool", "AvgPool"}) rules[op] = pool;
  for (const char* const op : {"ResizeNearestNeighbor", "ResizeBilinear"}) rules[op] = resize;
  rules["BiasAdd"] = bias;
  for (const char* const op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
    rules[op] = batch_norm;
}

}  // namespace troupe::onnx
