// Samples of the convolutions of kernels/ops/nn.
#include <limits>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

using Integers = std::vector<int64_t>;

Attributes attributes(const Integers& strides, const std::string& padding, Attributes more = {}) {
  more.set("strides", strides);
  more.set("padding", padding);
  return more;
}

/// A family of ops, one for each pass.
struct Passes {
  std::string forward, image, filter;
};
const Passes flat{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
const Passes cube{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};
const Passes depthwise{"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
                       "DepthwiseConv2dNativeBackpropFilter"};

Tensor dims_of(const Tensor& tensor) {
  std::vector<int32_t> dims;
  for (const int64_t dim : tensor.shape().dims()) dims.push_back(static_cast<int32_t>(dim));
  return Tensor::vector<int32_t>(dims);
}

/// Every input of rank 0 where a tensor is expected.
void add_scalar_cases(OpCases& cases, const Passes& passes, const Attributes& attrs, size_t rank) {
  const Tensor scalar = doubles({}, {1}), sizes = Tensor::vector<int32_t>(std::vector<int32_t>(rank, 1));
  cases.bad(passes.forward, {scalar, scalar}, attrs, "rank");
  cases.bad(passes.image, {sizes, scalar, scalar}, attrs, "rank");
  cases.bad(passes.filter, {scalar, sizes, scalar}, attrs, "rank");
}

/// A sample for each pass: images, a filter and outputs that fit.
void add_passes(OpCases& cases, const Passes& passes, const Attributes& attrs, const Shape& images,
                const Shape& filter, const Shape& outputs, DType dtype = DType::Double) {
  const Tensor x = converted(random_doubles(images, -1, 1, 31), dtype),
               w = converted(random_doubles(filter, -1, 1, 32), dtype),
               y = converted(random_doubles(outputs, -1, 1, 33), dtype);
  cases.good(passes.forward, {x, w}, attrs);
  cases.good(passes.image, {dims_of(x), w, y}, attrs);
  cases.good(passes.filter, {x, dims_of(w), y}, attrs);
}

void add_flat_cases(OpCases& cases) {
  const Attributes same = attributes({1, 1, 1, 1}, "SAME");
  add_passes(cases, flat, same, Shape{2, 5, 4, 3}, Shape{3, 2, 3, 2}, Shape{2, 5, 4, 2});
  add_passes(cases, flat, attributes({1, 2, 1, 1}, "VALID"), Shape{1, 6, 5, 2}, Shape{3, 3, 2, 2},
             Shape{1, 2, 3, 2});
  add_passes(cases, flat, attributes({1, 1, 1, 1}, "VALID", {{"dilations", Integers{1, 2, 1, 1}}}),
             Shape{1, 6, 3, 2}, Shape{3, 2, 2, 3}, Shape{1, 2, 2, 3});
  add_passes(cases, flat,
             attributes({1, 2, 2, 1}, "EXPLICIT", {{"explicit_paddings", Integers{0, 0, 1, 2, 0, 1, 0, 0}}}),
             Shape{1, 3, 4, 1}, Shape{2, 3, 1, 2}, Shape{1, 3, 2, 2});
  add_passes(cases, flat, attributes({1, 1, 1, 1}, "SAME", {{"data_format", std::string("NCHW")}}),
             Shape{2, 3, 4, 5}, Shape{3, 3, 3, 2}, Shape{2, 2, 4, 5});
  add_passes(cases, flat, attributes({1, 1, 1, 1}, "SAME", {{"use_cudnn_on_gpu", false}}), Shape{1, 3, 3, 4},
             Shape{2, 2, 2, 6}, Shape{1, 3, 3, 6});  // two groups
  // Positions that have outputs, and others between and behind them.
  add_passes(cases, flat, attributes({1, 2, 3, 1}, "SAME"), Shape{2, 5, 8, 4}, Shape{1, 1, 4, 3},
             Shape{2, 3, 3, 3});
  add_passes(cases, flat, attributes({1, 2, 2, 1}, "VALID"), Shape{2, 6, 6, 8}, Shape{1, 1, 8, 5},
             Shape{2, 3, 3, 5}, DType::Float);
  add_passes(cases, flat, attributes({1, 1, 2, 3}, "SAME", {{"data_format", std::string("NCHW")}}),
             Shape{2, 3, 4, 5}, Shape{1, 1, 3, 2}, Shape{2, 2, 2, 2});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16, DType::Int32})
    add_passes(cases, flat, same, Shape{3, 9, 7, 5}, Shape{5, 3, 5, 6}, Shape{3, 9, 7, 6}, dtype);
  add_passes(cases, flat, same, Shape{9, 12, 11, 32}, Shape{3, 3, 32, 48}, Shape{9, 12, 11, 48},
             DType::Float);  // Winograd
  add_passes(cases, flat, same, Shape{1, 40, 40, 16}, Shape{5, 5, 16, 32}, Shape{1, 40, 40, 32},
             DType::Float);  // cut by rows
  // Gradients of filters that GPUs compute as products of patches: rows that are left over, none, and many.
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16, DType::Double})
    add_passes(cases, flat, attributes({1, 2, 2, 1}, "SAME"), Shape{3, 61, 47, 3}, Shape{5, 7, 3, 4},
               Shape{3, 31, 24, 4}, dtype);
  add_passes(cases, flat, attributes({1, 1, 1, 1}, "VALID", {{"data_format", std::string("NCHW")}}),
             Shape{2, 1, 34, 34}, Shape{3, 3, 1, 3}, Shape{2, 3, 32, 32}, DType::Float);
  add_passes(cases, flat, same, Shape{1, 132, 133, 4}, Shape{11, 11, 4, 2}, Shape{1, 132, 133, 2},
             DType::Float);
  add_passes(cases, flat, same, Shape{0, 3, 3, 2}, Shape{3, 3, 2, 4}, Shape{0, 3, 3, 4}, DType::Float);
  add_passes(cases, flat, same, Shape{2, 3, 3, 0}, Shape{3, 3, 0, 4}, Shape{2, 3, 3, 4}, DType::Float);
  add_passes(cases, flat, same, Shape{2, 3, 3, 2}, Shape{3, 3, 2, 0}, Shape{2, 3, 3, 0}, DType::Float);
}

