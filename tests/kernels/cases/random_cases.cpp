// Samples of the ops of kernels/ops/random.
#include <cmath>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

const Attributes fixed_seed = {{"seed", int64_t{3}}};
const Tensor seeds = Tensor::vector<int64_t>({4, 5});

void add_stateless_cases(OpCases& cases) {
  for (const char* op : {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
                         "StatelessRandomUniformFullInt"}) {
    cases.good_in_every_type(op, {ints({3, 7}), seeds});
    cases.good(op, {ints({3, 70001}), seeds});
    cases.good(op, {ints({3, 0}), seeds});
    cases.good(op, {ints({}), seeds});
    cases.bad(op, {ints({3, -1}), seeds}, {}, "-1");
    cases.bad(op, {ints({3}), ints({1, 2, 3})}, {}, "seed has shape [3], expected [2]");
  }
  const auto integers = [](int32_t least, int32_t most) {
    return std::vector<Tensor>{ints({7}), seeds, int_scalar(least), int_scalar(most)};
  };
  cases.good_in_every_type("StatelessRandomUniformInt", integers(-5, 9));
  cases.good("StatelessRandomUniformInt", {ints({70001}), seeds, int_scalar(-5), int_scalar(9)});
  cases.good("StatelessRandomUniformInt", {ints({0}), seeds, int_scalar(5), int_scalar(5)});
  cases.bad("StatelessRandomUniformInt", integers(9, 9), {}, "minval 9 is not below maxval 9");
  cases.bad("StatelessRandomUniformInt", {ints({3}), seeds, ints({1}), int_scalar(2)}, {}, "[1]");
}

void add_counted_cases(OpCases& cases) {
  const Tensor key = converted(ints({77}), DType::UInt64), counter = converted(ints({4, 9}), DType::UInt64);
  const Tensor philox = int_scalar(1), chosen = int_scalar(3);
  for (const char* op : {"StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
                         "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2"}) {
    const auto with = [&](Tensor shape, Tensor k, Tensor c, Tensor a) {
      std::vector<Tensor> inputs = {std::move(shape), std::move(k), std::move(c), std::move(a)};
      if (std::string_view(op) == "StatelessRandomUniformIntV2")
        inputs.insert(inputs.end(), {int_scalar(-5), int_scalar(9)});
      return inputs;
    };
    cases.good_in_every_type(op, with(ints({3, 7}), key, counter, philox));
    cases.good(op, with(ints({3, 70001}), key, counter, chosen));
    cases.good(op, with(ints({3, 0}), key, counter, philox));
    cases.good(op, with(ints({}), key, counter, philox));
    cases.bad(op, with(ints({3, -1}), key, counter, philox), {}, "-1");
    cases.bad(op, with(ints({3}), counter, counter, philox), {}, "[2]");
    cases.bad(op, with(ints({3}), key, key, philox), {}, "counter of shape [1]");
    cases.bad(op, with(ints({3}), key, counter, int_scalar(0)), {}, "alg is 0");
    cases.bad(op, with(ints({3}), key, counter, int_scalar(2)), {}, "ThreeFry", Code::Unimplemented);
    cases.bad(op, with(ints({3}), key, counter, ints({1})), {}, "[1]");
  }
  for (const char* op : {"StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"}) {
    cases.good_in_every_type(op, {seeds});
    cases.bad(op, {ints({1, 2, 3})}, {}, "3");
  }
  cases.good("StatelessRandomGetAlg", {});
  cases.bad("StatelessRandomGetAlg", {seeds}, {}, "takes 0 inputs, got 1");
}

