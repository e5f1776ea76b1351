#include "kernels/loops/panel_gemm.h"

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

/// Columns [begin, end) of the product, and of b in panels: for each `depth` rows, the panels of these rows.
struct Slab {
  MatrixView<float> a, b;
  int64_t begin, end;
  const float* panels;
  float* copy;  ///< panels that are still to be filled, or null
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
  const int64_t columns = slab.end - slab.begin;
  for (int64_t row = 0; row < slab.b.rows; row += depth) {
    const MatrixSize size{std::min(depth, slab.b.rows - row), columns};
    if (slab.copy) copy_panels(slab, row, size, slab.copy + row * columns);
    for (int64_t first = 0; first < slab.a.rows; first += rows_at_once)
      multiply_panels(slab.a.data + first * slab.a.row_stride + row,
                      std::min(rows_at_once, slab.a.rows - first), slab.a.row_stride, 1,
                      slab.panels + row * columns, size, slab.c + first * slab.b.columns + slab.begin,
                      slab.b.columns, row != 0);
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
constexpr uint64_t form = 0;

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
  std::optional<Tensor> panels = kept.find(weights, form);
  const bool found = panels.has_value(), keeps = !found && weights.bytes() <= max_kept && kept.wants(weights);
  if (keeps) {
    TROUPE_ASSIGN(panels, scratch_vector<float>(device, b.rows * b.columns));
  }
  float* const all = keeps ? panels->write<float>().data() : nullptr;
  const int64_t at_once = slab_columns(a, b);
  const auto slabs = static_cast<size_t>((b.columns + at_once - 1) / at_once);
  std::vector<Status> failures(slabs);
  device.pool().chunks(slabs, [&](size_t i) {
    const int64_t begin = static_cast<int64_t>(i) * at_once, end = std::min(begin + at_once, b.columns);
    failures[i] = [&]() -> Status {
      Slab slab{a, b, begin, end, nullptr, nullptr, c};
      std::optional<Tensor> scratch;
      if (keeps) {
        slab.copy = all + begin * b.rows;
      } else if (!found) {
        TROUPE_ASSIGN(scratch, scratch_vector<float>(device, (end - begin) * b.rows));
        slab.copy = scratch->write<float>().data();
      }
      slab.panels = slab.copy ? slab.copy : panels->as<float>().data() + begin * b.rows;
      HWY_DYNAMIC_DISPATCH(multiply_slab)(slab);
      return {};
    }();
  });
  for (Status& failure : failures) TROUPE_RETURN_IF_FAILED(std::move(failure));
  if (keeps) kept.keep(weights, form, *panels);
  return {};
}

}  // namespace troupe
#endif
