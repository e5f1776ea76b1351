// Samples of the normalising ops of kernels/ops/nn.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor norm_floats(const Shape& shape, double low, double high, uint64_t seed = 51) {
  return converted(random_doubles(shape, low, high, seed), f32);
}

Attributes norm(const char* format, bool training, float average = 1) {
  return {
      {"data_format", std::string(format)}, {"is_training", training}, {"exponential_avg_factor", average}};
}

Attributes without_average(Attributes attrs) {
  attrs.erase("exponential_avg_factor");
  return attrs;
}

struct Normed {
  Shape shape;
  const char* format;
};

const std::vector<Normed>& normed() {
  static const std::vector<Normed> all = {{Shape{2, 3, 5, 7}, "NHWC"},   {Shape{2, 7, 3, 5}, "NCHW"},
                                          {Shape{1, 3, 1, 70}, "NHWC"},  {Shape{5, 1, 1, 1}, "NHWC"},
                                          {Shape{0, 3, 3, 4}, "NHWC"},   {Shape{2, 3, 3, 0}, "NHWC"},
                                          {Shape{2, 2, 3, 2, 5}, "NHWC"}};
  return all;
}

int64_t channels_of(const Normed& one) {
  return one.shape[std::string_view(one.format).back() == 'C' ? one.shape.rank() - 1 : 1];
}

void add_batch_norm_samples(OpCases& cases, const std::string& version, const Normed& one) {
  const std::string forward = "FusedBatchNorm" + version, backward = "FusedBatchNormGrad" + version;
  const int64_t channels = channels_of(one);
  const auto vector = [&](double low, double high, uint64_t seed) {
    return norm_floats(Shape{channels}, low, high, seed);
  };
  const Tensor x = norm_floats(one.shape, 1, 9), dy = norm_floats(one.shape, -1, 1, 52);
  const Tensor scale = vector(1, 2, 53), offset = vector(-1, 1, 54), mean = vector(3, 6, 55),
               variance = vector(1, 9, 56), none = floats(Shape{0}, {});
  cases.good(forward, {x, scale, offset, none, none}, norm(one.format, true));
  cases.good(forward, {x, scale, offset, mean, variance}, norm(one.format, true, 0.25F));
  cases.good(forward, {x, scale, offset, mean, variance}, norm(one.format, false));
  for (const bool training : {false, true}) {
    std::vector<Tensor> inputs = {dy, x, scale, mean, variance};
    if (version == "V3") inputs.push_back(none);
    cases.good_in_every_type(backward, inputs, without_average(norm(one.format, training)));
  }
  cases.good_in_every_type(forward, {x, scale, offset, mean, variance}, norm(one.format, false));
}

void add_bad_batch_norms(OpCases& cases, const std::string& version) {
  const std::string forward = "FusedBatchNorm" + version, backward = "FusedBatchNormGrad" + version;
  const Tensor x = norm_floats(Shape{2, 3, 2, 4}, 1, 9), four = norm_floats(Shape{4}, 1, 2),
               three = norm_floats(Shape{3}, 1, 2), point = floats({}, {1});
  cases.bad(forward, {x, three, four, four, four}, {}, "3");
  cases.bad(forward, {x, four, three, four, four}, {}, "3");
  cases.bad(forward, {x, four, four, three, four}, norm("NHWC", false), "3");
  cases.bad(forward, {x, four, four, four, three}, norm("NHWC", true, 0.5F), "3");
  cases.bad(forward, {x, four, four, four, four}, norm("NCHW", true), "4");
  cases.bad(forward, {point, four, four, four, four}, {}, "x has rank 0");
  cases.bad(forward, {norm_floats(Shape{3, 2, 4}, 1, 2), four, four, four, four}, {}, "x has rank 3");
  cases.bad(forward, {x, point, four, four, four}, {}, "[]");
  cases.bad(forward, {x, four, four, four, four}, norm("HWC", true), "data_format");
  cases.bad(forward, {x, four, four, point, four}, {}, "mean of shape [] has rank 0, expected 1");
  cases.bad(forward, {x, four, four, four, x}, {}, "variance of shape [2,3,2,4] has rank 4, expected 1");
  const auto refuse = [&](std::vector<Tensor> inputs, const char* text) {
    if (version == "V3") inputs.push_back(point);
    cases.bad(backward, std::move(inputs), {}, text);
  };
  refuse({norm_floats(Shape{1, 3, 2, 4}, 1, 9), x, four, four, four}, "[1,3,2,4]");
  refuse({x, x, three, four, four}, "3");
  refuse({x, x, four, three, four}, "3");
  refuse({x, x, four, four, three}, "3");
  refuse({point, point, four, four, four}, "x has rank 0");
}

void add_batch_norm_cases(OpCases& cases) {
  for (const char* version : {"", "V2", "V3"}) {
    for (const Normed& one : normed()) add_batch_norm_samples(cases, version, one);
    add_bad_batch_norms(cases, version);
  }
  add_batch_norm_samples(cases, "V3", {Shape{2, 3, 2, 2, 3}, "NCDHW"});
  add_batch_norm_samples(cases, "V3", {Shape{8, 40, 40, 33}, "NHWC"});
  add_batch_norm_samples(cases, "V3", {Shape{3, 5, 150, 151}, "NCHW"});
}

