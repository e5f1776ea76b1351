// Samples of the ops of kernels/ops/quantized on quantised integers.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

constexpr DType quantized_dtypes[] = {DType::QUInt8, DType::QInt8, DType::QUInt16, DType::QInt16,
                                      DType::QInt32};

Tensor single(float value) { return Tensor::scalar(value); }
Tensor steps(const Shape& shape, uint64_t seed = 1, DType dtype = DType::QUInt8) {
  return converted(random_doubles(shape, 0, 127, seed), dtype);
}
Tensor unquantized(const Shape& shape, double low = -3, double high = 3) {
  return converted(random_doubles(shape, low, high), f32);
}
Tensor no_steps(const Shape& shape, DType dtype = DType::QUInt8) {
  return value_or_throw(Tensor::allocate(dtype, shape));
}

void add_quantize_cases(OpCases& cases) {
  const std::string op = "QuantizeV2";
  const auto mode = [](const char* name, DType dtype, bool narrow = false, const char* rounding = nullptr) {
    Attributes attrs{{"T", dtype}, {"mode", std::string(name)}, {"narrow_range", narrow}};
    if (rounding) attrs.set("round_mode", std::string(rounding));
    return attrs;
  };
  for (const DType dtype : quantized_dtypes)
    for (const char* name : {"MIN_COMBINED", "MIN_FIRST", "SCALED"})
      for (const bool narrow : {false, true}) {
        cases.good(op, {unquantized(Shape{3, 7}), single(-2), single(2.5)}, mode(name, dtype, narrow));
        Attributes with_axis = mode(name, dtype, narrow);
        with_axis.set("axis", int64_t{1});
        cases.good(op,
                   {unquantized(Shape{2, 3, 5}), unquantized(Shape{3}, -2, 0), unquantized(Shape{3}, 1, 2)},
                   with_axis);
      }
  const Attributes bytes = mode("SCALED", DType::QUInt8, false, "HALF_TO_EVEN");
  cases.good(op, {unquantized(Shape{0, 3}), single(0), single(1)}, bytes);
  cases.good(op, {single(1.5F), single(0), single(0)}, bytes);
  cases.good(op, {unquantized(Shape{90001}), single(-2), single(2.5)}, bytes);
  cases.bad(op, {unquantized(Shape{3}), single(2), single(1)}, bytes,
            "max_range is 1.000000; it must not be less than min_range");
  cases.bad(op, {unquantized(Shape{3}), unquantized(Shape{2}), single(1)}, bytes,
            "they must have one element");
  cases.bad(op, {unquantized(Shape{3}), single(0), single(1)},
            mode("MIN_FIRST", DType::QUInt8, false, "HALF_TO_EVEN"),
            "round_mode HALF_TO_EVEN is only for mode SCALED, not for MIN_FIRST");
  cases.bad(op, {unquantized(Shape{3}), single(0), single(1)}, mode("LOG", DType::QUInt8), "LOG");
  Attributes with_axis = bytes;
  with_axis.set("axis", int64_t{1});
  cases.bad(op, {unquantized(Shape{3}), single(0), single(1)}, with_axis,
            "axis is 1, but input has shape [3]");
  cases.bad(op, {unquantized(Shape{3, 2}), single(0), single(1)}, with_axis, "they must have shape [2]");
}

