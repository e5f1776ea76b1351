#include "kernels/loops/axis_reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

// The sizes into which work is cut. Chains of additions stay short: 128 rows, or 64 Ki elements added pairwise.
constexpr size_t run_elements = 65536;  ///< the number of elements of a run that one block reduces
constexpr size_t strip_columns = 4096;  ///< the number of columns that one block reduces side by side
constexpr size_t strip_rows = 128;      ///< the minimum number of rows of such a block
constexpr size_t wide_elements = 128;   ///< narrow rows are combined together, as one row of about this size

using Box = ReductionBox;

/// Returns memory for this many elements.
Result<Tensor> partial_results(DeviceContext& device, const Reducer& reducer, size_t elements) {
  return Tensor::allocate(reducer.dtype, Shape::vector(static_cast<int64_t>(elements)), device.memory());
}

class Step {
 public:
  Step(DeviceContext& device, const Reducer& reducer, const Box& box)
      : device_(device), pool_(device.pool()), reducer_(reducer), box_(box), bytes_(size_of(reducer.dtype)) {}

  Status run(const std::byte* input, std::byte* output) const {
    return box_.inner == 1 ? reduce_runs(input, output) : reduce_columns(input, output);
  }

 private:
  Status reduce_runs(const std::byte* input, std::byte* output) const {
    const size_t length = box_.reduced, blocks = (length - 1) / run_elements + 1;
    if (blocks == 1) {
      parallel_rows(pool_, box_.outer, length * bytes_, [&](size_t begin, size_t end) {
        reducer_.run(input + begin * length * bytes_, length, end - begin, output + begin * bytes_);
      });
      return {};
    }
    return by_blocks(blocks, output, [&](std::byte* partial) {
      pool_.chunks(box_.outer * blocks, [&](size_t task) {
        const size_t begin = task % blocks * run_elements, end = std::min(begin + run_elements, length);
        reducer_.run(input + (task / blocks * length + begin) * bytes_, end - begin, 1,
                     partial + task * bytes_);
      });
    });
  }

  Status reduce_columns(const std::byte* input, std::byte* output) const {
    const size_t columns = std::min(box_.inner, strip_columns), strips = (box_.inner - 1) / columns + 1;
    const size_t rows = std::max(strip_rows, run_elements / columns), blocks = (box_.reduced - 1) / rows + 1;
    const auto reduce_strips = [&](std::byte* to) {
      const size_t cost = std::min(rows, box_.reduced) * columns * bytes_;
      parallel_rows(pool_, box_.outer * blocks * strips, cost, [&](size_t begin, size_t end) {
        for (size_t task = begin; task < end; ++task) {
          const size_t column = task % strips * columns, target = task / strips;
          const size_t outer = target / blocks, row = target % blocks * rows;
          reduce_strip(input + ((outer * box_.reduced + row) * box_.inner + column) * bytes_,
                       std::min(rows, box_.reduced - row), std::min(columns, box_.inner - column),
                       to + (target * box_.inner + column) * bytes_);
        }
      });
    };
    if (blocks != 1) return by_blocks(blocks, output, reduce_strips);
    reduce_strips(output);
    return {};
  }

  /// Reduces to `blocks` partial results for each output, and then reduces those.
  template <class ToPartial>
  Status by_blocks(size_t blocks, std::byte* output, const ToPartial& reduce_to) const {
    const size_t elements = box_.outer * blocks * box_.inner;
    TROUPE_ASSIGN(Tensor partial, partial_results(device_, reducer_, elements));
    reduce_to(partial.mutable_data());
    return Step(device_, reducer_, {box_.outer, blocks, box_.inner}).run(partial.data(), output);
  }

  void combine(std::byte* to, const std::byte* from, size_t n) const {
    reducer_.combine(to, 1, from, 1, to, n);
  }

  /// Reduces `rows` rows of `columns` elements, one below the other, box_.inner elements apart.
  void reduce_strip(const std::byte* input, size_t rows, size_t columns, std::byte* output) const {
    const size_t stride = box_.inner * bytes_, size = columns * bytes_;
    const size_t together = columns == box_.inner ? wide_elements / columns : 1;
    if (together >= 4 && rows >= 2 * together)
      return reduce_narrow_strip(input, rows, columns, together, output);
    std::memcpy(output, input, size);
    for (size_t row = 1; row < rows; ++row) combine(output, input + row * stride, columns);
  }