/// A few images of many channels, which GPUs convolve as products of patches.
void add_cases_of_few_images(OpCases& cases) {
  const Attributes dilated = attributes({1, 1, 1, 1}, "SAME", {{"dilations", Integers{1, 2, 3, 1}}});
  for (const DType dtype : {DType::Float, DType::Double, DType::Half, DType::BFloat16}) {
    add_passes(cases, flat, attributes({1, 1, 1, 1}, "SAME"), Shape{1, 6, 5, 16}, Shape{3, 3, 16, 24},
               Shape{1, 6, 5, 24}, dtype);
    add_passes(cases, flat, attributes({1, 2, 3, 1}, "VALID"), Shape{3, 9, 11, 17}, Shape{3, 2, 17, 16},
               Shape{3, 4, 4, 16}, dtype);
    add_passes(cases, flat, dilated, Shape{2, 5, 7, 18}, Shape{3, 2, 18, 16}, Shape{2, 5, 7, 16}, dtype);
  }
  add_passes(cases, flat, attributes({1, 1, 1, 1}, "SAME"), Shape{1, 130, 128, 64}, Shape{3, 3, 64, 16},
             Shape{1, 130, 128, 16}, DType::Float);  // rows in two parts
  add_passes(cases, cube, attributes({1, 2, 1, 1, 1}, "SAME"), Shape{1, 3, 4, 3, 16}, Shape{2, 3, 1, 16, 16},
             Shape{1, 2, 4, 3, 16}, DType::Float);
}

