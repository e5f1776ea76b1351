// CTCGreedyDecoder(inputs, sequence_length): of each sequence of a batch the most probable class of each step, without blanks.
// `inputs` [time, batch, classes] are logits; the blank is class blank_index, where a negative number counts from the last class
// on. With merge_repeated, equal classes at neighbouring steps count once. Of equal logits the first counts. Sequence b has the
// first sequence_length[b] steps. The decoded classes are a sparse matrix [batch, longest sequence]; log_probability [batch, 1]
// is minus the sum of the greatest logits. Float or double. Fails with InvalidArgument for an input without steps or classes, for
// a sequence_length outside [0, time], and for a blank_index outside [-classes, classes). Not differentiable.
#include <algorithm>
#include <numeric>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

// ---- Checks

Status decoder_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto inputs, context.with_rank(0, 3));
  TROUPE_ASSIGN(const auto lengths, context.with_rank(1, 1));
  TROUPE_ASSIGN(const auto batch, merge(lengths, PartialShape{inputs[1]}));
  context.set_output(0, PartialShape{unknown_dim, 2});
  context.set_output(1, PartialShape{unknown_dim});
  context.set_output(2, PartialShape{2});
  context.set_output(3, PartialShape{batch[0], 1});
  return {};
}

struct DecoderArguments {
  const Tensor &inputs, &lengths;
  Tensor& log_probability;
  int64_t blank;
  bool merges;
  std::vector<std::vector<int64_t>> decoded;  ///< the classes of each sequence, set by the measurement
  Tensor *indices, *values, *shape;           ///< set once their sizes are known
};

Result<int64_t> blank_of(const Node& node, int64_t classes) {
  const auto index = node.attrs.get<int64_t>("blank_index");
  if (index >= -classes && index < classes) return index < 0 ? index + classes : index;
  return invalid_argument("blank_index is " + std::to_string(index) + "; it must be in [-" +
                          std::to_string(classes) + ", " + std::to_string(classes) + ")");
}

Result<DecoderArguments> check_decoder(KernelContext& context) {
  const Tensor &inputs = context.input(0), &lengths = context.input(1);
  const Shape& shape = inputs.shape();
  if (shape.rank() != 3 || shape[0] < 1 || shape[2] < 1)
    return invalid_argument("inputs has shape " + shape.text() +
                            "; it must have shape [time, batch, classes], with at least one step and class");
  if (!(lengths.shape() == Shape::vector(shape[1])))
    return invalid_argument("sequence_length has shape " + lengths.shape().text() + "; it must have shape [" +
                            std::to_string(shape[1]) + "]");
  TROUPE_ASSIGN(const int64_t blank, blank_of(context.node(), shape[2]));
  TROUPE_ASSIGN(Tensor* const log_probability, context.output(3, Shape{shape[1], 1}));
  return DecoderArguments{
      inputs, lengths, *log_probability, blank,  context.node().attrs.get<bool>("merge_repeated"),
      {},     nullptr, nullptr,          nullptr};
}

// ---- Decoding

/// Decodes one sequence and returns minus the sum of the greatest logits.
template <class T>
T decode(const DecoderArguments& arguments, size_t b, int32_t steps, std::vector<int64_t>& decoded) {
  const auto batch = static_cast<size_t>(arguments.inputs.shape()[1]);
  const auto classes = static_cast<size_t>(arguments.inputs.shape()[2]);
  const T* row = arguments.inputs.as<T>().data() + b * classes;
  T sum{0};
  int64_t before = -1;
  for (int32_t t = 0; t < steps; ++t, row += batch * classes) {
    const T* const greatest = std::max_element(row, row + classes);
    const int64_t found = greatest - row;
    sum -= *greatest;
    if (found != arguments.blank && !(arguments.merges && found == before)) decoded.push_back(found);
    before = found;
  }
  return sum;
}

Status measure_decoder(DecoderArguments& arguments, DeviceContext& device) {
  const auto lengths = arguments.lengths.as<int32_t>();
  const int64_t time = arguments.inputs.shape()[0];
  for (size_t b = 0; b < lengths.size(); ++b)
    if (lengths[b] < 0 || lengths[b] > time)
      return invalid_argument("sequence_length[" + std::to_string(b) + "] is " + std::to_string(lengths[b]) +
                              "; it must be in [0, " + std::to_string(time) + "]");
  arguments.decoded.assign(lengths.size(), {});
  const size_t cost = arguments.inputs.bytes() / std::max<size_t>(lengths.size(), 1);
  with_type(FloatTypes{}, arguments.inputs.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto log_probability = arguments.log_probability.write<T>();
    parallel_rows(device.pool(), lengths.size(), cost, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b)
        log_probability[b] = decode<T>(arguments, b, lengths[b], arguments.decoded[b]);
    });
  });
  return {};
}

Status allocate_decoded(DecoderArguments& arguments, KernelContext& context) {
  const auto& decoded = arguments.decoded;
  const int64_t count = std::accumulate(
      decoded.begin(), decoded.end(), int64_t{0},
      [](int64_t sum, const auto& sequence) { return sum + static_cast<int64_t>(sequence.size()); });
  TROUPE_ASSIGN(arguments.indices, context.output(0, Shape{count, 2}));
  TROUPE_ASSIGN(arguments.values, context.output(1, Shape::vector(count)));
  TROUPE_ASSIGN(arguments.shape, context.output(2, Shape::vector(2)));
  return {};
}

void write_decoded(const DecoderArguments& arguments, DeviceContext&) {
  int64_t* index = arguments.indices->write<int64_t>().data();
  int64_t* value = arguments.values->write<int64_t>().data();
  size_t longest = 0;
  for (size_t b = 0; b < arguments.decoded.size(); ++b) {
    const auto& sequence = arguments.decoded[b];
    longest = std::max(longest, sequence.size());
    value = std::ranges::copy(sequence, value).out;
    for (size_t i = 0; i < sequence.size(); ++i) {
      *index++ = static_cast<int64_t>(b);
      *index++ = static_cast<int64_t>(i);
    }
  }
  const auto shape = arguments.shape->write<int64_t>();
  shape[0] = static_cast<int64_t>(arguments.decoded.size());
  shape[1] = static_cast<int64_t>(longest);
}

}  // namespace

void add_ctc_decoder(OpLibrary& library) {
  library.op(OpDefBuilder("CTCGreedyDecoder")
                 .input("inputs: T")
                 .input("sequence_length: int32")
                 .output("decoded_indices: int64")
                 .output("decoded_values: int64")
                 .output("decoded_shape: int64")
                 .output("log_probability: T")
                 .attr("merge_repeated: bool = false")
                 .attr("blank_index: int = -1")
                 .attr("T: {float, double} = float")
                 .shape(decoder_shape)
                 .not_differentiable());
  library.kernel(measured_cpu_kernel("CTCGreedyDecoder", check_decoder, measure_decoder, allocate_decoded,
                                     write_decoded));
}

}  // namespace troupe
