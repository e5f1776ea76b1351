// Samples of connectionist temporal classification.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor pairs(std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(Shape{static_cast<int64_t>(values.size()) / 2, 2}, values);
}

/// Labels 0, 1, 2, .. for each of `batch` sequences.
std::vector<Tensor> labels_of(int64_t batch, int64_t count) {
  std::vector<int64_t> indices;
  std::vector<int32_t> values;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t i = 0; i < count; ++i) {
      indices.insert(indices.end(), {b, i});
      values.push_back(static_cast<int32_t>((b + i / 2) % 7));
    }
  return {Tensor::vector<int64_t>(indices).reshaped(Shape{batch * count, 2}),
          Tensor::vector<int32_t>(values)};
}

void add_good_losses(OpCases& cases) {
  const char* const op = "CTCLoss";
  const Tensor x = random_doubles(Shape{5, 2, 5}, -3, 3), indices = pairs({0, 0, 0, 1, 1, 3});
  const Tensor repeated = ints({2, 2, 0}), lengths = ints({5, 3});
  for (const bool collapses : {false, true})
    for (const bool merges : {false, true})
      cases.good_in_every_type(op, {x, indices, repeated, lengths},
                               {{"preprocess_collapse_repeated", collapses}, {"ctc_merge_repeated", merges}});
  for (const int32_t end : {4, 5, 9, INT32_MAX}) cases.good(op, {x, indices, ints({2, end, 4}), lengths});
  cases.good(op, {x, indices, repeated, ints({2, 1})});
  const Attributes ignoring{{"ignore_longer_outputs_than_inputs", true}};
  cases.good(op, {x, indices, repeated, ints({1, 5})}, ignoring);
  cases.good(op, {x, indices, repeated, ints({0, 0})}, ignoring);
  cases.good(op, {random_doubles(Shape{0, 2, 5}, 0, 1), indices, repeated, ints({0, 0})}, ignoring);
  cases.good(op, {random_doubles(Shape{4, 1, 1}, 0, 1), pairs({0, 0}), ints({0}), ints({4})});
  const std::vector<Tensor> labels = labels_of(9, 20);
  cases.good(op, {converted(random_doubles(Shape{70, 9, 31}, -40, 40), f32), labels[0], labels[1],
                  ints({70, 69, 20, 40, 50, 60, 33, 44, 55})});
}

void add_bad_losses(OpCases& cases) {
  const char* const op = "CTCLoss";
  const Tensor x = random_doubles(Shape{3, 2, 4}, -3, 3), lengths = ints({3, 3});
  cases.bad(op,
            {random_doubles(Shape{5, 0, 5}, 0, 1), Tensor::of<int64_t>(Shape{0, 2}, {}), ints({}), ints({})},
            {}, "empty batch");
  const Tensor each = pairs({0, 0, 1, 0}), values = ints({0, 1}), more = pairs({0, 0, 0, 1, 1, 0});
  const auto refuse = [&](const Tensor& indices, const Tensor& labels, const Tensor& steps,
                          const char* text) {
    cases.bad(op, {x, indices, labels, steps}, {}, text);
  };
  refuse(pairs({0, 0}), ints({0}), lengths, "sequence 1 has no labels");
  refuse(pairs({1, 0, 0, 0}), values, lengths, "labels_indices[1] = [0,0] does not come after");
  refuse(pairs({0, 0, 0, 0}), values, lengths, "labels_indices[1] = [0,0] does not come after");
  refuse(pairs({0, 0, 2, 0}), values, lengths, "labels_indices[1] = [2,0] is outside a batch of 2 sequences");
  refuse(pairs({-1, 0, 1, 0}), values, lengths, "labels_indices[0] = [-1,0] is outside");
  refuse(pairs({0, 0, INT64_MAX, 0}), values, lengths, "is outside a batch of 2 sequences");
  refuse(pairs({0, INT64_MIN, 1, 0}), values, lengths, "is outside a batch");
  refuse(each, ints({-1, 1}), lengths,
         "labels_values[0] = -1 of sequence 0 is negative; a label must be in [0, 3), or at least the blank, "
         "which is 3, to end the sequence");
  refuse(more, ints({0, 1, INT32_MIN}), lengths, "labels_values[2] = -2147483648 of sequence 1 is negative");
  refuse(more, ints({3, -1, 1}), lengths, "labels_values[1] = -1 of sequence 0 is negative");
  for (const int32_t end : {3, 4, INT32_MAX})
    refuse(
        more, ints({end, 0, 1}), lengths,
        "labels_values[1] = 0 of sequence 0 comes after the end of the sequence; a label must be in [0, 3)");
  refuse(more, ints({0, 1, 1}), ints({1, 3}), "sequence 0 has 2 labels and 1 steps");
  refuse(each, values, ints({4, 3}), "sequence_length[0] is 4; it must be in [0, 3]");
  refuse(each, values, ints({3, -1}), "sequence_length[1] is -1; it must be in [0, 3]");
  refuse(each, values, ints({3, INT32_MAX}), "it must be in [0, 3]");
  refuse(each, values, ints({3}), "");
  refuse(each, ints({0}), lengths, "");
  refuse(each.reshaped(Shape{4}), values, lengths, "");
  refuse(Tensor::of<int64_t>(Shape{2, 1}, {0, 1}), values, lengths, "");
  refuse(each, int_scalar(0), lengths, "");
  cases.bad(op, {doubles({}, {1}), each, values, lengths}, {}, "");
  cases.bad(op, {random_doubles(Shape{3, 2, 0}, 0, 1), each, values, lengths}, {},
            "inputs has shape [3,2,0]");
}

