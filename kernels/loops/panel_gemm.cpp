#include "kernels/loops/panel_gemm.h"

#include <optional>
#include <vector>

#include "kernels/loops/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/panel_gemm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/panels-inl.h"

#ifndef TROUPE_PANEL_GEMM_SHARED
#define TROUPE_PANEL_GEMM_SHARED
namespace troupe {
namespace {

/// The rows of b, and those of a, that are multiplied at a time: those of one panel stay in the first-level cache, those of a in
/// the second.
constexpr int64_t depth = 256, rows_at_once = 96;

/// Columns of b in panels: for each `depth` rows, the panels of these rows.
struct Panels {
  const float* data;
  float* copy;      ///< the same, if they are still to be filled; else null
  int64_t columns;  ///< of all panels
  int64_t first;    ///< the column of b with which they begin

  /// Returns where the panels begin that hold `size` elements from (row, column) on.
  int64_t offset(int64_t row, const MatrixSize& size, int64_t column) const {
    return row * columns + (column - first) * size.rows;
  }
};

/// Columns [begin, end) of the product.
struct Slab {
  MatrixView<float> a, b;
  int64_t begin, end;
  Panels panels;
  float* c;
};

}  // namespace
}  // namespace troupe
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Copies rows [row, row + size.rows) of the slab into panels.
void copy_panels(const Slab& slab, int64_t row, const MatrixSize& size, float* to) {
  for (int64_t first = 0; first < size.columns; first += panel_columns) {
    const int64_t width = std::min(panel_columns, size.columns - first);
    const float* from = slab.b.data + row * slab.b.row_stride + slab.begin + first;
    for (int64_t k = 0; k < size.rows; ++k, from += slab.b.row_stride) to = std::copy_n(from, width, to);
  }
}

void multiply_slab(const Slab& slab) {
  const Panels& panels = slab.panels;
  for (int64_t row = 0; row < slab.b.rows; row += depth) {
    const MatrixSize size{std::min(depth, slab.b.rows - row), slab.end - slab.begin};
    const int64_t offset = panels.offset(row, size, slab.begin);
    if (panels.copy) copy_panels(slab, row, size, panels.copy + offset);
    for (int64_t first = 0; first < slab.a.rows; first += rows_at_once)
      multiply_panels(slab.a.data + first * slab.a.row_stride + row,
                      std::min(rows_at_once, slab.a.rows - first), slab.a.row_stride, 1, panels.data + offset,
                      size, slab.c + first * slab.b.columns + slab.begin, slab.b.columns, row != 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {
namespace {

HWY_EXPORT(multiply_slab);

constexpr int64_t vector_columns = 16;     ///< a multiple of those of every vector
constexpr int64_t min_elements = 1 << 17;  ///< of b: below, its copy costs little
constexpr int64_t slab_operations = 8'000'000;
constexpr size_t max_kept = 64 << 20;  ///< bytes: larger matrices are read from memory in either order

/// Returns how many columns are computed at a time.
int64_t slab_columns(const MatrixView<float>& a, const MatrixView<float>& b) {
  constexpr int64_t step = 64;
  const int64_t wanted = slab_operations / (2 * a.rows * b.rows);
  return std::clamp((wanted + step - 1) / step * step, step, b.columns);
}

}  // namespace

bool panel_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b, int64_t max_rows) {
  return a.column_stride == 1 && b.column_stride == 1 && a.rows >= 8 && a.rows <= max_rows &&
         b.columns % vector_columns == 0 && b.rows * b.columns >= min_elements;
}

Status panel_gemm(DeviceContext& device, const MatrixView<float>& a, const MatrixView<float>& b,
                  const Tensor& weights, KeptFilter& kept, float* c) {
  std::optional<Tensor> all = kept.find(weights, panel_form);
  const bool found = all.has_value(), keeps = !found && weights.bytes() <= max_kept && kept.wants(weights);
  if (keeps) {
    TROUPE_ASSIGN(all, scratch_vector<float>(device, b.rows * b.columns));
  }
  const int64_t at_once = slab_columns(a, b);
  const auto slabs = static_cast<size_t>((b.columns + at_once - 1) / at_once);
  float* const copy = keeps ? all->write<float>().data() : nullptr;
  std::vector<Status> failures(slabs);
  device.pool().chunks(slabs, [&](size_t i) {
    const int64_t begin = static_cast<int64_t>(i) * at_once, end = std::min(begin + at_once, b.columns);
    const auto multiply = [&](const Panels& panels) {
      HWY_DYNAMIC_DISPATCH(multiply_slab)({a, b, begin, end, panels, c});
    };
    if (all) return multiply({all->as<float>().data(), copy, b.columns, 0});
    auto own = scratch_vector<float>(device, (end - begin) * b.rows);
    if (!own) {
      failures[i] = own.status();
      return;
    }
    float* const panels = own->write<float>().data();
    multiply({panels, panels, end - begin, begin});
  });
  for (Status& failure : failures) TROUPE_RETURN_IF_FAILED(std::move(failure));
  if (keeps) kept.keep(weights, panel_form, *all);
  return {};
}

}  // namespace troupe
#endif