void add_dequantize_cases(OpCases& cases) {
  const std::string op = "Dequantize";
  for (const char* name : {"MIN_COMBINED", "MIN_FIRST", "SCALED"})
    for (const bool narrow : {false, true})
      for (const DType dtype : {f32, DType::BFloat16}) {
        const Attributes attrs{{"mode", std::string(name)}, {"narrow_range", narrow}, {"dtype", dtype}};
        for (const DType from : quantized_dtypes)
          cases.good(op, {steps(Shape{3, 7}, 1, from), single(-2), single(2.5)}, attrs);
      }
  cases.good(op, {steps(Shape{2, 3, 5}), unquantized(Shape{3}, -2, 0), unquantized(Shape{3}, 1, 2)},
             {{"axis", int64_t{1}}});
  cases.good(op, {no_steps(Shape{0, 3}), single(0), single(1)});
  cases.good(op, {steps(Shape()), single(1), single(1)});
  cases.bad(op, {steps(Shape{3}), unquantized(Shape{2}), single(1)}, {}, "they must have one element");
  cases.bad(op, {steps(Shape{3}), single(0), single(1)}, {{"axis", int64_t{1}}},
            "axis is 1, but input has shape [3]");
  cases.bad(op, {unquantized(Shape{3}), single(0), single(1)}, {}, "T is float");
}

void add_there_and_back_cases(OpCases& cases) {
  const Tensor x = random_doubles(Shape{3, 5}, -3, 3), low = doubles({}, {-2}), high = doubles({}, {1.5});
  const Tensor bits = int_scalar(5);
  const auto wide = [](const Tensor& tensor) { return converted(tensor, f32); };
  for (const bool is_signed : {false, true})
    for (const bool given : {false, true})
      for (const bool narrow : {false, true}) {
        const Attributes attrs{{"signed_input", is_signed}, {"range_given", given}, {"narrow_range", narrow}};
        cases.good("QuantizeAndDequantizeV2", {wide(x), wide(low), wide(high)}, attrs);
        cases.good("QuantizeAndDequantizeV3", {wide(x), wide(low), wide(high), bits}, attrs);
      }
  for (const bool is_signed : {false, true})
    for (const bool given : {false, true})
      cases.good(
          "QuantizeAndDequantize", {wide(x)},
          {{"signed_input", is_signed}, {"range_given", given}, {"input_min", -2.0F}, {"input_max", 1.5F}});
  for (const DType dtype : {DType::Half, DType::BFloat16, DType::Double}) {
    const auto narrow = [&](const Tensor& tensor) { return converted(tensor, dtype); };
    cases.good("QuantizeAndDequantize", {narrow(x)});
    cases.good("QuantizeAndDequantizeV2", {narrow(x), narrow(low), narrow(high)},
               {{"round_mode", std::string("HALF_UP")}});
    cases.good("QuantizeAndDequantizeV3", {narrow(x), narrow(low), narrow(high), bits});
  }
  const Attributes rows{{"axis", int64_t{0}}, {"range_given", true}};
  cases.good("QuantizeAndDequantizeV2",
             {unquantized(Shape{3, 5}), unquantized(Shape{3}, -2, 0), unquantized(Shape{3}, 1, 2)}, rows);
  cases.good("QuantizeAndDequantizeV3",
             {unquantized(Shape{3, 5}), unquantized(Shape{3}, -2, 0), unquantized(Shape{3}, 1, 2), bits},
             rows);
  for (const Shape& shape : {Shape{0, 3}, Shape()}) {
    cases.good("QuantizeAndDequantize", {unquantized(shape)});
    cases.good("QuantizeAndDequantizeV2", {unquantized(shape), single(0), single(1)});
    cases.good("QuantizeAndDequantizeV3", {unquantized(shape), single(0), single(1), bits});
  }
  cases.bad("QuantizeAndDequantize", {wide(x)}, {{"num_bits", int64_t{0}}},
            "num_bits is 0; it must be in [1, 62)");
  for (const int64_t wrong : {int64_t{62}, int64_t{-1}, INT64_MAX})
    cases.bad("QuantizeAndDequantizeV2", {wide(x), single(0), single(1)}, {{"num_bits", wrong}},
              "it must be in [1, 62)");
  cases.bad("QuantizeAndDequantizeV2", {wide(x), single(2), single(1)}, {{"range_given", true}},
            "input_min is");
  cases.bad("QuantizeAndDequantizeV2", {wide(x), single(2), single(3)}, rows, "both must have shape [3]");
  cases.bad("QuantizeAndDequantizeV2", {wide(x), single(2), single(3)}, {{"axis", int64_t{2}}},
            "axis is 2, but input has shape");
  cases.bad("QuantizeAndDequantizeV3", {wide(x), single(0), single(1), int_scalar(63)}, {}, "num_bits is 63");
  cases.bad("QuantizeAndDequantizeV3", {wide(x), single(0), single(1), ints({8})}, {}, "");
}

