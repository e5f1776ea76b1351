// Samples of the ops that combine neighbouring pixels or channels otherwise than pooling does (LRN, dilation), and of those that
// round floats to the steps of a range.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor random_floats(const Shape& shape, double low, double high, uint64_t seed = 31) {
  return converted(random_doubles(shape, low, high, seed), f32);
}

// ---- Local response normalisation

Attributes normalization(int64_t radius, float bias, float alpha, float beta) {
  return {{"depth_radius", radius}, {"bias", bias}, {"alpha", alpha}, {"beta", beta}};
}

void add_lrn_cases(OpCases& cases) {
  const std::vector<Attributes> settings = {normalization(1, 1, 1, 0.5F), normalization(2, 2, 0.5F, 0.75F),
                                            normalization(0, 1, 0.1F, 1),
                                            normalization(INT64_MAX, 1.5F, 0.25F, 0.6F)};
  for (const Attributes& attrs : settings)
    for (const Shape& shape : {Shape{2, 3, 1, 5}, Shape{1, 2, 2, 1}, Shape{1, 1, 3, 17}}) {
      const Tensor x = random_floats(shape, -2, 2), y = random_floats(shape, -1, 1, 32);
      cases.good("LRN", {x}, attrs);
      cases.good("LRNGrad", {random_floats(shape, -1, 1, 33), x, y}, attrs);
    }
  // Floats are differentiated one by one: the large image is of halves.
  const Tensor large = converted(random_doubles(Shape{2, 40, 30, 96}, -3, 3), DType::Half),
               odd = random_floats(Shape{1, 1, 3, 7}, 1, 9);
  cases.good("LRN", {large});
  cases.good("LRNGrad", {large, large, large});
  cases.good_in_every_type("LRN", {odd});
  cases.good_in_every_type("LRNGrad", {odd, odd, odd});
  for (const Shape& shape : {Shape{0, 3, 3, 2}, Shape{1, 2, 2, 0}}) {
    const Tensor none = random_floats(shape, 1, 2);
    cases.good("LRN", {none});
    cases.good("LRNGrad", {none, none, none});
  }
  const Tensor scalar = floats({}, {1}), x = random_floats(Shape{1, 2, 2, 3}, 1, 2);
  const Attributes negative = normalization(-1, 1, 1, 0.5F);
  for (const Tensor& image : {scalar, random_floats(Shape{2, 2, 3}, 1, 2)}) {
    cases.bad("LRN", {image}, {}, "rank");
    cases.bad("LRNGrad", {image, image, image}, {}, "rank");
  }
  cases.bad("LRN", {x}, negative, "depth_radius is -1");
  cases.bad("LRNGrad", {x, x, x}, negative, "depth_radius is -1");
  cases.bad("LRNGrad", {x, x, random_floats(Shape{1, 2, 2, 4}, 1, 2)}, {}, "[1,2,2,4]");
}

// ---- Dilation

Attributes windows(int64_t stride, int64_t rate, const char* padding) {
  return {{"strides", std::vector<int64_t>{1, stride, stride, 1}},
          {"rates", std::vector<int64_t>{1, rate, rate, 1}},
          {"padding", std::string(padding)}};
}

struct Dilated {
  Shape input, filter, output;
  Attributes attrs;
};