void add_bad_cases(OpCases& cases, const Passes& passes) {
  const Attributes same = attributes({1, 1, 1, 1}, "SAME");
  const Tensor x = random_doubles(Shape{1, 4, 4, 2}, 0, 1), w = random_doubles(Shape{3, 3, 2, 2}, 0, 1);
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  add_scalar_cases(cases, passes, same, 4);
  cases.bad(passes.forward, {random_doubles(Shape{4, 4, 2}, 0, 1), w}, same, "rank");
  cases.bad(passes.forward, {x, random_doubles(Shape{3, 3, 2}, 0, 1)}, same, "rank");
  cases.bad(passes.forward, {x, random_doubles(Shape{3, 3, 3, 2}, 0, 1)}, same,
            "filter [3,3,3,2] for 2 input channels");
  cases.bad(passes.forward, {x, random_doubles(Shape{7, 7, 2, 2}, 0, 1)}, attributes({1, 1, 1, 1}, "VALID"),
            "does not fit");
  cases.bad(passes.forward, {x, w}, attributes({1, 0, 1, 1}, "SAME"), "stride");
  cases.bad(passes.forward, {x, w}, attributes({1, -1, 1, 1}, "SAME"), "stride");
  cases.bad(passes.forward, {x, w}, attributes({2, 1, 1, 1}, "SAME"), "strides [2,1,1,1]");
  cases.bad(passes.forward, {x, w}, attributes({1, 1, 1, 2}, "SAME"), "strides [1,1,1,2]");
  cases.bad(passes.forward, {x, w}, attributes({1, 1, 1}, "SAME"), "strides [1,1,1]");
  cases.bad(passes.forward, {x, w}, attributes({1, 1, 1, 1}, "FULL"), "padding");
  cases.bad(passes.forward, {x, w}, attributes({1, 1, 1, 1}, "SAME", {{"dilations", Integers{1, 0, 1, 1}}}),
            "dilation");
  cases.bad(passes.forward, {x, w},
            attributes({1, 1, 1, 1}, "VALID", {{"dilations", Integers{1, huge, 1, 1}}}), "int64");
  cases.bad(passes.forward, {x, w}, attributes({1, 1, 1, 1}, "EXPLICIT"), "explicit_paddings");
  cases.bad(passes.forward, {x, w},
            attributes({1, 1, 1, 1}, "EXPLICIT", {{"explicit_paddings", Integers{0, 0, -1, 0, 0, 0, 0, 0}}}),
            "negative");
  cases.bad(
      passes.forward, {x, w},
      attributes({1, 1, 1, 1}, "EXPLICIT", {{"explicit_paddings", Integers{0, 0, huge, huge, 0, 0, 0, 0}}}),
      "int64");
  cases.bad(passes.forward, {random_doubles(Shape{1, 0, 4, 2}, 0, 1), w}, attributes({1, 1, 1, 1}, "VALID"),
            "does not fit");
  cases.bad(passes.forward, {Tensor::vector<std::string>({"x"}), w}, same, "T");

  cases.bad(passes.image, {ints({1, 4, 4}), w, x}, same, "rank");
  cases.bad(passes.image, {ints({1, -4, 4, 2}), w, x}, same, "-4");
  cases.bad(passes.image, {ints({1, 4, 4, 3}), w, x}, same, "3 input channels");
  cases.bad(passes.image, {ints({2, 4, 4, 2}), w, x}, same, "out_backprop");
  cases.bad(passes.image, {ints(Shape{1, 4}, {1, 4, 4, 2}), w, x}, same, "[1,4]");
  cases.bad(passes.filter, {x, ints({3, 3, 2}), x}, same, "rank");
  cases.bad(passes.filter, {x, ints({3, -3, 2, 2}), x}, same, "-3");
  cases.bad(passes.filter, {x, ints({3, 3, 3, 2}), x}, same, "filter [3,3,3,2] for 2 input channels");
  cases.bad(passes.filter, {x, ints({3, 3, 2, 5}), x}, same, "out_backprop");
}

void add_cube_cases(OpCases& cases) {
  const Attributes same = attributes({1, 1, 1, 1, 1}, "SAME");
  add_passes(cases, cube, same, Shape{1, 3, 2, 3, 2}, Shape{2, 2, 3, 2, 2}, Shape{1, 3, 2, 3, 2});
  add_passes(cases, cube, attributes({1, 2, 1, 2, 1}, "VALID"), Shape{1, 4, 3, 5, 1}, Shape{2, 2, 1, 1, 2},
             Shape{1, 2, 2, 3, 2});
  add_passes(cases, cube, attributes({1, 1, 1, 1, 1}, "SAME", {{"data_format", std::string("NCDHW")}}),
             Shape{1, 2, 3, 2, 3}, Shape{2, 2, 3, 2, 2}, Shape{1, 2, 3, 2, 3});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16})
    add_passes(cases, cube, same, Shape{3, 5, 7, 9, 3}, Shape{3, 3, 3, 3, 5}, Shape{3, 5, 7, 9, 5}, dtype);
  const Tensor x = random_doubles(Shape{1, 3, 3, 3, 2}, 0, 1), w = random_doubles(Shape{2, 2, 2, 2, 3}, 0, 1);
  add_passes(cases, cube, same, Shape{0, 3, 3, 3, 2}, Shape{2, 2, 2, 2, 3}, Shape{0, 3, 3, 3, 3},
             DType::Float);
  cases.good("Conv3DBackpropInputV2",
             {Tensor::vector<int64_t>({1, 3, 3, 3, 2}), w, random_doubles(Shape{1, 3, 3, 3, 3}, 0, 1)}, same);
  add_scalar_cases(cases, cube, same, 5);
  cases.bad("Conv3D", {x, random_doubles(Shape{2, 2, 2, 2}, 0, 1)}, same, "rank");
  cases.bad("Conv3D", {x, w}, attributes({1, 1, 1, 0, 1}, "SAME"), "stride");
  cases.bad("Conv3D", {x, w}, attributes({1, 1, 1, 1}, "SAME"), "strides");
  cases.bad("Conv3DBackpropInputV2", {ints({1, 3, 3, 2}), w, x}, same, "rank");
  cases.bad("Conv3DBackpropFilterV2", {x, ints({2, 2, 2, 2, 7}), x}, same, "out_backprop");
}