void add_requantize_cases(OpCases& cases) {
  const Attributes bytes{{"out_type", DType::QUInt8}};
  const Tensor sums = converted(random_doubles(Shape{3, 7}, -1e9, 1e9), DType::QInt32);
  for (const Tensor& x : {sums, no_steps(Shape{0, 3}, DType::QInt32), steps(Shape(), 1, DType::QInt32)}) {
    cases.good("Requantize", {x, single(-10), single(10), single(-2), single(1)}, bytes);
    cases.good("Requantize", {x, single(-10), single(10), single(0), single(0)}, bytes);
    cases.good("QuantizeDownAndShrinkRange", {x, single(-10), single(10)}, bytes);
    cases.good("RequantizationRange", {x, single(-10), single(10)});
  }
  cases.bad("Requantize", {sums, single(-1), single(1), single(1), single(2)}, bytes,
            "requested_output_min is 1.000000");
  cases.bad("Requantize", {sums, single(-1), single(1), single(-1), single(-2)}, bytes,
            "must not be above 0 or the maximum");
  cases.bad("Requantize", {sums, single(-1), single(1), single(-1), unquantized(Shape{2})}, bytes,
            "it must have one element");
  for (const char* op : {"QuantizeDownAndShrinkRange", "RequantizationRange"})
    cases.bad(op, {sums, unquantized(Shape{2}), single(1)}, op[0] == 'Q' ? bytes : Attributes(),
              "it must have one element");
}

void add_arithmetic_cases(OpCases& cases) {
  const Tensor x = steps(Shape{3, 5}, 1), y = steps(Shape{3, 5}, 2), row = steps(Shape{5}, 3);
  const auto ranged = [](const Tensor& a, const Tensor& b) {
    return std::vector<Tensor>{a, b, single(-1), single(2), single(0), single(5)};
  };
  for (const char* op : {"QuantizedAdd", "QuantizedMul"}) {
    for (const Tensor& other : {y, row, steps(Shape()), steps(Shape{3, 1})}) {
      cases.good(op, ranged(x, other));
      cases.good(op, ranged(other, x));
    }
    cases.good(op, ranged(no_steps(Shape{0, 5}), row));
    cases.good(op, ranged(steps(Shape()), steps(Shape())));
    cases.good(op, ranged(steps(Shape{300, 301}), steps(Shape{301})));
    cases.bad(op, ranged(x, steps(Shape{2, 5})), {}, "2");
    cases.bad(op, {x, y, single(1), single(1), single(0), single(1)}, {},
              "max_x is 1.000000; it must be greater than min_x");
    cases.bad(op, {x, y, single(0), single(1), single(2), single(1)}, {},
              "max_y is 1.000000; it must be greater than min_y");
    cases.bad(op, {x, y, single(0), unquantized(Shape{2}), single(2), single(1)}, {},
              "it must have one element");
  }
  const std::string op = "QuantizedBiasAdd";
  const Attributes sums{{"out_type", DType::QInt32}};
  for (const DType dtype : {DType::QUInt8, DType::QInt8}) {
    cases.good(op, ranged(steps(Shape{2, 3, 5}, 1, dtype), steps(Shape{5}, 2, dtype)), sums);
    cases.good(op, ranged(no_steps(Shape{0, 5}, dtype), steps(Shape{5}, 2, dtype)), sums);
  }
  cases.bad(op, ranged(x, steps(Shape{3})), sums,
            "bias must be a vector of the size of the last dimension of input");
  cases.bad(op, ranged(x, x), sums, "bias must be a vector");
  cases.bad(op, ranged(steps(Shape()), row), sums, "bias must be a vector");
}

