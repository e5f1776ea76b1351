// Samples of the pooling ops of kernels/ops/nn.
#include <limits>
#include <numeric>
#include <random>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

using Sizes = std::vector<int64_t>;

/// Attributes of windows whose ksize and strides are lists.
Attributes windows(Sizes ksize, Sizes strides, const char* padding, const char* format = nullptr) {
  Attributes attrs{
      {"ksize", std::move(ksize)}, {"strides", std::move(strides)}, {"padding", std::string(padding)}};
  if (format) attrs.set("data_format", std::string(format));
  return attrs;
}

/// The same where they are inputs.
Attributes without_lists(Attributes attrs) {
  attrs.erase("ksize");
  attrs.erase("strides");
  return attrs;
}

Attributes with(Attributes attrs, const char* name, AttrValue value) {
  attrs.set(name, std::move(value));
  return attrs;
}

/// All different, and far enough from each other for finite differences.
Tensor scattered(const Shape& shape, uint64_t seed = 31) {
  Tensor tensor = random_doubles(shape, 0, 1, seed);
  const auto values = tensor.write<double>();
  std::iota(values.begin(), values.end(), 1.0);
  std::shuffle(values.begin(), values.end(), std::mt19937(static_cast<unsigned>(seed)));
  return tensor;
}

Tensor as_int32(const Sizes& values) {
  return converted(Tensor::vector(std::span<const int64_t>(values)), DType::Int32);
}

struct Windows {
  Shape shape;
  Attributes attrs;
};

Attributes explicit_windows() {
  return with(windows({1, 3, 2, 1}, {1, 2, 1, 1}, "EXPLICIT"), "explicit_paddings",
              Sizes{0, 0, 1, 2, 0, 1, 0, 0});
}

/// Images and windows over them of every kind.
std::vector<Windows> image_windows() {
  return {
      {Shape{2, 5, 7, 3}, windows({1, 3, 3, 1}, {1, 2, 2, 1}, "SAME")},
      {Shape{2, 5, 7, 3}, windows({1, 2, 3, 1}, {1, 2, 1, 1}, "VALID")},
      {Shape{1, 4, 4, 67}, windows({1, 2, 2, 1}, {1, 2, 2, 1}, "VALID")},
      {Shape{2, 3, 5, 37}, windows({1, 1, 3, 3}, {1, 1, 2, 2}, "SAME", "NCHW")},
      {Shape{2, 3, 5, 7}, windows({1, 1, 2, 2}, {1, 1, 1, 1}, "VALID", "NCHW")},
      {Shape{1, 2, 4, 40}, windows({1, 1, 3, 2}, {1, 1, 3, 3}, "SAME", "NCHW")},
      {Shape{1, 2, 4, 3}, windows({1, 1, 4, 3}, {1, 1, 4, 3}, "VALID", "NCHW")},
      {Shape{1, 2, 2, 1}, windows({1, 5, 1000000000000, 1}, {1, 1, 1, 1}, "SAME")},
      {Shape{1, 1, 2, 3}, windows({1, 1, 1, 1000000000000}, {1, 1, 1, 1}, "SAME", "NCHW")},
      {Shape{0, 3, 3, 2}, windows({1, 2, 2, 1}, {1, 1, 1, 1}, "VALID")},
      {Shape{1, 2, 3, 2}, windows({1, 3, 2, 1}, {1, 2, 2, 1}, "VALID")},
      {Shape{1, 3, 3, 0}, windows({1, 2, 2, 1}, {1, 1, 1, 1}, "SAME")},
  };
}

std::vector<Windows> volume_windows() {
  return {
      {Shape{1, 3, 4, 5, 3}, windows({1, 2, 3, 2, 1}, {1, 1, 2, 2, 1}, "SAME")},
      {Shape{2, 2, 3, 4, 5}, windows({1, 1, 2, 2, 2}, {1, 1, 1, 2, 2}, "VALID", "NCDHW")},
      {Shape{1, 3, 3, 3, 3}, windows({1, 2, 2, 2, 1}, {1, 2, 2, 2, 1}, "SAME")},
      {Shape{0, 3, 3, 2, 1}, windows({1, 2, 2, 1, 1}, {1, 1, 1, 1, 1}, "VALID")},
  };
}