/// The gradients that take images and filters instead of their sizes.
void add_unsized_cases(OpCases& cases) {
  const char *const image = "Conv3DBackpropInput", *const filter = "Conv3DBackpropFilter";
  const auto add = [&](const Attributes& attrs, const Shape& images, const Shape& filters,
                       const Shape& outputs, DType dtype) {
    const std::vector<Tensor> inputs = {converted(random_doubles(images, -1, 1, 31), dtype),
                                        converted(random_doubles(filters, -1, 1, 32), dtype),
                                        converted(random_doubles(outputs, -1, 1, 33), dtype)};
    for (const char* op : {image, filter}) cases.good(op, inputs, attrs);
  };
  const Attributes same = attributes({1, 1, 1, 1, 1}, "SAME");
  for (const DType dtype : {DType::Double, DType::Float, DType::Half})
    add(same, Shape{1, 3, 2, 3, 2}, Shape{2, 2, 3, 2, 2}, Shape{1, 3, 2, 3, 2}, dtype);
  add(attributes({1, 2, 1, 2, 1}, "VALID"), Shape{1, 4, 3, 5, 1}, Shape{2, 2, 1, 1, 2}, Shape{1, 2, 2, 3, 2},
      DType::Double);
  add(same, Shape{1, 3, 5, 3, 1}, Shape{1, 3, 1, 1, 3}, Shape{1, 3, 5, 3, 3}, DType::Float);
  add(same, Shape{0, 3, 3, 3, 2}, Shape{2, 2, 2, 2, 3}, Shape{0, 3, 3, 3, 3}, DType::Float);
  const Tensor x = random_doubles(Shape{1, 3, 3, 3, 2}, 0, 1), w = random_doubles(Shape{2, 2, 2, 2, 3}, 0, 1);
  for (const char* op : {image, filter}) {
    cases.bad(op, {doubles({}, {1}), w, x}, same, "rank");
    cases.bad(op, {x, random_doubles(Shape{2, 2, 2, 2}, 0, 1), x}, same, "rank");
    cases.bad(op, {x, w, x}, same, "out_backprop has shape [1,3,3,3,2]");
    cases.bad(op, {x, random_doubles(Shape{2, 2, 2, 3, 3}, 0, 1), x}, same, "for 2 input channels");
    cases.bad(op, {x, w, x}, attributes({1, 1, 1, 0, 1}, "SAME"), "stride");
  }
}

void add_depthwise_cases(OpCases& cases) {
  const Attributes same = attributes({1, 1, 1, 1}, "SAME");
  add_passes(cases, depthwise, same, Shape{2, 4, 3, 3}, Shape{3, 2, 3, 2}, Shape{2, 4, 3, 6});
  add_passes(cases, depthwise, attributes({1, 2, 2, 1}, "VALID"), Shape{1, 5, 6, 2}, Shape{3, 3, 2, 1},
             Shape{1, 2, 2, 2});
  add_passes(cases, depthwise, attributes({1, 1, 1, 1}, "SAME", {{"data_format", std::string("NCHW")}}),
             Shape{2, 3, 4, 5}, Shape{3, 3, 3, 2}, Shape{2, 6, 4, 5});
  for (const DType dtype : {DType::Float, DType::Half, DType::BFloat16})
    add_passes(cases, depthwise, same, Shape{3, 9, 7, 33}, Shape{3, 3, 33, 1}, Shape{3, 9, 7, 33}, dtype);
  add_passes(cases, depthwise, same, Shape{0, 3, 3, 2}, Shape{3, 3, 2, 1}, Shape{0, 3, 3, 2}, DType::Float);
}