void add_activation_cases(OpCases& cases) {
  for (const DType dtype : {DType::QUInt8, DType::QInt32}) {
    const Attributes attrs{{"out_type", dtype}};
    for (const Tensor& x :
         {steps(Shape{3, 7}, 1, dtype), no_steps(Shape{0, 3}, dtype), steps(Shape(), 1, dtype)}) {
      cases.good("QuantizedRelu", {x, single(-1), single(20)}, attrs);
      cases.good("QuantizedRelu6", {x, single(-1), single(20)}, attrs);
      cases.good("QuantizedReluX", {x, single(3), single(-1), single(20)}, attrs);
    }
  }
  const Tensor two = unquantized(Shape{2});
  for (const char* op : {"QuantizedRelu", "QuantizedRelu6"})
    cases.bad(op, {steps(Shape{3}), two, single(1)}, {}, "it must have one element");
  cases.bad("QuantizedReluX", {steps(Shape{3}), two, single(0), single(1)}, {}, "max_value has shape [2]");
  cases.bad("QuantizedReluX", {steps(Shape{3}), single(1), single(0), two}, {}, "it must have one element");
}

void add_quantized_pool_cases(OpCases& cases) {
  const auto windows = [](std::vector<int64_t> ksize, std::vector<int64_t> strides, const char* padding) {
    return Attributes{
        {"ksize", std::move(ksize)}, {"strides", std::move(strides)}, {"padding", std::string(padding)}};
  };
  for (const char* op : {"QuantizedMaxPool", "QuantizedAvgPool"}) {
    for (const char* padding : {"SAME", "VALID"})
      cases.good(op, {steps(Shape{2, 5, 4, 3}), single(-1), single(2)},
                 windows({1, 3, 2, 1}, {1, 2, 1, 1}, padding));
    const Attributes attrs = windows({1, 2, 2, 1}, {1, 1, 1, 1}, "SAME");
    cases.good(op, {no_steps(Shape{0, 5, 4, 3}), single(-1), single(2)}, attrs);
    cases.good(op, {steps(Shape{3, 40, 50, 7}), single(-1), single(2)}, attrs);
    cases.good(op, {steps(Shape{1, 3, 3, 5}), single(-1), single(2)}, attrs);
    cases.bad(op, {steps(Shape()), single(-1), single(2)}, attrs, "");
    cases.bad(op, {steps(Shape{5, 4, 3}), single(-1), single(2)}, attrs, "");
    cases.bad(op, {steps(Shape{2, 5, 4, 3}), single(-1), unquantized(Shape{2})}, attrs,
              "it must have one element");
    cases.bad(op, {steps(Shape{2, 5, 4, 3}), single(-1), single(2)},
              windows({2, 2, 2, 1}, {1, 1, 1, 1}, "SAME"), "1 in the batch dimension");
  }
}