std::vector<Windows> max_pool_windows() {
  auto result = image_windows();
  result.push_back({Shape{2, 6, 5, 3}, explicit_windows()});
  result.push_back({Shape{2, 2, 3, 6}, windows({1, 1, 1, 3}, {1, 1, 1, 3}, "SAME")});
  return result;
}

Tensor pooled(const char* op, const Tensor& input, const Attributes& attrs) {
  return value_or_throw(run_op(op, {input}, attrs)).front();
}

bool is_explicit(const Attributes& attrs) { return attrs.find("explicit_paddings") != nullptr; }

void bad_windows(OpCases& cases, const std::string& op, const Tensor& image) {
  const auto refuse = [&](Sizes ksize, Sizes strides, const char* text) {
    cases.bad(op, {image}, windows(std::move(ksize), std::move(strides), "VALID"), text);
  };
  refuse({1, 2, 2, 1}, {1, 0, 1, 1}, "the stride is 0");
  refuse({1, 2, 2, 1}, {1, -1, 1, 1}, "the stride is -1");
  for (const int64_t size : {int64_t{0}, int64_t{-1}, INT64_MIN})
    refuse({1, size, 2, 1}, {1, 1, 1, 1}, "the window must have 1 or more elements");
  refuse({1, INT64_MAX, 2, 1}, {1, 1, 1, 1}, "negative size");
  refuse({1, 2, 6, 1}, {1, 1, 1, 1}, "negative size");
  refuse({2, 2, 2, 1}, {1, 1, 1, 1}, "must be 1 in the batch dimension");
  refuse({1, 2, 2, 1}, {2, 1, 1, 1}, "must be 1 in the batch dimension");
  refuse({1, 2, 2, 1, 1}, {1, 1, 1, 1}, "5 elements, expected 4");
  refuse({1, 2, 2}, {1, 1, 1, 1}, "ksize");
  cases.bad(op, {random_doubles(Shape{3, 4, 2}, 0, 1)}, windows({1, 2, 2, 1}, {1, 1, 1, 1}, "SAME"),
            "rank 3");
  cases.bad(op, {doubles({}, {1})}, windows({1, 2, 2, 1}, {1, 1, 1, 1}, "SAME"), "[]");
  cases.bad(op, {image}, windows({1, 2, 2, 1}, {1, 1, 1, 1}, "FULL"), "padding");
}