void add_category_cases(OpCases& cases) {
  const auto add = [&](const std::string& op, const std::vector<Tensor>& more, const Attributes& attrs) {
    const auto inputs = [&](Tensor logits, Tensor samples) {
      std::vector<Tensor> all = {std::move(logits), std::move(samples)};
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    cases.good_in_every_type(op, inputs(random_doubles(Shape{3, 5}, 1, 4), int_scalar(7)), attrs);
    cases.good(op, inputs(random_doubles(Shape{70, 31}, -2, 2), int_scalar(501)), attrs);
    cases.good(op, inputs(random_doubles(Shape{0, 5}, -2, 2), int_scalar(3)), attrs);
    cases.good(op, inputs(random_doubles(Shape{2, 0}, -2, 2), int_scalar(0)), attrs);
    cases.bad(op, inputs(random_doubles(Shape{2, 0}, -2, 2), int_scalar(1)), attrs, "no classes");
    cases.bad(op, inputs(random_doubles(Shape{2, 3}, -2, 2), int_scalar(-1)), attrs, "num_samples is -1");
    cases.bad(op, inputs(random_doubles(Shape{2}, -2, 2), int_scalar(1)), attrs, "[2]");
    cases.bad(op, inputs(doubles({}, {1}), int_scalar(1)), attrs, "[]");
  };
  add("Multinomial", {}, fixed_seed);
  add("StatelessMultinomial", {seeds}, {});
}

void add_distribution_cases(OpCases& cases) {
  for (const char* op : {"RandomGamma", "RandomPoisson", "RandomPoissonV2"}) {
    cases.good_in_every_type(op, {ints({7}), random_doubles(Shape{5}, 1, 20)}, fixed_seed);
    cases.good(op, {ints({3}), converted(doubles(Shape{5}, {0, 0.1, 1, 30, -1}), DType::Float)}, fixed_seed);
    cases.good(op, {ints({501}), converted(random_doubles(Shape{2, 3}, 0.1, 20), DType::Float)}, fixed_seed);
    cases.good(op, {ints({0, 2}), converted(random_doubles(Shape{3}, 0.1, 20), DType::Float)}, fixed_seed);
    cases.good(op, {ints({3}), floats({}, {2})}, fixed_seed);
    cases.good(op, {ints({3}), floats(Shape{0}, {})}, fixed_seed);
    cases.bad(op, {ints({3, -1}), floats({}, {2})}, fixed_seed, "-1");
  }
  const std::string op = "ParameterizedTruncatedNormal";
  const auto scalars = [](double mean, double deviation, double least, double most) {
    return std::vector<Tensor>{ints({3, 7}), doubles({}, {mean}), doubles({}, {deviation}),
                               doubles({}, {least}), doubles({}, {most})};
  };
  cases.good_in_every_type(op, scalars(2, 3, 1, 9), fixed_seed);
  for (const auto& [least, most] : {std::pair{-1.0, 1.0},
                                    {5.0, 9.0},
                                    {-9.0, -5.0},
                                    {-0.1, 3.0},
                                    {2.0, HUGE_VAL},
                                    {-HUGE_VAL, HUGE_VAL},
                                    {1e9, 2e9},
                                    {4.0, 4.1}})
    cases.good(op, scalars(0, 1, least, most), fixed_seed);
  const Tensor batches = doubles(Shape{3}, {1, 2, 3}), one = doubles(Shape{1}, {9});
  cases.good(op, {ints({3, 501}), batches, batches, doubles({}, {-1}), one}, fixed_seed);
  cases.good(op, {ints({0, 5}), one, doubles(Shape{0}, {}), doubles({}, {-1}), one}, fixed_seed);
  cases.bad(op, scalars(0, 0, -1, 1), fixed_seed,
            "the stdev of batch 0 is 0.000000, it must be finite and above 0");
  cases.bad(op, scalars(0, 1, 1, 1), fixed_seed,
            "the minval of batch 0 is 1.000000, it must be below the maxval, 1.000000");
  cases.bad(op, scalars(NAN, 1, -1, 1), fixed_seed, "the mean of batch 0 is not finite");
  cases.bad(op, {ints({2, 3}), batches, one, doubles({}, {-1}), one}, fixed_seed, "means of shape [3]");
  cases.bad(op, {ints({}), one, one, one, one}, fixed_seed, "shape has no dimensions");
}

void add_binomial_cases(OpCases& cases) {
  const char* const op = "RandomBinomial";
  const Tensor counts = doubles(Shape{3}, {5, 100, 1e9}), half = doubles({}, {0.5});
  cases.good_in_every_type(op, {ints({3, 7}), ints({4, 30, 900}), int_scalar(1)}, fixed_seed);
  cases.good(op, {ints({3, 501}), counts, half}, fixed_seed);
  cases.good(op, {ints({7}), doubles(Shape{7}, {0, -3, NAN, HUGE_VAL, 1e300, 2.9, 50}), half}, fixed_seed);
  cases.good(op, {ints({6, 3}), doubles(Shape{1}, {40}), doubles(Shape{6}, {0, -1, 1, 2, NAN, 1e-300})},
             fixed_seed);
  for (const DType dtype : {DType::Half, DType::Float})
    cases.good(op, {ints({5}), converted(doubles({}, {40}), dtype), converted(half, dtype)}, fixed_seed);
  cases.good(op, {ints({0, 5}), doubles(Shape{0}, {}), half}, fixed_seed);
  cases.good(op, {ints({3, 0}), counts, half}, fixed_seed);
  cases.bad(op, {ints({2, 3}), counts, half}, fixed_seed,
            "counts of shape [3] must be a scalar or have 2 elements");
  cases.bad(op, {ints({3, 3}), counts, doubles(Shape{1, 1}, {1})}, fixed_seed,
            "probs of shape [1,1] must be a scalar");
  cases.bad(op, {ints({}), half, half}, fixed_seed, "shape has no dimensions");
  cases.bad(op, {ints({3, -1}), half, half}, fixed_seed, "-1");
}

void add_candidate_cases(OpCases& cases) {
  const Tensor classes = Tensor::vector<int64_t>({1, 2, 0, 4, 3, 3});
  const Tensor matrix = classes.reshaped(Shape{3, 2});
  const Tensor scalar = Tensor::scalar<int64_t>(1);
  const auto attrs = [](int64_t sampled, bool unique, Attributes more) {
    more.set("seed", int64_t{3});
    more.set("num_true", int64_t{2});
    more.set("num_sampled", sampled);
    more.set("unique", unique);
    return more;
  };
  const Attributes range = {{"range_max", int64_t{7}}};
  const Attributes unigrams = {{"range_max", int64_t{7}},
                               {"num_reserved_ids", int64_t{1}},
                               {"unigrams", std::vector<float>{1, 2, 3, 0, 5, 6}}};
  for (const auto& [op, more] : {std::pair<std::string, Attributes>{"UniformCandidateSampler", range},
                                 {"LogUniformCandidateSampler", range},
                                 {"LearnedUnigramCandidateSampler", range},
                                 {"ThreadUnsafeUnigramCandidateSampler", range},
                                 {"FixedUnigramCandidateSampler", unigrams},
                                 {"AllCandidateSampler", {}}}) {
    for (const bool unique : {false, true}) {
      cases.good(op, {matrix}, attrs(5, unique, more));
      cases.good(op, {value_or_throw(Tensor::allocate(DType::Int64, Shape{0, 2}))}, attrs(3, unique, more));
    }
    cases.good(op, {Tensor::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 0, 1, 2}).reshaped(Shape{5, 2})},
               attrs(37, false, more));
    cases.bad(op, {scalar}, attrs(3, true, more), "true_classes of shape []");
    cases.bad(op, {classes.reshaped(Shape{2, 3})}, attrs(3, true, more), "3");
    if (more.size() > 0) cases.bad(op, {matrix}, attrs(8, true, more), "unique classes can be drawn");
  }
  const auto refuse = [&](Attributes changed, const char* text, Code code = Code::InvalidArgument) {
    cases.bad("FixedUnigramCandidateSampler", {matrix}, attrs(3, false, std::move(changed)), text, code);
  };
  const auto with = [&](const char* name, AttrValue value) {
    Attributes changed = unigrams;
    changed.set(name, std::move(value));
    return changed;
  };
  refuse(with("range_max", int64_t{8}),
         "range_max is 8; it must be num_reserved_ids = 1 and the 6 unigrams together");
  refuse(with("vocab_file", std::string("words")), "a vocab_file is not read", Code::Unimplemented);
  refuse(with("shard", int64_t{1}), "shard is 1; it must be below num_shards = 1");
  refuse(with("unigrams", std::vector<float>{1, 2, 3, -1, 5, 6}), "the unigram -1.000000 is below 0");
  refuse(with("unigrams", std::vector<float>{0, 0, 0, 0, 0, 0}),
         "no class of the shard has a weight above 0");
  const std::string op = "ComputeAccidentalHits";
  const Attributes two = {{"num_true", int64_t{2}}};
  cases.good(op, {matrix, Tensor::vector<int64_t>({3, 9, 0, 3, 5})}, two);
  cases.good(op, {value_or_throw(Tensor::allocate(DType::Int64, Shape{0, 2})), Tensor::vector<int64_t>({3})},
             two);
  cases.bad(op, {matrix, scalar}, two, "sampled_candidates of shape []");
  cases.bad(op, {classes, classes}, two, "true_classes of shape [6]");
  cases.bad(op, {matrix, classes}, {{"num_true", int64_t{3}}}, "3");
}

}  // namespace