void add_product_cases(OpCases& cases) {
  const auto ranged = [](const Tensor& a, const Tensor& b) {
    return std::vector<Tensor>{a, b, single(-1), single(2), single(0), single(5)};
  };
  const std::string op = "QuantizedMatMul";
  for (const bool a : {false, true})
    for (const bool b : {false, true})
      cases.good(op, ranged(steps(a ? Shape{7, 3} : Shape{3, 7}, 1), steps(b ? Shape{5, 7} : Shape{7, 5}, 2)),
                 {{"transpose_a", a}, {"transpose_b", b}});
  for (const DType unused : quantized_dtypes)
    cases.good(op, ranged(no_steps(Shape{0, 7}), steps(Shape{7, 5})), {{"Tactivation", unused}});
  cases.good(op, ranged(no_steps(Shape{3, 0}), no_steps(Shape{0, 5})));
  cases.good(op, ranged(steps(Shape{200, 300}), steps(Shape{300, 101})));
  cases.bad(op, ranged(steps(Shape{3, 7}), steps(Shape{3, 7})), {}, "");
  cases.bad(op, ranged(steps(Shape()), steps(Shape{3, 7})), {}, "");
  cases.bad(op, {steps(Shape{3, 7}), steps(Shape{7, 5}), single(2), single(1), single(0), single(1)}, {},
            "max_a is 1.000000; it must be greater than min_a, which is 2.000000");
  cases.bad(op,
            {steps(Shape{3, 7}), steps(Shape{7, 5}), single(0), unquantized(Shape{2}), single(0), single(1)},
            {}, "it must have one element");
  const std::string convolve = "QuantizedConv2D";
  const auto windows = [](std::vector<int64_t> strides, const char* padding) {
    return Attributes{{"strides", std::move(strides)}, {"padding", std::string(padding)}};
  };
  const Tensor images = steps(Shape{2, 5, 4, 3}, 1), filters = steps(Shape{3, 2, 3, 5}, 2);
  for (const char* padding : {"SAME", "VALID"}) {
    cases.good(convolve, ranged(images, filters), windows({1, 2, 2, 1}, padding));
    cases.good(convolve, ranged(no_steps(Shape{0, 5, 4, 3}), filters), windows({1, 1, 1, 1}, padding));
    cases.good(convolve, ranged(no_steps(Shape{2, 5, 4, 0}), no_steps(Shape{3, 2, 0, 5})),
               windows({1, 1, 1, 1}, padding));
  }
  cases.bad(convolve, ranged(images, steps(Shape{3, 2, 2, 5})), windows({1, 1, 1, 1}, "SAME"), "");
  cases.bad(convolve, ranged(steps(Shape()), filters), windows({1, 1, 1, 1}, "SAME"), "");
  cases.bad(convolve, {images, filters, single(0), single(1), single(3), single(3)},
            windows({1, 1, 1, 1}, "SAME"), "max_filter is 3.000000; it must be greater than min_filter");
}

void add_moving_cases(OpCases& cases) {
  const std::string join = "QuantizedConcat";
  const auto values = [](const Tensor& a, const Tensor& b, int32_t axis) {
    return std::vector<Tensor>{int_scalar(axis), a, b, single(-1), single(0), single(2), single(5)};
  };
  for (const DType dtype : {DType::QUInt8, DType::QInt32}) {
    cases.good(join, values(steps(Shape{2, 3}, 1, dtype), steps(Shape{2, 5}, 2, dtype), 1));
    cases.good(join, values(no_steps(Shape{0, 3}, dtype), steps(Shape{2, 3}, 2, dtype), 0));
    cases.good(join, values(no_steps(Shape{0, 3}, dtype), no_steps(Shape{0, 3}, dtype), 0));
  }
  cases.bad(join, values(steps(Shape{2, 3}), steps(Shape{2, 3}), 2), {}, "axis 2 is outside [-2, 2)");
  cases.bad(join, values(steps(Shape{2, 3}), steps(Shape{3, 3}), 1), {}, "3");
  cases.bad(join, values(steps(Shape()), steps(Shape()), 0), {}, "");
  cases.bad(join,
            {int_scalar(0), steps(Shape{2}), steps(Shape{2}), single(0), single(0), single(1),
             unquantized(Shape{2})},
            {}, "the range of value 1 has shapes [] and [2]");
  const std::string reshape = "QuantizedReshape";
  cases.good_in_every_type(reshape,
                           {random_doubles(Shape{2, 3}, 1, 9), ints({3, -1}), single(-1), single(2)});
  cases.good(reshape, {no_steps(Shape{0, 3}), ints({3, 0}), single(-1), single(2)});
  cases.good(reshape, {steps(Shape()), ints({1, 1}), single(-1), single(2)});
  cases.good(reshape, {steps(Shape{3, 5}), ints({5, 3}), single(-1), single(2)});
  cases.bad(reshape, {steps(Shape{2, 3}), ints({4}), single(-1), single(2)}, {}, "4");
  cases.bad(reshape, {steps(Shape{2, 3}), ints({6}), single(-1), unquantized(Shape{2})}, {},
            "it must have one element");
}