void add_dilation_samples(OpCases& cases) {
  const std::vector<Dilated> all = {
      {Shape{2, 5, 4, 3}, Shape{2, 3, 3}, Shape{2, 4, 2, 3}, windows(1, 1, "VALID")},
      {Shape{1, 5, 5, 2}, Shape{2, 2, 2}, Shape{1, 3, 3, 2}, windows(2, 2, "SAME")},
      {Shape{1, 1, 1, 1}, Shape{2, 2, 1}, Shape{1, 1, 1, 1}, windows(1, 2, "SAME")},
      {Shape{0, 3, 3, 2}, Shape{2, 2, 2}, Shape{0, 3, 3, 2}, windows(1, 1, "SAME")},
      {Shape{1, 3, 3, 0}, Shape{2, 2, 0}, Shape{1, 2, 2, 0}, windows(1, 1, "VALID")},
      {Shape{3, 21, 20, 37}, Shape{3, 3, 37}, Shape{3, 21, 20, 37}, windows(1, 1, "SAME")}};
  for (const auto& [input, filter, output, attrs] : all) {
    Tensor x = random_doubles(input, -9, 9), f = random_doubles(filter, -3, 3, 2),
           dy = random_doubles(output, -1, 1, 3);
    if (input.elements() > 1000 || input.elements() == 1)  // too many to be differentiated, or infinite
      for (Tensor* const tensor : {&x, &f, &dy}) *tensor = converted(*tensor, f32);
    cases.good("Dilation2D", {x, f}, attrs);
    cases.good("Dilation2DBackpropInput", {x, f, dy}, attrs);
    cases.good("Dilation2DBackpropFilter", {x, f, dy}, attrs);
  }
  const Dilated& odd = all[1];
  const Tensor x = random_doubles(odd.input, 1, 9), f = random_doubles(odd.filter, 1, 9, 2),
               dy = random_doubles(odd.output, 1, 9, 3);
  cases.good_in_every_type("Dilation2D", {x, f}, odd.attrs);
  cases.good_in_every_type("Dilation2DBackpropInput", {x, f, dy}, odd.attrs);
  cases.good_in_every_type("Dilation2DBackpropFilter", {x, f, dy}, odd.attrs);
}

void add_bad_dilations(OpCases& cases) {
  const Tensor x = random_doubles(Shape{1, 4, 4, 2}, 1, 9), f = random_doubles(Shape{2, 2, 2}, 1, 9),
               dy = random_doubles(Shape{1, 3, 3, 2}, 1, 9), scalar = doubles({}, {1});
  const auto refuse = [&](const Tensor& input, const Tensor& filter, const Attributes& attrs,
                          const char* text) {
    cases.bad("Dilation2D", {input, filter}, attrs, text);
    for (const char* op : {"Dilation2DBackpropInput", "Dilation2DBackpropFilter"})
      cases.bad(op, {input, filter, dy}, attrs, text);
  };
  const Attributes valid = windows(1, 1, "VALID");
  refuse(scalar, f, valid, "[]");
  refuse(x, scalar, valid, "[]");
  refuse(x, random_doubles(Shape{2, 2, 3}, 1, 9), valid, "input has 2 channels and filter has 3");
  refuse(x, random_doubles(Shape{0, 2, 2}, 1, 9), valid, "");
  refuse(x, f, windows(0, 1, "VALID"), "");
  refuse(x, f, windows(1, 0, "VALID"), "");
  refuse(x, f, windows(1, INT64_MAX, "VALID"), "");
  Attributes over_batch = valid;
  over_batch.set("strides", std::vector<int64_t>{2, 1, 1, 1});
  refuse(x, f, over_batch, "strides");
  over_batch.set("strides", std::vector<int64_t>{1, 1, 1});
  refuse(x, f, over_batch, "strides");
  for (const char* op : {"Dilation2DBackpropInput", "Dilation2DBackpropFilter"})
    cases.bad(op, {x, f, random_doubles(Shape{1, 4, 3, 2}, 1, 9)}, valid, "out_backprop of shape [1,4,3,2]");
}

// ---- Rounding to the steps of a range

/// Calls visit(op, min and max) for the forms of the op: the range in attributes, in scalars, in vectors.
template <class Visit>
void for_each_form(int64_t channels, const Visit& visit) {
  visit("FakeQuantWithMinMaxArgs", std::vector<Tensor>{});
  visit("FakeQuantWithMinMaxVars", std::vector<Tensor>{floats({}, {-0.7F}), floats({}, {5.1F})});
  visit("FakeQuantWithMinMaxVarsPerChannel", std::vector<Tensor>{random_floats(Shape{channels}, -4, -1),
                                                                 random_floats(Shape{channels}, 1, 4, 32)});
}

