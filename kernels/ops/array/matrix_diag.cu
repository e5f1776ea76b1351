// Diagonals of matrices on GPUs: see matrix_diag.cpp.
#include "kernels/ops/array/matrix_diag.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

/// Computes element i of matrices, whose other elements are those of the base, or the background.
template <class T>
struct SetDiagonals {
  const T *packed, *base;  ///< the base may be `matrices`, or null
  T* matrices;
  T background;
  Diagonals diagonals;
  gpu::Divider rows, columns;

  TROUPE_ANY void operator()(size_t i) const {
    size_t rest = i;
    const auto column = static_cast<int64_t>(gpu::split(columns, rest)),
               row = static_cast<int64_t>(gpu::split(rows, rest));
    const auto& [lower, upper] = diagonals.range;
    const int64_t diagonal = column - row;
    if (diagonal < lower || diagonal > upper) {
      matrices[i] = base ? base[i] : background;
      return;
    }
    const int64_t first = static_cast<int64_t>(rest) * diagonals.range.count() * diagonals.length;
    matrices[i] = packed[first + diagonals.first_in_rows(diagonal) + (row < column ? row : column)];
  }
};

/// Computes element i of the rows that hold the diagonals of matrices.
template <class T>
struct PackDiagonals {
  const T* matrices;
  T* packed;
  T background;
  Diagonals diagonals;
  gpu::Divider length, count;

  TROUPE_ANY void operator()(size_t i) const {
    size_t rest = i;
    const auto column = static_cast<int64_t>(gpu::split(length, rest)),
               row = static_cast<int64_t>(gpu::split(count, rest));
    const int64_t diagonal = diagonals.range.upper - row;
    const int64_t at = row * diagonals.length + column - diagonals.first_in_rows(diagonal);
    const int64_t first = static_cast<int64_t>(rest) * diagonals.rows * diagonals.columns;
    packed[i] = at >= 0 && at < diagonals.length_of(diagonal)
                    ? matrices[first + diagonals.first_in_matrix(diagonal) + at * (diagonals.columns + 1)]
                    : background;
  }
};

template <class T>
Status compute_stored(const DiagonalArguments& arguments, DeviceContext& device) {
  const Diagonals& diagonals = arguments.diagonals;
  const T* const from = gpu::stored<T>(*arguments.from);
  T* const to = gpu::stored<T>(*arguments.to);
  const T background = arguments.background ? *gpu::stored<T>(*arguments.background) : T{};
  const auto n = static_cast<size_t>(arguments.to->elements());
  if (arguments.packs)
    return gpu::each(device, n,
                     PackDiagonals<T>{from, to, background, diagonals, gpu::divider(diagonals.length),
                                      gpu::divider(diagonals.range.count())});
  const T* const base = arguments.base ? gpu::stored<T>(*arguments.base) : arguments.fills ? nullptr : to;
  return gpu::each(device, n,
                   SetDiagonals<T>{from, base, to, background, diagonals, gpu::divider(diagonals.rows),
                                   gpu::divider(diagonals.columns)});
}

Status compute_diagonals(const DiagonalArguments& arguments, DeviceContext& device) {
  if (arguments.to->elements() == 0) return {};
  return gpu::with_stored(arguments.to->dtype(), [&]<class T>(std::type_identity<T>) {
    return compute_stored<T>(arguments, device);
  });
}

}  // namespace

void add_matrix_diag_on_gpu(OpLibrary& library) {
  const auto add = [&](const std::string& op, auto check) {
    library.kernel(gpu_kernel(op, check, compute_diagonals).on("T", dtypes(gpu::MovedTypesAndIntegers{})));
  };
  for (const std::string version : {"", "V2", "V3"}) {
    add("MatrixDiag" + version, check_matrix_diag);
    add("MatrixDiagPart" + version, check_matrix_diag_part);
    add("MatrixSetDiag" + version, check_matrix_set_diag);
  }
}

}  // namespace troupe
