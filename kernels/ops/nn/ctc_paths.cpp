#include "kernels/ops/nn/ctc_paths.h"

#include <algorithm>
#include <numeric>

namespace troupe {

Result<PartialShape> decoder_batch(const ShapeContext& context) {
  TROUPE_ASSIGN(const auto inputs, context.with_rank(0, 3));
  TROUPE_ASSIGN(const auto lengths, context.with_rank(1, 1));
  return merge(lengths, PartialShape{inputs[1]});
}

Status check_decoder_inputs(const KernelContext& context) {
  const Shape &inputs = context.input(0).shape(), &lengths = context.input(1).shape();
  if (inputs.rank() != 3 || inputs[0] < 1 || inputs[2] < 1)
    return invalid_argument("inputs has shape " + inputs.text() +
                            "; it must have shape [time, batch, classes], with at least one step and class");
  if (lengths == Shape::vector(inputs[1])) return {};
  return invalid_argument("sequence_length has shape " + lengths.text() + "; it must have shape [" +
                          std::to_string(inputs[1]) + "]");
}

Status check_lengths(const Tensor& logits, const Tensor& lengths) {
  const auto values = lengths.as<int32_t>();
  const int64_t time = logits.shape()[0];
  for (size_t b = 0; b < values.size(); ++b)
    if (values[b] < 0 || values[b] > time)
      return invalid_argument("sequence_length[" + std::to_string(b) + "] is " + std::to_string(values[b]) +
                              "; it must be in [0, " + std::to_string(time) + "]");
  return {};
}

Status allocate_path(DecodedPath& path, KernelContext& context, size_t first, size_t step) {
  const int64_t count = std::accumulate(
      path.sequences.begin(), path.sequences.end(), int64_t{0},
      [](int64_t sum, const auto& sequence) { return sum + static_cast<int64_t>(sequence.size()); });
  TROUPE_ASSIGN(path.indices, context.output(first, Shape{count, 2}));
  TROUPE_ASSIGN(path.values, context.output(first + step, Shape::vector(count)));
  TROUPE_ASSIGN(path.shape, context.output(first + 2 * step, Shape::vector(2)));
  return {};
}

void write_path(const DecodedPath& path) {
  int64_t* index = path.indices->write<int64_t>().data();
  int64_t* value = path.values->write<int64_t>().data();
  size_t longest = 0;
  for (size_t b = 0; b < path.sequences.size(); ++b) {
    const auto& sequence = path.sequences[b];
    longest = std::max(longest, sequence.size());
    value = std::ranges::copy(sequence, value).out;
    for (size_t i = 0; i < sequence.size(); ++i) {
      *index++ = static_cast<int64_t>(b);
      *index++ = static_cast<int64_t>(i);
    }
  }
  const auto shape = path.shape->write<int64_t>();
  shape[0] = static_cast<int64_t>(path.sequences.size());
  shape[1] = static_cast<int64_t>(longest);
}

}  // namespace troupe