void add_global_batch_norm_cases(OpCases& cases) {
  const std::string forward = "BatchNormWithGlobalNormalization", backward = forward + "Grad";
  const auto vector = [](int64_t n, uint64_t seed) { return random_doubles(Shape{n}, 1, 3, seed); };
  for (const bool scales : {false, true}) {
    const Attributes attrs{{"variance_epsilon", 0.125F}, {"scale_after_normalization", scales}};
    for (const Shape& shape :
         {Shape{2, 3, 2, 4}, Shape{0, 3, 2, 4}, Shape{1, 1, 1, 0}, Shape{3, 50, 40, 7}}) {
      const int64_t n = shape[3];
      const Tensor t = random_doubles(shape, 1, 9);
      const bool few = t.elements() < 100;
      const auto fitting = [&](std::vector<Tensor> inputs) {
        if (!few)
          for (Tensor& input : inputs) input = converted(input, f32);
        return inputs;
      };
      cases.good(forward, fitting({t, vector(n, 1), vector(n, 2), vector(n, 3), vector(n, 4)}), attrs);
      cases.good(backward,
                 fitting({t, vector(n, 1), vector(n, 2), vector(n, 4), random_doubles(shape, 1, 2, 5)}),
                 attrs);
    }
    const Tensor t = random_doubles(Shape{2, 3, 2, 4}, 1, 9);
    cases.good_in_every_type(forward, {t, vector(4, 1), vector(4, 2), vector(4, 3), vector(4, 4)}, attrs);
    cases.good_in_every_type(backward, {t, vector(4, 1), vector(4, 2), vector(4, 3), t}, attrs);
    cases.bad(forward, {t, vector(4, 1), vector(3, 2), vector(4, 3), vector(4, 4)}, attrs, "3");
    cases.bad(forward, {vector(4, 1), vector(4, 1), vector(4, 2), vector(4, 3), vector(4, 4)}, attrs, "");
    cases.bad(forward, {t, vector(4, 1), vector(4, 1), vector(4, 2), doubles({}, {1})}, attrs, "");
    cases.bad(backward, {t, vector(4, 1), vector(4, 2), vector(4, 3), vector(4, 4)}, attrs, "");
    cases.bad(backward, {doubles({}, {1}), vector(4, 1), vector(4, 2), vector(4, 3), doubles({}, {1})}, attrs,
              "");
    cases.bad(backward, {t, vector(4, 1), vector(5, 2), vector(4, 3), t}, attrs, "5");
  }
}

void add_layer_norm_samples(OpCases& cases, const Shape& shape, DType dtype) {
  const DType wide = dtype == DType::Double ? dtype : f32;
  const auto dims = shape.dims();
  const Shape length{dims.back()}, rows = value_or_throw(Shape::make(dims.first(dims.size() - 1), wide));
  const auto numbers = [](const Shape& of, DType type, double low, double high, uint64_t seed) {
    return converted(random_doubles(of, low, high, seed), type);
  };
  const Tensor x = numbers(shape, dtype, 1, 9, 61), dy = numbers(shape, dtype, -1, 1, 62);
  const Tensor scale = numbers(length, wide, 1, 2, 63), offset = numbers(length, wide, -1, 1, 64);
  cases.good("LayerNorm", {x, scale, offset}, {{"epsilon", 0.25F}});
  cases.good("LayerNormGrad",
             {dy, x, scale, numbers(rows, wide, 4, 6, 65), numbers(rows, wide, 0.25, 0.5, 66)});
}

void add_layer_norm_cases(OpCases& cases) {
  for (const DType dtype : {DType::Half, DType::BFloat16, DType::Float, DType::Double})
    for (const Shape& shape :
         {Shape{7}, Shape{2, 3, 5}, Shape{33, 64}, Shape{0, 3}, Shape{3, 0}, Shape{2, 1040}})
      add_layer_norm_samples(cases, shape, dtype);
  add_layer_norm_samples(cases, Shape{3000, 36}, DType::Float);
  const Tensor x = norm_floats(Shape{2, 3}, 1, 9), three = norm_floats(Shape{3}, 1, 2),
               two = norm_floats(Shape{2}, 1, 2), point = floats({}, {1});
  cases.bad("LayerNorm", {point, three, three}, {}, "x is a scalar; it must have at least one dimension");
  cases.bad("LayerNorm", {x, two, three}, {}, "2");
  cases.bad("LayerNorm", {x, three, two}, {}, "2");
  cases.bad("LayerNorm", {x, x, three}, {}, "[2,3]");
  cases.bad("LayerNorm", {x, converted(three, DType::Double), converted(three, DType::Double)}, {},
            "scale has dtype double; for x of dtype float it must be float");
  cases.bad("LayerNormGrad", {three, x, three, two, two}, {}, "[3]");
  cases.bad("LayerNormGrad", {x, x, two, two, two}, {}, "2");
  cases.bad("LayerNormGrad", {x, x, three, three, two}, {}, "3");
  cases.bad("LayerNormGrad", {x, x, three, two, three}, {}, "3");
  cases.bad("LayerNormGrad", {point, point, three, two, two}, {}, "x is a scalar");
}

}  // namespace

void add_norm_cases(OpCases& cases) {
  add_layer_norm_cases(cases);
  add_batch_norm_cases(cases);
  add_global_batch_norm_cases(cases);
}

}  // namespace troupe::test