void add_fused_cases(OpCases& cases) {
  const auto floats_of = [](const Shape& shape) {
    return converted(random_doubles(shape, 0, 1), DType::Float);
  };
  const auto fused = [](Attributes attrs, std::vector<std::string> stages, int64_t arguments) {
    attrs.set("fused_ops", std::move(stages));
    attrs.set("num_args", arguments);
    return attrs;
  };
  const Tensor x = floats_of(Shape{2, 4, 5, 3}), filter = floats_of(Shape{3, 3, 3, 2}),
               vector = floats_of(Shape{2});
  for (const char* const padding : {"SAME", "VALID"})
    cases.good("_FusedConv2D", {x, filter, vector},
               fused(attributes({1, 1, 1, 1}, padding), {"BiasAdd", "Relu"}, 1));
  const Attributes padded = attributes({1, 1, 1, 1}, "EXPLICIT",
                                       {{"explicit_paddings", std::vector<int64_t>{0, 0, 1, 0, 0, 2, 0, 0}}});
  cases.good("_FusedConv2D", {x, filter, vector, vector, vector, vector},
             fused(padded, {"FusedBatchNorm"}, 4));
  const Attributes same = attributes({1, 1, 1, 1}, "SAME");
  cases.bad("_FusedConv2D", {x, filter, floats_of(Shape{3})}, fused(same, {"BiasAdd"}, 1),
            "bias of shape [3]");
  cases.bad("_FusedConv2D", {x, filter, x}, fused(same, {"Add"}, 1), "[2,4,5,2]");
  cases.bad("_FusedConv2D", {x, filter}, fused(same, {"BiasAdd"}, 0), "take 1 arguments");
  cases.bad("_FusedConv2D", {x, filter}, fused(same, {"Tanh"}, 0), "Tanh");
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      cases.good("_FusedMatMul",
                 {floats_of(a ? Shape{4, 3} : Shape{3, 4}), floats_of(b ? Shape{2, 4} : Shape{4, 2}),
                  floats_of(Shape{2}), floats_of(Shape{3, 2})},
                 fused({{"transpose_a", a}, {"transpose_b", b}}, {"BiasAdd", "Add", "Relu"}, 2));
  cases.bad("_FusedMatMul", {floats_of(Shape{3, 4}), floats_of(Shape{5, 2})}, fused({}, {"Relu"}, 0),
            "inner");
  cases.good("_FusedMatMul", {floats_of(Shape{0, 4}), floats_of(Shape{4, 2})}, fused({}, {"Relu"}, 0));
  cases.bad("_FusedMatMul", {floats_of(Shape()), floats_of(Shape{5, 2})}, fused({}, {"Relu"}, 0), "[]");
  cases.good("_FusedConv2D", {floats_of(Shape{0, 4, 5, 3}), filter, vector}, fused(same, {"BiasAdd"}, 1));
  cases.bad("_FusedConv2D", {x, floats_of(Shape())}, fused(same, {}, 0), "[]");
}

void add_padded_cases(OpCases& cases) {
  const char* const op = "FusedPadConv2D";
  const Tensor x = random_doubles(Shape{2, 4, 5, 3}, 0, 1), filter = random_doubles(Shape{3, 2, 3, 7}, 0, 1),
               paddings = Tensor::of<int32_t>(Shape{4, 2}, {0, 0, 1, 2, 3, 0, 0, 0}),
               none = Tensor::of<int32_t>(Shape{4, 2}, {0, 0, 0, 0, 0, 0, 0, 0}),
               wide = Tensor::of<int32_t>(Shape{4, 2}, {0, 0, 5, 0, 0, 0, 0, 0});
  for (const char* const mode : {"REFLECT", "SYMMETRIC"})
    for (const char* const padding : {"SAME", "VALID"}) {
      const Attributes attrs = attributes({1, 2, 1, 1}, padding, {{"mode", std::string(mode)}});
      cases.good_in_every_type(op, {x, paddings, filter}, attrs);
      cases.good(op, {x, none, filter}, attrs);
      cases.good(op, {random_doubles(Shape{0, 4, 5, 3}, 0, 1), paddings, filter}, attrs);
      cases.good(op,
                 {random_doubles(Shape{2, 4, 5, 0}, 0, 1), paddings, random_doubles(Shape{3, 2, 0, 7}, 0, 1)},
                 attrs);
      cases.bad(op, {x, wide, filter}, attrs, "too large to mirror");
      cases.bad(op, {x, ints({1, 2}), filter}, attrs, "[2]");
      cases.bad(op, {x, paddings, random_doubles(Shape{3, 2, 2, 7}, 0, 1)}, attrs, "channels");
      cases.bad(op, {doubles({}, {1}), paddings, filter}, attrs, "");
    }
}

}  // namespace

void add_convolution_cases(OpCases& cases) {
  add_padded_cases(cases);
  add_fused_cases(cases);
  add_flat_cases(cases);
  add_cases_of_few_images(cases);
  add_bad_cases(cases, flat);
  add_cube_cases(cases);
  add_unsized_cases(cases);
  add_depthwise_cases(cases);
  add_bad_cases(cases, depthwise);
}

}  // namespace troupe::test
