// Reductions on GPUs: combines the elements along the middle axis of a box [outer, reduced, inner]. What is read, how two values
// are combined and where the results go are function objects:
//   Source    Acc operator()(size_t i)               element i of the box
//   Combine   Acc neutral(), Acc operator()(a, b)    associative
//   Sink      void operator()(size_t output, Acc)    takes the result of output number outer * inner + column
// Acc is a number, or a struct of a multiple of four bytes. The order in which elements are combined depends on the sizes alone, so
// equal inputs give equal bits. Any thread may call these functions.
#pragma once

#include <algorithm>

#include "kernels/gpu/divider.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/map.h"
#include "kernels/loops/axis_reduction.h"

namespace troupe::gpu {

using Box = ReductionBox;

// ---- Sources and sinks

/// The elements of a tensor, or their squares.
template <class T, class Acc = Wide<T>>
struct TensorSource {
  static constexpr size_t width = 16 / sizeof(T);
  const T* data;
  bool squares = false;

  TROUPE_ANY Acc of(const T& element) const {
    const Acc x = static_cast<Acc>(load(element));
    return squares ? static_cast<Acc>(x * x) : x;
  }
  TROUPE_ANY Acc operator()(size_t i) const { return of(data[i]); }
  /// Reads `width` elements from i on, a multiple of `width`.
  TROUPE_ANY void read(size_t i, Acc* values) const {
    const Pack<T, width> pack = *reinterpret_cast<const Pack<T, width>*>(data + i);
    for (size_t k = 0; k < width; ++k) values[k] = of(pack.items[k]);
  }
  bool aligned() const { return is_aligned(data, 16); }
};

/// Partial results in scratch memory.
template <class Acc>
struct PartialSource {
  const Acc* data;
  TROUPE_ANY Acc operator()(size_t i) const { return data[i]; }
};
template <class Acc>
struct PartialSink {
  Acc* data;
  TROUPE_ANY void operator()(size_t output, Acc value) const { data[output] = value; }
};

namespace detail {

/// How many elements of a source are read at once: more than one if it has a function read().
template <class Source>
constexpr size_t width_of() {
  if constexpr (requires { Source::width; })
    return Source::width;
  else
    return 1;
}
/// Returns whether elements may be read `width` at a time in parts of `period` elements.
template <class Source>
bool reads_packs(const Source& source, size_t period) {
  if constexpr (width_of<Source>() > 1)
    return source.aligned() && period % Source::width == 0;
  else
    return false;
}

template <class Acc, class Combine, class Source>
struct Reader {
  static constexpr size_t width = width_of<Source>();
  Combine combine;
  Source source;

  /// Combines the elements first, first + step, ... below `end`.
  TROUPE_ANY Acc elements(size_t first, size_t end, size_t step) const {
    Acc total = combine.neutral();
    size_t i = first;
    for (; i + (at_once - 1) * step < end; i += at_once * step) {
      Acc values[at_once];
      for (size_t r = 0; r < at_once; ++r) values[r] = source(i + r * step);
      for (const Acc& value : values) total = combine(total, value);
    }
    for (; i < end; i += step) total = combine(total, source(i));
    return total;
  }
  /// The same for `width` neighbours of each of these elements.
  TROUPE_ANY void packs(size_t first, size_t end, size_t step, Acc* totals) const {
    for (size_t k = 0; k < width; ++k) totals[k] = combine.neutral();
    if constexpr (width > 1) {
      size_t i = first;
      for (; i + (at_once - 1) * step < end; i += at_once * step) add_packs<at_once>(i, step, totals);
      for (; i < end; i += step) add_packs<1>(i, step, totals);
    }
  }

 private:
  static constexpr size_t at_once = 4;  ///< elements or packs that a thread reads before it combines them

  template <size_t Count>
  TROUPE_ANY void add_packs(size_t first, size_t step, Acc* totals) const {
    Acc values[Count][width];
    for (size_t r = 0; r < Count; ++r) source.read(first + r * step, values[r]);
    for (size_t r = 0; r < Count; ++r)
      for (size_t k = 0; k < width; ++k) totals[k] = combine(totals[k], values[r][k]);
  }
};

/// One team for each output.
template <class Acc, class Combine, class Source, class Sink>
struct ReduceByTeams {
  Reader<Acc, Combine, Source> reader;
  Sink sink;
  Divider inner;
  size_t reduced;
  bool packed;  ///< `inner` is 1 and rows are read in packs