void add_quantized_norms(OpCases& cases) {
  const std::string instance = "QuantizedInstanceNorm";
  const Attributes given{{"output_range_given", true}, {"given_y_min", -1.5F}, {"given_y_max", 2.0F}};
  for (const Attributes& attrs : {Attributes{}, given}) {
    cases.good(instance, {steps(Shape{2, 3, 5, 7}), single(-1), single(3)}, attrs);
    cases.good(instance, {steps(Shape{1, 1, 1, 3}), single(-1), single(3)}, attrs);
    cases.good(instance, {steps(Shape{3, 40, 30, 13}), single(0), single(1)}, attrs);
    cases.good(instance, {no_steps(Shape{0, 3, 5, 7}), single(-1), single(3)}, attrs);
    cases.good(instance, {no_steps(Shape{2, 3, 5, 0}), single(-1), single(3)}, attrs);
  }
  cases.bad(instance, {steps(Shape{3, 5, 7}), single(-1), single(3)}, {}, "3,5,7");
  cases.bad(instance, {steps(Shape()), single(-1), single(3)}, {}, "");
  cases.bad(instance, {steps(Shape{1, 3, 5, 7}), single(3), single(3)}, {},
            "max_x is 3.000000; it must be greater");
  cases.bad(instance, {steps(Shape{1, 3, 5, 7}), unquantized(Shape{2}), single(3)}, {},
            "it must have one element");
  cases.bad(instance, {steps(Shape{1, 3, 5, 7}), single(-1), single(3)},
            {{"output_range_given", true}, {"given_y_min", 1.0F}, {"given_y_max", 1.0F}},
            "given_y_max is 1.000000; it must be greater than given_y_min");
  const std::string batch = "QuantizedBatchNormWithGlobalNormalization";
  const auto inputs = [](const Tensor& images, const Tensor& channels) {
    std::vector<Tensor> all{images, single(-2), single(5)};
    for (const float low : {-1.0F, 0.5F, -3.0F, 0.0F})
      for (const Tensor& tensor : {channels, single(low), single(low + 2)}) all.push_back(tensor);
    return all;
  };
  for (const bool scales : {false, true}) {
    const Attributes attrs{
        {"variance_epsilon", 0.01F}, {"scale_after_normalization", scales}, {"out_type", DType::QInt32}};
    cases.good(batch, inputs(steps(Shape{2, 3, 5, 7}), steps(Shape{7}, 2)), attrs);
    cases.good(batch, inputs(steps(Shape{3, 40, 30, 13}), steps(Shape{13}, 2)), attrs);
    cases.good(batch, inputs(no_steps(Shape{0, 3, 5, 7}), steps(Shape{7}, 2)), attrs);
    cases.good(batch, inputs(no_steps(Shape{2, 3, 5, 0}), no_steps(Shape{0})), attrs);
    cases.bad(batch, inputs(steps(Shape{2, 3, 5, 7}), steps(Shape{6}, 2)), attrs, "6");
    cases.bad(batch, inputs(steps(Shape{2, 3, 5, 7}), steps(Shape{7, 1}, 2)), attrs, "7,1");
    cases.bad(batch, inputs(steps(Shape()), steps(Shape{1}, 2)), attrs, "");
  }
}

}  // namespace

void add_quantized_cases(OpCases& cases) {
  add_quantize_cases(cases);
  add_dequantize_cases(cases);
  add_there_and_back_cases(cases);
  add_requantize_cases(cases);
  add_arithmetic_cases(cases);
  add_activation_cases(cases);
  add_quantized_pool_cases(cases);
  add_product_cases(cases);
  add_moving_cases(cases);
  add_quantized_norms(cases);
}

}  // namespace troupe::test
