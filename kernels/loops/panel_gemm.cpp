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

/// Columns [begin, end) of the product of some rows.
struct Slab {
  MatrixView<float> a, b;
  int64_t begin, end;
  Panels panels;
  float* c;  ///< all columns of these rows
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
  const int64_t at_once = even_part(slab.a.rows, rows_at_once);
  for (int64_t row = 0; row < slab.b.rows; row += depth) {
    const MatrixSize size{std::min(depth, slab.b.rows - row), slab.end - slab.begin};
    const int64_t offset = panels.offset(row, size, slab.begin);
    if (panels.copy) copy_panels(slab, row, size, panels.copy + offset);
    for (int64_t first = 0; first < slab.a.rows; first += at_once)
      multiply_panels(slab.a.data + first * slab.a.row_stride + row, std::min(at_once, slab.a.rows - first),
                      slab.a.row_stride, 1, panels.data + offset, size,
                      slab.c + first * slab.b.columns + slab.begin, slab.b.columns, row != 0);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {
namespace {

HWY_EXPORT(multiply_slab);

constexpr int64_t vector_columns = 16;  ///< a multiple of those of every vector
constexpr int64_t slab_operations = 8'000'000;
constexpr size_t max_kept = 64 << 20;  ///< bytes: larger matrices are read from memory in either order

/// How a product is cut for the pool.
struct Cut {
  int64_t rows, columns;

  /// If the panels are still to be filled, the rows stay together, because each slab fills those of its columns.
  Cut(const MatrixView<float>& a, const MatrixView<float>& b, bool filled)
      : rows(a.rows), columns(std::clamp(round_up(slab_operations / (2 * a.rows * b.rows), column_step),
                                         std::min(column_step, b.columns), b.columns)) {
    if (filled) rows = even_part(a.rows, std::max(slab_operations / (2 * columns * b.rows), row_step));
  }

 private:
  static constexpr int64_t column_step = 64, row_step = 48;
  static int64_t round_up(int64_t x, int64_t step) { return (x + step - 1) / step * step; }
};

}  // namespace

bool panel_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b, const PanelGemmLimits& limits) {
  return a.column_stride == 1 && b.column_stride == 1 && a.rows >= 8 && a.rows <= limits.max_rows &&
         b.columns % vector_columns == 0 && b.rows * b.columns >= limits.min_elements;
}

Status panel_gemm(DeviceContext& device, const MatrixView<float>& a, const MatrixView<float>& b,
                  const Tensor& weights, KeptFilter& kept, const PostOps& post, float* c) {
  std::optional<Tensor> all = kept.find(weights, panel_form);
  const bool found = all.has_value(), keeps = !found && weights.bytes() <= max_kept && kept.wants(weights);
  if (keeps) {
    TROUPE_ASSIGN(all, scratch_vector<float>(device, b.rows * b.columns));
  }
  const Cut cut(a, b, found);
  const int64_t across = (b.columns + cut.columns - 1) / cut.columns,
                down = (a.rows + cut.rows - 1) / cut.rows;
  float* const copy = keeps ? all->write<float>().data() : nullptr;
  std::vector<Status> failures(static_cast<size_t>(across * down));
  device.pool().chunks(failures.size(), [&](size_t i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t row = at % down * cut.rows, begin = at / down * cut.columns,
                  end = std::min(begin + cut.columns, b.columns), rows = std::min(cut.rows, a.rows - row);
    const auto multiply = [&](const Panels& panels) {
      HWY_DYNAMIC_DISPATCH(multiply_slab)
      ({a.row_range(row, row + rows), b, begin, end, panels, c + row * b.columns});
      apply_post_ops(post, {row, rows, begin, end - begin, b.columns}, c);
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