void add_max_pool_cases(OpCases& cases) {
  const Attributes plain = windows({1, 3, 3, 1}, {1, 2, 2, 1}, "SAME");
  const Tensor image = scattered(Shape{1, 3, 4, 2});
  for (const auto& [shape, attrs] : max_pool_windows()) cases.good("MaxPool", {scattered(shape)}, attrs);
  cases.good_in_every_type("MaxPool", {random_doubles(Shape{1, 5, 5, 3}, 1, 9)}, plain);
  cases.good_in_every_type("MaxPool", {random_doubles(Shape{1, 2, 5, 39}, 1, 9)},
                           windows({1, 1, 3, 3}, {1, 1, 2, 2}, "SAME", "NCHW"));
  cases.good("MaxPool", {converted(random_doubles(Shape{16, 30, 30, 33}, -9, 9), f32)}, plain);
  cases.good("MaxPool", {converted(random_doubles(Shape{9, 20, 31, 35}, -9, 9), f32)},
             windows({1, 1, 3, 3}, {1, 1, 2, 2}, "SAME", "NCHW"));
  bad_windows(cases, "MaxPool", image);
  const auto refuse = [&](Attributes attrs, const char* text) {
    cases.bad("MaxPool", {image}, std::move(attrs), text);
  };
  refuse(windows({1, 1, 2, 2}, {1, 1, 2, 2}, "SAME"), "pool both channels and other dimensions");
  refuse(windows({1, 1, 1, 3}, {1, 1, 1, 3}, "SAME"), "divide the 2 channels");
  refuse(windows({1, 1, 1, 2}, {1, 1, 1, 1}, "SAME"), "as long as its stride");
  refuse(windows({1, 1, 1, -2}, {1, 1, 1, -2}, "SAME"), "the window must have 1 or more elements");
  refuse(windows({1, 2, 2, 1}, {1, 1, 1, 1}, "SAME", "NCHW_VECT_C"), "NCHW_VECT_C");
  refuse(with(plain, "explicit_paddings", Sizes{0, 0, 1, 1, 1, 1, 0, 0}), "must be empty unless");
  const auto refuse_pads = [&](Sizes pads, const char* text) {
    refuse(with(windows({1, 3, 2, 1}, {1, 2, 1, 1}, "EXPLICIT"), "explicit_paddings", std::move(pads)), text);
  };
  refuse_pads({}, "has 0 elements, expected 8");
  refuse_pads({0, 0, 1, 1, 0, -1, 0, 0}, "negative element");
  refuse_pads({0, 0, 1, 1, 0, 0, 1, 0}, "pads the batch or the channels");
  refuse_pads({0, 0, 3, 0, 0, 0, 0, 0}, "must be less than the window of 3");
  refuse_pads({0, 0, 0, INT64_MAX, 0, 0, 0, 0}, "9223372036854775807");
  for (const auto& [shape, attrs] : max_pool_windows()) {
    const Tensor input = scattered(shape), output = pooled("MaxPool", input, attrs);
    const Tensor gradient = random_doubles(output.shape(), -1, 1, 41),
                 other = random_doubles(shape, -1, 1, 42);
    cases.good("MaxPoolGrad", {converted(input, f32), converted(output, f32), converted(gradient, f32)},
               attrs);
    if (is_explicit(attrs)) continue;
    cases.good("MaxPoolGrad", {input, output, gradient}, attrs);
    cases.good("MaxPoolGradGrad", {input, output, other}, attrs);
  }
}

