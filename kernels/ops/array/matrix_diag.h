// MatrixDiag, MatrixDiagPart and MatrixSetDiag in all versions: the checks on the host, and the arguments that they return to the
// compute function of each type of device (kernels/core/checked_kernel.h). Any thread may call the checks.
#pragma once

#include <algorithm>
#include <string>

#include "kernels/core/checked_kernel.h"
#include "kernels/gpu/any.h"

namespace troupe {

/// Diagonals lower to upper; 0 is the main one.
struct DiagonalRange {
  int64_t lower = 0, upper = 0;
  TROUPE_ANY int64_t count() const { return upper - lower + 1; }
  std::string text() const { return "k [" + std::to_string(lower) + ", " + std::to_string(upper) + "]"; }
};

/// The diagonals as they lie in two tensors: in matrices of rows x columns, and packed in rows of `length` elements, the upper one
/// first. A diagonal that is shorter is at the end of its row, or at the beginning.
struct Diagonals {
  DiagonalRange range;
  int64_t rows, columns, length;
  bool above_at_end = false, below_at_end = false;  ///< of the diagonals above and below the main one

  TROUPE_ANY int64_t length_of(int64_t diagonal) const {
    return std::max<int64_t>(
        std::min(rows + std::min<int64_t>(diagonal, 0), columns - std::max<int64_t>(diagonal, 0)), 0);
  }
  /// Return the number of the first element of a diagonal in its matrix, where the others follow `columns` + 1 apart, and in the
  /// rows of a matrix.
  TROUPE_ANY int64_t first_in_matrix(int64_t diagonal) const {
    return std::max<int64_t>(-diagonal, 0) * columns + std::max<int64_t>(diagonal, 0);
  }
  TROUPE_ANY int64_t first_in_rows(int64_t diagonal) const {
    const bool at_end = diagonal == 0  ? above_at_end && below_at_end
                        : diagonal > 0 ? above_at_end
                                       : below_at_end;
    return (range.upper - diagonal) * length + (at_end ? length - length_of(diagonal) : 0);
  }
  /// Whether rows hold elements of no diagonal.
  bool has_gaps() const { return length_of(range.lower) != length || length_of(range.upper) != length; }
};

/// Diagonals are copied between matrices and rows.
struct DiagonalArguments {
  const Tensor* base = nullptr;  ///< copied to `to` first; null: `to` is filled, or nothing is done first
  bool fills = false;
  const Tensor* background = nullptr;  ///< a scalar in host memory; null: zero
  const Tensor* from = nullptr;
  Tensor* to = nullptr;
  bool packs = false;  ///< whether `from` holds the matrices, else `to`
  Diagonals diagonals;
  int64_t matrices = 0;
};

/// Fail with InvalidArgument if the tensors hold no matrices or diagonals, or these do not fit each other or the other inputs.
Result<DiagonalArguments> check_matrix_diag(KernelContext& context);
Result<DiagonalArguments> check_matrix_diag_part(KernelContext& context);
Result<DiagonalArguments> check_matrix_set_diag(KernelContext& context);

}  // namespace troupe