  /// Reduces rows that are too short for the vector unit: `together` rows are combined as one, which is folded at the end.
  void reduce_narrow_strip(const std::byte* input, size_t rows, size_t columns, size_t together,
                           std::byte* output) const {
    alignas(64) std::array<std::byte, wide_elements * 16> wide;
    const size_t size = columns * bytes_;
    std::memcpy(wide.data(), input, together * size);
    size_t row = together;
    for (; row + together <= rows; row += together)
      combine(wide.data(), input + row * size, together * columns);
    std::memcpy(output, wide.data(), size);
    for (size_t i = 1; i < together; ++i) combine(output, wide.data() + i * size, columns);
    for (; row < rows; ++row) combine(output, input + row * size, columns);
  }

  DeviceContext& device_;
  Pool& pool_;
  const Reducer& reducer_;
  Box box_;
  size_t bytes_;
};

/// Returns the box of the innermost axis that is still to be reduced; removes that axis from `reduced` and `dims`.
Box next_box(std::span<int64_t> dims, AxisSet& reduced) {
  Box box;
  size_t i = dims.size();
  for (; i > 0 && !(reduced[i - 1] && dims[i - 1] != 1); --i) box.inner *= static_cast<size_t>(dims[i - 1]);
  // Neighbouring axes that are reduced, too, are merged with this one.
  for (; i > 0 && (reduced[i - 1] || dims[i - 1] == 1); --i) {
    box.reduced *= static_cast<size_t>(dims[i - 1]);
    dims[i - 1] = 1;
  }
  for (; i > 0; --i) box.outer *= static_cast<size_t>(dims[i - 1]);
  return box;
}

bool any_left(std::span<const int64_t> dims, const AxisSet& reduced) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (reduced[i] && dims[i] != 1) return true;
  return false;
}

}  // namespace

ShortList<ReductionBox> reduction_boxes(std::span<const int64_t> dims, const AxisSet& axes) {
  Dims left(dims);
  AxisSet reduced = axes;
  ShortList<ReductionBox> boxes;
  while (any_left(left, reduced)) boxes.push_back(next_box(left, reduced));
  return boxes;
}

std::string repeated_axis(int64_t axis) {
  return "axis " + std::to_string(axis) + " stands for a dimension that the axes name twice";
}

Result<ReductionAxes> reduction_axes(const Tensor& input, std::span<const int64_t> axes, bool keep_dims) {
  ReductionAxes result;
  for (const int64_t axis : axes) {
    TROUPE_ASSIGN(const size_t resolved, resolve_axis(axis, input.shape().rank()));
    if (result.reduced[resolved]) return invalid_argument(repeated_axis(axis));
    result.reduced.set(resolved);
  }
  Dims dims;
  for (size_t i = 0; i < input.shape().rank(); ++i) {
    if (!result.reduced[i]) {
      dims.push_back(input.shape()[i]);
      continue;
    }
    result.count *= input.shape()[i];
    if (keep_dims) dims.push_back(1);
  }
  TROUPE_ASSIGN(result.shape, Shape::make(dims, input.dtype()));
  return result;
}

Status reduce(DeviceContext& device, const Reducer& reducer, const Tensor& input, const AxisSet& axes,
              Tensor& output) {
  if (input.elements() == 0) {
    reducer.run(nullptr, 0, static_cast<size_t>(output.elements()), output.mutable_data());
    return {};
  }
  const auto boxes = reduction_boxes(input.shape().dims(), axes);
  Tensor from = input;
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box& box = boxes[i];
    if (i + 1 == boxes.size()) return Step(device, reducer, box).run(from.data(), output.mutable_data());
    TROUPE_ASSIGN(Tensor to, partial_results(device, reducer, box.outer * box.inner));
    TROUPE_RETURN_IF_FAILED(Step(device, reducer, box).run(from.data(), to.mutable_data()));
    from = std::move(to);
  }
  std::memcpy(output.mutable_data(), from.data(), from.bytes());  // every reduced axis has size 1
  return {};
}

}  // namespace troupe
