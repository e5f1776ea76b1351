// CTCGreedyDecoder(inputs, sequence_length): of each sequence of a batch the most probable class of each step, without blanks.
// `inputs` [time, batch, classes] are logits; the blank is class blank_index, where a negative number counts from the last class
// on. With merge_repeated, equal classes at neighbouring steps count once. Of equal logits the first counts. Sequence b has the
// first sequence_length[b] steps. The decoded classes are a sparse matrix [batch, longest sequence]; log_probability [batch, 1]
// is minus the sum of the greatest logits. Float or double. Fails with InvalidArgument for an input without steps or classes, for
// a sequence_length outside [0, time], and for a blank_index outside [-classes, classes). Not differentiable.
#include <algorithm>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/nn/ctc_paths.h"

namespace troupe {
namespace {

// ---- Checks

Status decoder_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto batch, decoder_batch(context));
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
  DecodedPath path = {};  ///< its sequences are set by the measurement
};

Result<int64_t> blank_of(const Node& node, int64_t classes) {
  const auto index = node.attrs.get<int64_t>("blank_index");
  if (index >= -classes && index < classes) return index < 0 ? index + classes : index;
  return invalid_argument("blank_index is " + std::to_string(index) + "; it must be in [-" +
                          std::to_string(classes) + ", " + std::to_string(classes) + ")");
}

Result<DecoderArguments> check_decoder(KernelContext& context) {
  TROUPE_RETURN_IF_FAILED(check_decoder_inputs(context));
  const Tensor& inputs = context.input(0);
  TROUPE_ASSIGN(const int64_t blank, blank_of(context.node(), inputs.shape()[2]));
  TROUPE_ASSIGN(Tensor* const log_probability, context.output(3, Shape{inputs.shape()[1], 1}));
  return DecoderArguments{inputs, context.input(1), *log_probability, blank,
                          context.node().attrs.get<bool>("merge_repeated")};
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
  TROUPE_RETURN_IF_FAILED(check_lengths(arguments.inputs, arguments.lengths));
  const auto lengths = arguments.lengths.as<int32_t>();
  auto& sequences = arguments.path.sequences;
  sequences.assign(lengths.size(), {});
  const size_t cost = arguments.inputs.bytes() / std::max<size_t>(lengths.size(), 1);
  with_type(FloatTypes{}, arguments.inputs.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto log_probability = arguments.log_probability.write<T>();
    parallel_rows(device.pool(), lengths.size(), cost, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b)
        log_probability[b] = decode<T>(arguments, b, lengths[b], sequences[b]);
    });
  });
  return {};
}

Status allocate_decoded(DecoderArguments& arguments, KernelContext& context) {
  return allocate_path(arguments.path, context, 0, 1);
}

void write_decoded(const DecoderArguments& arguments, DeviceContext&) { write_path(arguments.path); }

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