/// Inputs of MaxPoolGrad or MaxPoolGradGrad and what they must not be.
void add_gradient_cases(OpCases& cases, const std::string& op, bool second) {
  const Attributes attrs = windows({1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
  const Tensor input = random_doubles(Shape{1, 5, 4, 3}, 1, 9), output = pooled("MaxPool", input, attrs);
  const Tensor gradient = second ? random_doubles(Shape{1, 5, 4, 3}, 1, 9, 2) : output;
  cases.good_in_every_type(op, {input, output, gradient}, attrs);
  cases.good_in_every_type(op,
                           {input, pooled("MaxPool", input, windows({1, 3, 3, 1}, {1, 1, 1, 1}, "SAME")),
                            random_doubles(Shape{1, 5, 4, 3}, 1, 9, 2)},
                           windows({1, 3, 3, 1}, {1, 1, 1, 1}, "SAME"));
  cases.bad(op, {input, input, gradient}, attrs, "[1,");
  cases.bad(op, {input, output, random_doubles(Shape{1, 2, 2, 2}, 0, 1)}, attrs, "[1,2,2,2]");
  cases.bad(op, {input, output, doubles({}, {1})}, attrs, "[]");
  cases.bad(op, {input, output, gradient}, windows({1, 2, 2, 1}, {1, 1, 0, 1}, "VALID"), "the stride is 0");
  cases.bad(op, {input, output, gradient}, windows({1, 2, 2, 2}, {1, 2, 2, 2}, "VALID"), "channels");
}

/// ksize and strides as inputs.
void add_v2_cases(OpCases& cases) {
  for (const auto& [shape, attrs] : image_windows()) {
    const Tensor input = scattered(shape), output = pooled("MaxPool", input, attrs);
    const Tensor gradient = random_doubles(output.shape(), -1, 1, 41),
                 other = random_doubles(shape, -1, 1, 42);
    const Sizes sizes = attrs.get<Sizes>("ksize");
    if (*std::ranges::max_element(sizes) > INT32_MAX) continue;
    const Tensor ksize = as_int32(sizes), strides = as_int32(attrs.get<Sizes>("strides"));
    const Attributes rest = without_lists(attrs);
    cases.good("MaxPoolV2", {input, ksize, strides}, rest);
    cases.good("MaxPoolGradV2", {input, output, gradient, ksize, strides}, rest);
    cases.good("MaxPoolGradGradV2", {input, output, other, ksize, strides}, rest);
  }
  const Attributes attrs{{"padding", std::string("VALID")}};
  const Tensor image = random_doubles(Shape{1, 4, 4, 1}, 1, 9),
               small = random_doubles(Shape{1, 3, 3, 1}, 1, 9);
  const Tensor list = ints({1, 2, 2, 1}), ones = ints({1, 1, 1, 1});
  const auto refuse = [&](const Tensor& ksize, const Tensor& strides, const char* text) {
    cases.bad("MaxPoolV2", {image, ksize, strides}, attrs, text);
    cases.bad("MaxPoolGradV2", {image, small, small, ksize, strides}, attrs, text);
    cases.bad("MaxPoolGradGradV2", {image, small, image, ksize, strides}, attrs, text);
  };
  refuse(ints({1, 2, 2}), ones, "3 elements, expected 4");
  refuse(list, int_scalar(1), "strides");
  refuse(list, ints({1, 0, 1, 1}), "the stride is 0");
  refuse(ints({1, 2, INT32_MAX, 1}), ones, "negative size");
  refuse(ints({1, -2, 2, 1}), ones, "the window must have 1 or more");
  for (const DType dtype : {f32, DType::Half, DType::BFloat16, DType::Int32, DType::Int64, DType::UInt8,
                            DType::Int8, DType::Int16, DType::UInt16, DType::UInt32, DType::UInt64}) {
    if (dtype != DType::UInt32 && dtype != DType::UInt64)
      cases.good("MaxPoolV2", {converted(image, dtype), list, ones}, attrs);
    cases.good("MaxPoolGradV2",
               {converted(image, dtype), converted(small, dtype), converted(small, dtype), list, ones},
               attrs);
    cases.good("MaxPoolGradGradV2",
               {converted(image, dtype), converted(small, dtype), converted(image, dtype), list, ones},
               attrs);
  }
  cases.bad("MaxPoolV2", {doubles({}, {1}), list, ones}, attrs, "[]");
  cases.bad("MaxPoolGradV2", {image, small, doubles({}, {1}), list, ones}, attrs, "[]");
  cases.bad("MaxPoolGradGradV2", {image, small, doubles({}, {1}), list, ones}, attrs, "[]");
}

void add_volume_cases(OpCases& cases) {
  for (const auto& [shape, attrs] : volume_windows()) {
    const Tensor input = random_doubles(shape, 1, 9), small = converted(scattered(shape), f32);
    cases.good("AvgPool3D", {input}, attrs);
    cases.good_in_every_type("MaxPool3D", {small}, attrs);
    const Tensor output = pooled("MaxPool3D", small, attrs), average = pooled("AvgPool3D", input, attrs);
    cases.good("AvgPool3DGrad", {as_int32(Sizes(shape.dims().begin(), shape.dims().end())), average}, attrs);
    const Tensor gradient = converted(random_doubles(output.shape(), 1, 9, 4), f32);
    cases.good_in_every_type("MaxPool3DGrad", {small, output, gradient}, attrs);
    cases.good_in_every_type("MaxPool3DGradGrad",
                             {small, output, converted(random_doubles(shape, 1, 9, 5), f32)}, attrs);
  }
  const Attributes attrs = windows({1, 2, 2, 2, 1}, {1, 1, 1, 1, 1}, "VALID");
  const Attributes flat = windows({1, 2, 2, 2, 1}, {1, 1, 0, 1, 1}, "VALID");
  const Tensor volume = random_doubles(Shape{1, 2, 2, 2, 1}, 1, 9), point = doubles({}, {1});
  const Tensor small = converted(volume, f32);
  cases.good_in_every_type("AvgPool3D", {volume}, attrs);
  cases.good_in_every_type("AvgPool3DGrad",
                           {as_int32({1, 2, 2, 2, 1}), random_doubles(Shape{1, 1, 1, 1, 1}, 1, 9)}, attrs);
  for (const char* op : {"MaxPool3D", "AvgPool3D"}) {
    cases.bad(op, {small}, flat, "the stride is 0");
    cases.bad(op, {converted(point, f32)}, attrs, "[]");
    cases.bad(op, {converted(random_doubles(Shape{2, 2, 2, 1}, 1, 9), f32)}, attrs, "rank 4");
    cases.bad(op, {small}, windows({1, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, "VALID"), "channel");
    cases.bad(op, {small}, windows({1, 2, 2, 2}, {1, 1, 1, 1, 1}, "VALID"), "ksize");
  }
  for (const char* op : {"MaxPool3DGrad", "MaxPool3DGradGrad"}) {
    cases.bad(op, {small, small, small}, attrs, "[1,2,2,2,1]");
    const Tensor output = pooled("MaxPool3D", small, attrs);
    cases.bad(op, {small, output, converted(point, f32)}, attrs, "[]");
    cases.bad(op, {small, small, small}, flat, "the stride is 0");
  }
  cases.bad("AvgPool3DGrad", {as_int32({1, 2, 2, 2, 1}), volume}, attrs, "grad of shape [1,2,2,2,1]");
  cases.bad("AvgPool3DGrad", {as_int32({1, 2, 2, 1}), volume}, attrs, "expected 5");
  cases.bad("AvgPool3DGrad", {as_int32({1, 2, 2, 2, 1}), point}, attrs, "[]");
}

void add_avg_pool_cases(OpCases& cases) {
  for (const auto& [shape, attrs] : image_windows()) {
    const Tensor input = random_doubles(shape, -1, 1), output = pooled("AvgPool", input, attrs);
    const Tensor dims = as_int32(Sizes(shape.dims().begin(), shape.dims().end()));
    for (const DType dtype : {f64, f32}) {
      cases.good("AvgPool", {converted(input, dtype)}, attrs);
      cases.good("AvgPoolGrad", {dims, converted(output, dtype)}, attrs);
    }
  }
  const Attributes plain = windows({1, 2, 2, 1}, {1, 2, 2, 1}, "SAME");
  const Tensor image = random_doubles(Shape{1, 3, 3, 5}, 1, 9),
               small = random_doubles(Shape{1, 2, 2, 5}, 1, 9);
  cases.good_in_every_type("AvgPool", {image}, plain);
  cases.good_in_every_type("AvgPoolGrad", {as_int32({1, 3, 3, 5}), small}, plain);
  cases.good("AvgPool", {converted(random_doubles(Shape{16, 30, 30, 33}, -9, 9), f32)}, plain);
  cases.good("AvgPoolGrad",
             {as_int32({16, 30, 30, 33}), converted(random_doubles(Shape{16, 15, 15, 33}, -9, 9), f32)},
             plain);
  bad_windows(cases, "AvgPool", random_doubles(Shape{1, 3, 4, 2}, 1, 9));
  cases.bad("AvgPool", {image}, windows({1, 1, 1, 5}, {1, 1, 1, 5}, "SAME"), "channel");
  const auto refuse = [&](const Tensor& dims, const Tensor& grad, const char* text) {
    cases.bad("AvgPoolGrad", {dims, grad}, plain, text);
  };
  refuse(as_int32({1, 3, 3, 4}), small, "grad of shape [1,2,2,5]");
  refuse(as_int32({1, 3, 3}), small, "expected 4");
  refuse(as_int32({1, -3, 3, 5}), small, "-3");
  refuse(as_int32({1 << 30, 1 << 30, 1 << 30, 5}), small, "1073741824");
  refuse(int_scalar(3), small, "orig_input_shape");
  refuse(as_int32({1, 3, 3, 5}), doubles({}, {1}), "[]");
  cases.bad("AvgPoolGrad", {as_int32({1, 3, 3, 5}), small}, windows({1, 2, 2, 1}, {1, 0, 2, 1}, "SAME"),
            "the stride is 0");
}

/// Few numbers, of which many are equal, NaN or infinite.
Tensor repeated(const Shape& shape) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double values[] = {1, 3, -infinity, 3, 2, std::numeric_limits<double>::quiet_NaN(), -1};
  Tensor tensor = random_doubles(shape, 0, 7, 43);
  for (double& value : tensor.write<double>()) value = values[static_cast<size_t>(value)];
  return tensor;
}

/// Numbers of channels of which GPUs compute several together, with small windows, one of 256 elements and one beyond all images.
void add_pool_cases_of_many_channels(OpCases& cases) {
  for (const DType dtype : {f32, f64, DType::Half, DType::BFloat16})
    for (const auto& [shape, attrs] :
         {Windows{Shape{2, 5, 7, 16}, windows({1, 3, 2, 1}, {1, 2, 1, 1}, "SAME")},
          Windows{Shape{1, 17, 16, 8}, windows({1, 16, 16, 1}, {1, 1, 1, 1}, "VALID")},
          Windows{Shape{1, 3, 4, 8},
                  windows({1, int64_t{1} << 40, int64_t{1} << 40, 1}, {1, 1, 1, 1}, "SAME")}}) {
      const Tensor input = converted(repeated(shape), dtype), output = pooled("MaxPool", input, attrs);
      const Tensor gradient = converted(random_doubles(output.shape(), 1, 9, 44), dtype),
                   other = converted(random_doubles(shape, 1, 9, 45), dtype);
      cases.good("MaxPool", {input}, attrs);
      cases.good("MaxPoolGrad", {input, output, gradient}, attrs);
      cases.good("MaxPoolGradGrad", {input, output, other}, attrs);
      cases.good("AvgPool", {other}, attrs);
      cases.good("AvgPoolGrad", {as_int32(Sizes(shape.dims().begin(), shape.dims().end())), gradient}, attrs);
    }
}

void add_argmax_cases(OpCases& cases) {
  const char *forward = "MaxPoolWithArgmax", *back = "MaxPoolGradWithArgmax",
             *second = "MaxPoolGradGradWithArgmax";
  const Tensor one = doubles({}, {1});
  for (const bool whole : {false, true})
    for (const char* padding : {"SAME", "VALID"})
      for (const Shape& shape : {Shape{2, 5, 7, 3}, Shape{3, 4, 2, 1}, Shape{0, 3, 3, 2}}) {
        const Attributes attrs =
            with(windows({1, 3, 2, 1}, {1, 2, 1, 1}, padding), "include_batch_in_index", whole);
        const Tensor input = scattered(shape);
        const auto outputs = value_or_throw(run_op(forward, {input}, attrs));
        const Tensor gradient = random_doubles(outputs[1].shape(), 1, 9), other = random_doubles(shape, 1, 9);
        cases.good_in_every_type(forward, {input}, attrs);
        cases.good_in_every_type(back, {input, gradient, outputs[1]}, attrs);
        cases.good_in_every_type(second, {input, other, outputs[1]}, attrs);
      }
  const Tensor any = random_doubles(Shape{2, 2, 2, 2}, 1, 9),
               pooled_any = random_doubles(Shape{2, 1, 2, 2}, 1, 9);
  const Tensor outside_windows =
      Tensor::vector<int64_t>({7, 5, 5, 0, 1, 1, 4, 7}).reshaped(Shape{2, 1, 2, 2});
  const Attributes columns = windows({1, 2, 1, 1}, {1, 2, 1, 1}, "SAME");
  cases.good(back, {any, pooled_any, outside_windows}, columns);
  cases.good(second, {any, any, outside_windows}, columns);
  bad_windows(cases, forward, random_doubles(Shape{1, 3, 4, 2}, 1, 9));
  const Attributes attrs = windows({1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
  const Tensor input = random_doubles(Shape{2, 2, 2, 1}, 1, 9),
               small = random_doubles(Shape{2, 1, 1, 1}, 1, 9);
  const Attributes whole = with(attrs, "include_batch_in_index", true);
  for (const int64_t wrong : {int64_t{-1}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    const Tensor argmax = Tensor::vector<int64_t>({0, wrong}).reshaped(Shape{2, 1, 1, 1});
    const std::string text =
        "argmax[1,0,0,0] = " + std::to_string(wrong) + " is not the index of an element of image 1";
    cases.bad(back, {input, small, argmax}, attrs, text);
    cases.bad(second, {input, input, argmax}, attrs, text);
  }
  const Tensor first = Tensor::vector<int64_t>({0, 3}).reshaped(Shape{2, 1, 1, 1});
  cases.bad(back, {input, small, first}, whole,
            "argmax[1,0,0,0] = 3 is not the index of an element of image 1");
  cases.bad(second, {input, input, first}, whole,
            "argmax[1,0,0,0] = 3 is not the index of an element of image 1");
  cases.bad(back, {input, input, first}, attrs, "grad of shape [2,2,2,1]");
  cases.bad(second, {input, small, first}, attrs, "grad of shape [2,1,1,1]");
  for (const char* op : {back, second}) {
    cases.bad(op, {input, small, Tensor::vector<int64_t>({0, 3})}, attrs, "[2]");
    cases.bad(op, {one, small, first}, attrs, "[]");
    cases.bad(op, {input, small, first}, windows({1, 2, 2, 1}, {1, 2, 0, 1}, "VALID"), "the stride is 0");
  }
}

// ---- Windows of fractional sizes

Attributes ratios(std::vector<float> ratio, bool pseudo_random = false, bool overlapping = false) {
  return {{"pooling_ratio", std::move(ratio)},
          {"pseudo_random", pseudo_random},
          {"overlapping", overlapping},
          {"seed", int64_t{4}}};
}

void add_fractional_pools(OpCases& cases, const std::string& op) {
  const Tensor x = scattered(Shape{2, 7, 9, 3});
  for (const bool pseudo_random : {false, true})
    for (const bool overlapping : {false, true})
      cases.good_in_every_type(op, {x}, ratios({1, 1.4F, 1.7F, 1}, pseudo_random, overlapping));
  cases.good(op, {x}, with(ratios({1, 1, 3, 1}), "deterministic", true));
  cases.good(op, {random_doubles(Shape{1, 1, 1, 1}, 0, 1)}, ratios({1, 1, 1, 1}));
  for (const Shape& shape : {Shape{0, 7, 9, 1}, Shape{2, 7, 9, 0}})
    cases.good(op, {random_doubles(shape, 0, 1)}, ratios({1, 1, 1, 1}));
  cases.good(op, {converted(random_doubles(Shape{3, 90, 70, 5}, 0, 1), f32)}, ratios({1, 2.3F, 1.1F, 1}));
  cases.bad(op, {x}, ratios({1, 0.5F, 1, 1}), "pooling_ratio[1] is 0.500000; it must be at least 1");
  cases.bad(op, {x}, ratios({1, NAN, 1, 1}), "pooling_ratio[1] is nan");
  cases.bad(op, {x}, ratios({1, 8, 1, 1}), "pooling_ratio[1] is 8.000000, but value has shape [2,7,9,3]");
  cases.bad(op, {x}, ratios({1, 1, 1, 1, 1}), "pooling_ratio has 5 elements");
  cases.bad(op, {x}, ratios({1, 1, 1, 2}), "batch and channels are not pooled", Code::Unimplemented);
  cases.bad(op, {random_doubles(Shape{2, 7, 9}, 0, 1)}, ratios({1, 1, 1, 1}), "");
  cases.bad(op, {doubles({}, {1})}, ratios({1, 1, 1, 1}), "");
  cases.bad(op, {random_doubles(Shape{2, 0, 9, 1}, 0, 1)}, ratios({1, 1, 1, 1}), "value has shape [2,0,9,1]");
}

void add_fractional_pool_gradients(OpCases& cases) {
  const Tensor x = scattered(Shape{2, 7, 4, 3}), y = scattered(Shape{2, 5, 3, 3}),
               dy = random_doubles(Shape{2, 5, 3, 3}, 1, 9);
  const Tensor rows = longs({0, 2, 3, 4, 5, 7}), columns = longs({0, 1, 3, 4});
  const std::string max = "FractionalMaxPoolGrad", avg = "FractionalAvgPoolGrad";
  const Tensor shape = longs({2, 7, 4, 3});
  for (const bool overlapping : {false, true}) {
    const Attributes attrs{{"overlapping", overlapping}};
    cases.good_in_every_type(max, {x, y, dy, rows, columns}, attrs);
    cases.good_in_every_type(avg, {shape, dy, rows, columns}, attrs);
  }
  const Tensor none = random_doubles(Shape{0, 5, 3, 3}, 0, 1);
  cases.good(max, {random_doubles(Shape{0, 7, 4, 3}, 0, 1), none, none, rows, columns});
  cases.good(avg, {longs({0, 7, 4, 3}), none, rows, columns});
  const auto refuse = [&](const Tensor& bad_rows, const char* text) {
    cases.bad(max, {x, y, dy, bad_rows, columns}, {}, text);
    cases.bad(avg, {shape, dy, bad_rows, columns}, {}, text);
  };
  refuse(longs({0, 2}), "row_pooling_sequence");
  refuse(longs({0, 2, 3, 4, 5, 8}), "row_pooling_sequence[5] is 8");
  refuse(longs({-1, 2, 3, 4, 5, 7}), "row_pooling_sequence[0] is -1");
  refuse(longs({0, 2, 3, 3, 5, 7}), "row_pooling_sequence[3] is 3");
  refuse(longs({0, 2, 3, 4, 5, INT64_MAX}), "row_pooling_sequence[5]");
  cases.bad(max, {x, x, dy, rows, columns}, {}, "orig_output");
  cases.bad(max, {random_doubles(Shape{7, 4, 3}, 0, 1), y, dy, rows, columns}, {}, "");
  const Tensor scalar = doubles({}, {1});
  cases.bad(max, {scalar, scalar, scalar, rows, columns}, {}, "");
  cases.bad(avg, {shape, scalar, rows, columns}, {}, "");
  cases.bad(avg, {longs({7, 4, 3}), dy, rows, columns}, {}, "");
  cases.bad(avg, {longs({2, 7, 4, -3}), dy, rows, columns}, {}, "-3");
  cases.bad(avg, {longs({2, 7, 4, 4}), dy, rows, columns}, {}, "the same batch and channels");
}

}  // namespace

void add_pool_cases(OpCases& cases) {
  for (const char* op : {"FractionalMaxPool", "FractionalAvgPool"}) add_fractional_pools(cases, op);
  add_fractional_pool_gradients(cases);
  add_max_pool_cases(cases);
  add_gradient_cases(cases, "MaxPoolGrad", false);
  add_gradient_cases(cases, "MaxPoolGradGrad", true);
  add_v2_cases(cases);
  add_volume_cases(cases);
  add_avg_pool_cases(cases);
  add_pool_cases_of_many_channels(cases);
  add_argmax_cases(cases);
}

}  // namespace troupe::test