void add_random_cases(OpCases& cases) {
  const Attributes seeded = {{"seed", int64_t{3}}, {"dtype", f32}};
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    cases.good_in_every_type(op, {ints({3, 7})}, seeded);
    cases.good(op, {ints({3, 70001})}, seeded);
    cases.good(op, {ints({3, 0})}, seeded);
    cases.good(op, {ints({})}, seeded);
    cases.bad(op, {ints({3, -1})}, seeded, "-1");
  }
  cases.good_in_every_type("RandomUniformInt", {ints({7}), int_scalar(-5), int_scalar(9)}, fixed_seed);
  cases.good("RandomUniformInt", {ints({70001}), int_scalar(-5), int_scalar(9)}, fixed_seed);
  cases.good("RandomUniformInt", {ints({0}), int_scalar(-5), int_scalar(9)}, fixed_seed);
  cases.bad("RandomUniformInt", {ints({3}), int_scalar(9), int_scalar(9)}, fixed_seed, "9");
  cases.good_in_every_type("RandomShuffle", {random_doubles(Shape{11, 3}, 0, 1)}, fixed_seed);
  cases.good("RandomShuffle", {random_doubles(Shape{0, 2}, 0, 1)}, fixed_seed);
  cases.good("RandomShuffle", {doubles({}, {1})}, fixed_seed);
  cases.bad("RandomShuffle", {}, fixed_seed, "takes 1 inputs, got 0");
  add_stateless_cases(cases);
  add_counted_cases(cases);
  add_category_cases(cases);
  add_distribution_cases(cases);
  add_binomial_cases(cases);
  add_candidate_cases(cases);
}

}  // namespace troupe::test