void add_greedy_decoder_cases(OpCases& cases) {
  const char* const op = "CTCGreedyDecoder";
  const Tensor x = random_doubles(Shape{7, 3, 4}, -3, 3), lengths = ints({7, 0, 5});
  for (const bool merges : {false, true})
    for (const int64_t blank : {-1, 0, 3, -4})
      cases.good_in_every_type(op, {x, lengths}, {{"merge_repeated", merges}, {"blank_index", blank}});
  cases.good(op, {random_doubles(Shape{3, 0, 2}, 0, 1), ints({})});
  cases.good(op, {doubles(Shape{4, 1, 2}, {1, 1, 1, 0, 0, 1, 1, 0}), ints({4})}, {{"merge_repeated", true}});
  cases.good(op, {converted(random_doubles(Shape{300, 9, 501}, -3, 3), f32),
                  converted(random_doubles(Shape{9}, 0, 300), i32)});
  for (const int64_t blank : {int64_t{4}, int64_t{-5}, INT64_MAX, INT64_MIN})
    cases.bad(op, {x, lengths}, {{"blank_index", blank}}, "it must be in [-4, 4)");
  cases.bad(op, {x, ints({7, 8, 5})}, {}, "sequence_length[1] is 8; it must be in [0, 7]");
  cases.bad(op, {x, ints({7, 3, -1})}, {}, "sequence_length[2] is -1; it must be in [0, 7]");
  cases.bad(op, {x, ints({7, 3})}, {}, "");
  cases.bad(op, {x, int_scalar(3)}, {}, "");
  cases.bad(op, {random_doubles(Shape{0, 3, 4}, 0, 1), ints({0, 0, 0})}, {}, "inputs has shape [0,3,4]");
  cases.bad(op, {random_doubles(Shape{7, 3, 0}, 0, 1), lengths}, {}, "inputs has shape [7,3,0]");
  cases.bad(op, {doubles({}, {1}), lengths}, {}, "");
}

void add_beam_search_cases(OpCases& cases) {
  const char* const op = "CTCBeamSearchDecoder";
  const Tensor x = random_doubles(Shape{7, 3, 4}, -3, 3), lengths = ints({7, 1, 5});
  const auto beam = [](int64_t width, int64_t paths, bool merges = true) {
    return Attributes{{"beam_width", width}, {"top_paths", paths}, {"merge_repeated", merges}};
  };
  for (const bool merges : {false, true}) cases.good_in_every_type(op, {x, lengths}, beam(5, 3, merges));
  cases.good(op, {x, ints({7, 0, 5})}, beam(2, 1));
  cases.good(op, {random_doubles(Shape{3, 0, 2}, 0, 1), ints({})}, beam(2, 1));
  cases.good(op, {random_doubles(Shape{3, 1, 1}, 0, 1), ints({3})}, beam(2, 1));
  cases.good(op,
             {converted(random_doubles(Shape{40, 9, 31}, -3, 3), f32), ints({40, 1, 2, 3, 30, 20, 9, 8, 7})},
             beam(10, 2));
  cases.bad(op, {x, lengths}, beam(2, 3), "top_paths is 3; it must be at most beam_width, which is 2");
  cases.bad(op, {x, lengths}, beam(0, 1), "0");
  cases.bad(op, {x, lengths}, beam(3, 0), "0");
  cases.bad(op, {x, ints({7, 0, 5})}, beam(3, 2), "sequence 1 has fewer paths than top_paths = 2");
  cases.bad(op, {x, ints({7, 8, 5})}, beam(3, 1), "sequence_length[1] is 8; it must be in [0, 7]");
  cases.bad(op, {x, ints({7, 3})}, beam(3, 1), "");
  cases.bad(op, {random_doubles(Shape{0, 3, 4}, 0, 1), ints({0, 0, 0})}, beam(3, 1),
            "inputs has shape [0,3,4]");
  cases.bad(op, {doubles({}, {1}), lengths}, beam(3, 1), "");
}

}  // namespace

void add_ctc_cases(OpCases& cases) {
  add_good_losses(cases);
  add_bad_losses(cases);
  add_greedy_decoder_cases(cases);
  add_beam_search_cases(cases);
}

}  // namespace troupe::test