void add_fake_quant_samples(OpCases& cases, const std::string& op, const std::vector<Tensor>& range,
                            const Shape& shape) {
  const Tensor x = random_floats(shape, -9, 9), dy = random_floats(shape, -1, 1, 33);
  std::vector<Tensor> inputs{x}, backward{dy, x};
  inputs.insert(inputs.end(), range.begin(), range.end());
  backward.insert(backward.end(), range.begin(), range.end());
  for (const auto& [bits, narrow] : {std::pair(8, false), std::pair(2, true), std::pair(16, false)}) {
    const Attributes attrs{{"num_bits", int64_t{bits}}, {"narrow_range", narrow}};
    cases.good(op, inputs, attrs);
    cases.good(op + "Gradient", backward, attrs);
  }
}

void refuse_fake_quant(OpCases& cases, const std::string& op, const std::vector<Tensor>& range,
                       const Tensor& x, const Attributes& attrs, const std::string& text) {
  std::vector<Tensor> inputs{x}, backward{x, x};
  inputs.insert(inputs.end(), range.begin(), range.end());
  backward.insert(backward.end(), range.begin(), range.end());
  cases.bad(op, inputs, attrs, text);
  cases.bad(op + "Gradient", backward, attrs, text);
}

void add_fake_quant_cases(OpCases& cases) {
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{0, 5}, Shape{3, 0}, Shape{7}, Shape{1001, 333}})
    for_each_form(shape.dims().back(), [&](const std::string& op, const std::vector<Tensor>& range) {
      add_fake_quant_samples(cases, op, range, shape);
    });
  const Tensor x = random_floats(Shape{2, 3}, -1, 1), zeros = floats(Shape{3}, {0, 0, 0}),
               zero = floats({}, {0}), scalar = floats({}, {1});
  for_each_form(3, [&](const std::string& op, const std::vector<Tensor>& range) {
    for (const int64_t bits : {int64_t{1}, int64_t{17}, INT64_MAX, INT64_MIN})
      refuse_fake_quant(cases, op, range, x, {{"num_bits", bits}}, "it must be in [2, 16]");
    std::vector<Tensor> backward{x, floats(Shape{3}, {1, 2, 3})};
    backward.insert(backward.end(), range.begin(), range.end());
    cases.bad(op + "Gradient", backward, {}, "[2,3]");
  });
  const std::string args = "FakeQuantWithMinMaxArgs", vars = "FakeQuantWithMinMaxVars";
  add_fake_quant_samples(cases, args, {}, Shape());
  add_fake_quant_samples(cases, vars, {zero, zero}, Shape{7});
  add_fake_quant_samples(cases, vars + "PerChannel", {zeros, floats(Shape{3}, {0, 1, 2})}, Shape{2, 3});
  refuse_fake_quant(cases, args, {}, scalar, {{"min", 1.0F}, {"max", 1.0F}}, "min must be less than max");
  refuse_fake_quant(cases, vars, {zeros, zeros}, x, {}, "[3]");
  refuse_fake_quant(cases, vars + "PerChannel", {zero, zero}, x, {}, "[]");
  refuse_fake_quant(cases, vars + "PerChannel", {zeros, zeros}, scalar, {}, "inputs is a scalar");
  refuse_fake_quant(cases, vars + "PerChannel", {floats(Shape{2}, {0, 0}), zeros}, x, {}, "[2]");
}

}  // namespace

void add_local_cases(OpCases& cases) {
  add_lrn_cases(cases);
  add_dilation_samples(cases);
  add_bad_dilations(cases);
  add_fake_quant_cases(cases);
}

}  // namespace troupe::test
