// ReverseSequence on GPUs: see reverse_sequence.cpp.
#include "kernels/ops/array/reverse_sequence.h"

#include "kernels/gpu/divider.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/storage.h"
#include "kernels/loops/rows.h"

namespace troupe {
namespace {

/// A dimension in a walk over the elements of a tensor.
struct ElementAxis {
  gpu::Divider step, size;
  ElementAxis(std::span<const int64_t> dims, size_t axis)
      : step(count_of(dims.subspan(axis + 1))), size(static_cast<size_t>(dims[axis])) {}
  TROUPE_ANY size_t index_of(size_t i) const {
    const size_t at = step.quotient(i);
    return at - size.quotient(at) * size.divisor();
  }
};

template <class T>
struct Reverse {
  const T* from;
  T* to;
  gpu::Indices lengths;
  ElementAxis sequence, batch;
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
  const ElementAxis sequence(dims, axes.sequence), batch(dims, axes.batch);
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
