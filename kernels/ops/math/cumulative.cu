// Cumsum, Cumprod and CumulativeLogsumexp on GPUs: see cumulative.cpp. Lines are cut into chunks: first each chunk is combined,
// then the chunks before each, and last the elements of each chunk. Narrow floats are combined in float.
#include "kernels/ops/math/cumulative.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/gpu/divider.h"
#include "kernels/gpu/functions.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"

namespace troupe {
namespace {

struct Sums : gpu::Add {
  template <class W>
  TROUPE_ANY static W neutral() {
    return 0;
  }
};
struct Products : gpu::Mul {
  template <class W>
  TROUPE_ANY static W neutral() {
    return 1;
  }
};
/// log(exp(a) + exp(b)), without overflow.
struct LogSums {
  template <class W>
  TROUPE_ANY static W neutral() {
    return -std::numeric_limits<W>::infinity();
  }
  template <class W>
  TROUPE_ANY W operator()(W a, W b) const {
    if (a == b) return a + std::numbers::ln2_v<W>;  // of two infinities, too
    const W most = a < b ? b : a, least = a < b ? a : b;
    return most + std::log1p(std::exp(least - most));
  }
};

/// The elements of the chunks of all lines. Neighbouring threads have neighbouring lines.
struct Chunks {
  gpu::Divider lines, step;
  size_t length, chunk;
  bool reverse;

  size_t per_line() const { return (length + chunk - 1) / chunk; }
  /// Calls visit(position) for each element of chunk number `call`, in the order of the line.
  template <class Visit>
  TROUPE_ANY void walk(size_t call, const Visit& visit) const {
    const size_t number = lines.quotient(call), line = call - number * lines.divisor();
    const size_t run = step.quotient(line),
                 base = run * step.divisor() * length + (line - run * step.divisor());
    const size_t begin = number * chunk, end = begin + chunk < length ? begin + chunk : length;
    for (size_t i = begin; i < end; ++i) visit(base + (reverse ? length - 1 - i : i) * step.divisor());
  }
};

template <class F, class T>
struct CombineChunk {
  Chunks chunks;
  const T* x;
  gpu::Wide<T>* totals;  ///< of chunk c of line l at c * lines + l

  TROUPE_ANY void operator()(size_t call) const {
    gpu::Wide<T> total = F::template neutral<gpu::Wide<T>>();
    chunks.walk(call, [&](size_t at) { total = F()(total, gpu::load(x[at])); });
    totals[call] = total;
  }
};

/// Replaces the totals of the chunks of a line by those of all chunks before them.
template <class F, class W>
struct CombineTotals {
  W* totals;
  size_t lines, chunks;

  TROUPE_ANY void operator()(size_t line) const {
    W before = F::template neutral<W>();
    for (size_t c = 0; c < chunks; ++c) {
      const W total = totals[c * lines + line];
      totals[c * lines + line] = before;
      before = F()(before, total);
    }
  }
};

template <class F, class T>
struct CombineElements {
  Chunks chunks;
  const T* x;
  T* y;
  const gpu::Wide<T>* before;  ///< null if each line is one chunk
  bool exclusive;

  TROUPE_ANY void operator()(size_t call) const {
    gpu::Wide<T> total = before ? before[call] : F::template neutral<gpu::Wide<T>>();
    chunks.walk(call, [&](size_t at) {
      const gpu::Wide<T> element = gpu::load(x[at]), after = F()(total, element);
      gpu::store(y[at], exclusive ? total : after);
      total = after;
    });
  }
};

/// Returns the length of chunks, so that many of them are computed at a time.
size_t chunk_for(const CumulativeArguments& arguments) {
  constexpr size_t many_lines = 1 << 14, least = 32;
  if (arguments.count >= many_lines) return arguments.length;
  return std::max(least, static_cast<size_t>(std::sqrt(static_cast<double>(arguments.length))));
}

template <class F, class T>
Status combine(const CumulativeArguments& arguments, DeviceContext& device) {
  using W = gpu::Wide<T>;
  const auto& [x, y, count, length, step, exclusive, reverse] = arguments;
  const T* const from = x.template as<T>().data();
  T* const to = arguments.y.write<T>().data();
  const Chunks chunks{gpu::Divider(count), gpu::Divider(step), length, chunk_for(arguments), reverse};
  const size_t per_line = chunks.per_line();
  if (per_line == 1)
    return gpu::each(device, count, CombineElements<F, T>{chunks, from, to, nullptr, exclusive});
  TROUPE_ASSIGN(const BufferRef memory, gpu::scratch(device, count * per_line * sizeof(W)));
  W* const totals = reinterpret_cast<W*>(memory->data);
  TROUPE_RETURN_IF_FAILED(gpu::each(device, count * per_line, CombineChunk<F, T>{chunks, from, totals}));
  TROUPE_RETURN_IF_FAILED(gpu::each(device, count, CombineTotals<F, W>{totals, count, per_line}));
  return gpu::each(device, count * per_line, CombineElements<F, T>{chunks, from, to, totals, exclusive});
}

template <class F>
Status compute_cumulative(const CumulativeArguments& arguments, DeviceContext& device) {
  if (arguments.y.elements() == 0) return {};
  return gpu::for_type(gpu::AllFloats{}, arguments.y.dtype(),
                       [&]<class T>(std::type_identity<T>) { return combine<F, T>(arguments, device); });
}

}  // namespace

void add_cumulative_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(gpu_kernel("Cumprod", check_cumulative, compute_cumulative<Products>).on("T", types));
  library.kernel(gpu_kernel("Cumsum", check_cumulative, compute_cumulative<Sums>).on("T", types));
  library.kernel(
      gpu_kernel("CumulativeLogsumexp", check_cumulative, compute_cumulative<LogSums>).on("T", types));
}

}  // namespace troupe
