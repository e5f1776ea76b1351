// ReverseSequence on GPUs: see reverse_sequence.cpp.
#include "kernels/ops/array/reverse_sequence.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/storage.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

gpu::ElementAxis element_axis(std::span<const int64_t> dims, size_t axis) {
  return {count_of(dims.subspan(axis + 1)), static_cast<size_t>(dims[axis])};
}

template <class T>
struct Reverse {
  const T* from;
  T* to;
  gpu::Indices lengths;
  gpu::ElementAxis sequence, batch;
  gpu::FaultReport report;

  TROUPE_ANY void operator()(size_t i) const {
    const int64_t length = lengths(batch.index_of(i)), at = static_cast<int64_t>(sequence.index_of(i));
    const auto most = static_cast<int64_t>(sequence.size.divisor());
    if (length < 0 || length > most) {
      report(length, most);
      return;
    }
    const int64_t shift = at < length ? length - 1 - 2 * at : 0;
    to[i] = from[static_cast<int64_t>(i) + shift * static_cast<int64_t>(sequence.step.divisor())];
  }
};

Status compute_reverse_sequence(const ReverseSequenceArguments& arguments, DeviceContext& device) {
  const auto& [input, lengths, output, axes] = arguments;
  if (output.elements() == 0) return {};
  const auto dims = input.shape().dims();
  const gpu::ElementAxis sequence = element_axis(dims, axes.sequence), batch = element_axis(dims, axes.batch);
  const gpu::FaultReport report = gpu::fault_report(device, "seq_lengths = {} is not in [0, {}]");
  TROUPE_RETURN_IF_FAILED(gpu::with_stored(output.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, static_cast<size_t>(arguments.output.elements()),
                     Reverse<T>{gpu::stored<T>(arguments.input), gpu::stored<T>(arguments.output),
                                gpu::Indices(arguments.lengths), sequence, batch, report});
  }));
  return gpu::check_fault(device);
}

}  // namespace

void add_reverse_sequence_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("ReverseSequence", check_reverse_sequence, compute_reverse_sequence)
                     .on("T", dtypes(gpu::MovedTypesAndIntegers{})));
}

}  // namespace troupe
