// Where on GPUs: see where.cpp. The tensor is cut into chunks: first the elements of each chunk that are not zero are counted, then
// those of all chunks up to each, and last the positions are written.
#include "kernels/ops/array/where.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/prefix_sum.h"
#include "kernels/gpu/read_back_kernel.h"

namespace troupe {
namespace {

using WhereTypes = TypeList<float, double, Half, BFloat16, bool>;
constexpr size_t chunk = 32;  ///< elements that one thread counts

size_t chunks_of(const Tensor& tensor) {
  return (static_cast<size_t>(tensor.elements()) + chunk - 1) / chunk;
}

/// Calls visit(i) for each element of chunk number `call` that is not zero.
template <class T>
struct HeldElements {
  const T* data;
  size_t n;

  template <class Visit>
  TROUPE_ANY void visit(size_t call, const Visit& visit) const {
    const size_t begin = call * chunk, end = begin + chunk < n ? begin + chunk : n;
    for (size_t i = begin; i < end; ++i)
      if (gpu::load(data[i]) != gpu::Wide<T>{}) visit(i);
  }
};

template <class T>
struct CountHeld {
  HeldElements<T> held;
  int64_t* counts;

  TROUPE_ANY void operator()(size_t call) const {
    int64_t count = 0;
    held.visit(call, [&](size_t) { ++count; });
    counts[call] = count;
  }
};

template <class T>
struct WritePositions {
  HeldElements<T> held;
  const int64_t* counts;  ///< of a chunk and all chunks before it
  const int64_t* dims;
  size_t rank;
  int64_t* index;

  TROUPE_ANY void operator()(size_t call) const {
    int64_t* to = index + (call == 0 ? 0 : counts[call - 1]) * static_cast<int64_t>(rank);
    held.visit(call, [&](size_t i) {
      auto rest = static_cast<int64_t>(i);
      for (size_t axis = rank; axis-- > 0; rest /= dims[axis]) to[axis] = rest % dims[axis];
      to += rank;
    });
  }
};

/// `scratch` holds the numbers up to each chunk, `measured` the number of all.
struct MeasuredWhere : WhereArguments {
  Tensor measured = {};
};

Result<MeasuredWhere> check_measured_where(KernelContext& context) {
  TROUPE_ASSIGN(WhereArguments arguments, check_where(context));
  const auto chunks = static_cast<int64_t>(chunks_of(arguments.input));
  TROUPE_ASSIGN(arguments.scratch, context.scratch(DType::Int64, Shape::vector(chunks)));
  TROUPE_ASSIGN(Tensor measured, context.scratch(DType::Int64, Shape{}));
  return MeasuredWhere{std::move(arguments), std::move(measured)};
}

template <class T>
HeldElements<T> held_in(const Tensor& tensor) {
  return {tensor.as<T>().data(), static_cast<size_t>(tensor.elements())};
}

Status measure_where(MeasuredWhere& arguments, DeviceContext& device) {
  const Tensor& input = arguments.input;
  const size_t chunks = chunks_of(input);
  if (chunks == 0) return gpu::clear(device, arguments.measured);
  auto* const counts = reinterpret_cast<int64_t*>(arguments.scratch.mutable_data());
  TROUPE_RETURN_IF_FAILED(gpu::for_type(WhereTypes{}, input.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::each(device, chunks, CountHeld<T>{held_in<T>(input), counts});
  }));
  TROUPE_RETURN_IF_FAILED(gpu::prefix_sum(device, chunks, counts));
  return gpu::copy(device, counts + chunks - 1, arguments.measured.mutable_data(), sizeof(int64_t));
}

Status allocate_positions(MeasuredWhere& arguments, KernelContext& context) {
  arguments.count = arguments.measured.as<int64_t>()[0];
  return allocate_where(arguments, context);
}

template <class T>
Status write_positions(const MeasuredWhere& arguments, DeviceContext& device) {
  const Shape& shape = arguments.input.shape();
  TROUPE_ASSIGN(const BufferRef dims, gpu::uploaded(device, shape.dims()));
  return gpu::each(device, chunks_of(arguments.input),
                   WritePositions<T>{held_in<T>(arguments.input), arguments.scratch.as<int64_t>().data(),
                                     reinterpret_cast<const int64_t*>(dims->data), shape.rank(),
                                     arguments.index->write<int64_t>().data()});
}

Status compute_where(const MeasuredWhere& arguments, DeviceContext& device) {
  if (arguments.index->elements() == 0) return {};
  return gpu::for_type(WhereTypes{}, arguments.input.dtype(),
                       [&]<class T>(std::type_identity<T>) { return write_positions<T>(arguments, device); });
}

}  // namespace

void add_where_on_gpu(OpLibrary& library) {
  library.kernel(
      measured_gpu_kernel("Where", check_measured_where, measure_where, allocate_positions, compute_where)
          .on("T", dtypes(WhereTypes{})));
}

}  // namespace troupe