  template <class Team>
  TROUPE_ANY void operator()(const Team& team, size_t output) const {
    const size_t outer = inner.quotient(output), stride = inner.divisor();
    const size_t first = outer * reduced * stride + (output - outer * stride);
    const size_t end = first + reduced * stride;
    Acc total;
    if (packed) {
      constexpr size_t width = decltype(reader)::width;
      Acc totals[width];
      reader.packs(first + team.rank * width, end, team.size * width, totals);
      total = totals[0];
      for (size_t k = 1; k < width; ++k) total = reader.combine(total, totals[k]);
    } else {
      total = reader.elements(first + team.rank * stride, end, team.size * stride);
    }
    total = team.combine(total, reader.combine);
    if (team.rank == 0) sink(output, total);
  }
};

/// Lane t of `lanes` combines elements t, t + lanes, t + 2 lanes, ... of a block, so that neighbouring threads read neighbouring
/// elements. `lanes` is a multiple of the inner size of the box: the results are those of a smaller box [outer, lanes / inner,
/// inner].
template <class Acc, class Combine, class Source, class Sink>
struct ReduceByLanes {
  static constexpr size_t width = Reader<Acc, Combine, Source>::width;
  Reader<Acc, Combine, Source> reader;
  Sink sink;
  size_t block, lanes;
  Divider calls_of_block;
  bool packed;

  TROUPE_ANY void operator()(size_t call) const {
    const size_t outer = calls_of_block.quotient(call);
    const size_t lane = (call - outer * calls_of_block.divisor()) * (packed ? width : 1);
    const size_t first = outer * block, end = first + block;
    if (!packed) return sink(outer * lanes + lane, reader.elements(first + lane, end, lanes));
    Acc totals[width];
    reader.packs(first + lane, end, lanes, totals);
    for (size_t k = 0; k < width; ++k) sink(outer * lanes + lane + k, totals[k]);
  }
};

template <class Acc, class Combine, class Source, class Sink>
Status reduce_by_teams(DeviceContext& device, const Box& box, const Combine& combine, const Source& source,
                       const Sink& sink) {
  const bool packed = box.inner == 1 && reads_packs(source, box.reduced);
  return each_row(device, box.outer * box.inner, box.reduced,
                  ReduceByTeams<Acc, Combine, Source, Sink>{
                      {combine, source}, sink, Divider(box.inner), box.reduced, packed});
}

template <class Acc, class Combine, class Source, class Sink>
Status reduce_by_lanes(DeviceContext& device, const Box& box, size_t lanes, const Combine& combine,
                       const Source& source, const Sink& sink) {
  using Reduce = ReduceByLanes<Acc, Combine, Source, Sink>;
  const size_t block = box.reduced * box.inner;
  const bool packed = reads_packs(source, block) && lanes % Reduce::width == 0;
  const size_t calls = packed ? lanes / Reduce::width : lanes;
  return each(device, box.outer * calls,
              Reduce{{combine, source}, sink, block, lanes, Divider(calls), packed});
}

/// Returns the number of lanes with which a box is reduced: enough to fill a GPU with threads that compute `width` lanes each, if a
/// lane has some elements to combine. It is a multiple of the inner size, and equal to it if the lanes can compute the result.
inline size_t lanes_for(const Box& box, size_t width) {
  constexpr size_t threads = 1 << 17, least_chain = 16;
  const size_t wanted = threads * width;
  const size_t outputs = box.outer * box.inner, chains = box.reduced / least_chain;
  if (chains < 2 || outputs >= wanted / 2) return box.inner;
  size_t parts = std::min(chains, std::max<size_t>(wanted / outputs, 1));
  if (parts >= 16) parts -= parts % 16;  // whole packs
  return parts * box.inner;
}

}  // namespace detail

/// Reduces the box. If it has no elements, the results are neutral.
template <class Acc, class Combine, class Source, class Sink>
Status reduce_box(DeviceContext& device, const Box& box, const Combine& combine, const Source& source,
                  const Sink& sink) {
  constexpr size_t few = 16, many_rows = 512, long_row = 4096, small_box = 1 << 16;
  const size_t outputs = box.outer * box.inner;
  if (outputs == 0) return {};
  const bool whole_rows = box.inner == 1 && (box.outer >= many_rows || box.reduced < long_row);
  if (box.reduced > few && (whole_rows || box.reduced * outputs <= small_box))
    return detail::reduce_by_teams<Acc>(device, box, combine, source, sink);
  const size_t lanes = detail::lanes_for(box, detail::width_of<Source>());
  if (lanes == box.inner) return detail::reduce_by_lanes<Acc>(device, box, lanes, combine, source, sink);
  TROUPE_ASSIGN(const BufferRef memory, scratch(device, box.outer * lanes * sizeof(Acc)));
  Acc* const partial = reinterpret_cast<Acc*>(memory->data);
  TROUPE_RETURN_IF_FAILED(
      detail::reduce_by_lanes<Acc>(device, box, lanes, combine, source, PartialSink<Acc>{partial}));
  return detail::reduce_by_teams<Acc>(device, Box{box.outer, lanes / box.inner, box.inner}, combine,
                                      PartialSource<Acc>{partial}, sink);
}

}  // namespace troupe::gpu
