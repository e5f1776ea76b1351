#include "kernels/loops/packed_gemm.h"

#include <vector>

#include "kernels/loops/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/packed_gemm.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/panels-inl.h"

#ifndef TROUPE_PACKED_GEMM_SHARED
#define TROUPE_PACKED_GEMM_SHARED
namespace troupe {
namespace {

/// The rows of b, and those of a, that are multiplied at a time: those of one panel stay in the first-level cache, those of a in
/// the second.
constexpr int64_t packed_depth = 256, packed_rows = 96;
constexpr int64_t packed_columns = 64;  ///< a multiple of the columns of a panel of every instruction set

constexpr int64_t round_up(int64_t x, int64_t step) { return (x + step - 1) / step * step; }

/// The columns [first, first + columns) of b in panels: for each packed_depth rows, the panels of these rows. Columns beyond those
/// of b, up to a multiple of packed_columns, are zeros.
struct PackedColumns {
  MatrixView<float> b;
  int64_t first, columns;
  float* data;

  int64_t padded() const { return round_up(columns, packed_columns); }
  /// Returns the panels of the rows from `row` on, from a column on that is a multiple of packed_columns.
  float* panels(int64_t row, int64_t rows, int64_t column) const {
    return data + row * padded() + column * rows;
  }
};

/// All rows of a, in pieces of `rows`: for each packed_depth columns, blocks of a few rows in which the elements of a column are
/// neighbours.
struct PackedRows {
  MatrixView<float> a;
  int64_t rows;
  float* data;

  int64_t count(int64_t row) const { return std::min(rows, a.rows - row); }
  float* blocks(int64_t row, int64_t column) const { return data + row * a.columns + column * count(row); }
};

/// A piece of the rows of the product and some columns, counted from the first packed one.
struct PackedPiece {
  int64_t row, begin, end;
  float* c;  ///< the first packed column of the rows
  int64_t c_stride;
  bool add;        ///< to what c contains
  float* scratch;  ///< packed_rows x packed_columns
};

}  // namespace
}  // namespace troupe
#endif

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

/// Copies rows [row, row + rows) of the columns [begin, end), a multiple of packed_columns, into panels.
void pack_panels(const PackedColumns& packed, int64_t row, int64_t rows, int64_t begin, int64_t end) {
  const MatrixView<float>& b = packed.b;
  for (int64_t column = begin; column < end; column += panel_columns) {
    float* const to =
        packed.panels(row, rows, column / packed_columns * packed_columns) + column % packed_columns * rows;
    const int64_t width = std::clamp<int64_t>(packed.columns - column, 0, panel_columns);
    const float* const from = b.data + row * b.row_stride + (packed.first + column) * b.column_stride;
    if (width < panel_columns) std::fill_n(to, rows * panel_columns, 0.0f);
    if (b.column_stride == 1) {
      for (int64_t k = 0; k < rows; ++k) std::copy_n(from + k * b.row_stride, width, to + k * panel_columns);
      continue;
    }
    for (int64_t j = 0; j < width; ++j)
      for (int64_t k = 0; k < rows; ++k)
        to[k * panel_columns + j] = from[j * b.column_stride + k * b.row_stride];
  }
}

/// Copies `columns` columns of Count rows, which are `row_stride` apart.
template <int Count>
void pack_block(const float* HWY_RESTRICT from, int64_t row_stride, int64_t column_stride, int64_t columns,
                float* HWY_RESTRICT to) {
  for (int64_t k = 0; k < columns; ++k, to += Count)
#pragma GCC unroll 8
    for (int r = 0; r < Count; ++r) to[r] = from[r * row_stride + k * column_stride];
}

/// Copies columns [first, first + columns) of the piece that begins at a row.
void pack_rows(const PackedRows& packed, int64_t row, int64_t first, int64_t columns) {
  const MatrixView<float>& a = packed.a;
  float* to = packed.blocks(row, first);
  for_row_blocks(packed.count(row), [&](int64_t offset, int64_t count) HWY_ATTR {
    const float* const from = a.data + (row + offset) * a.row_stride + first * a.column_stride;
    static_assert(block_rows == 6);
    constexpr decltype(&pack_block<1>) of_rows[] = {pack_block<1>, pack_block<2>, pack_block<3>,
                                                    pack_block<4>, pack_block<5>, pack_block<6>};
    of_rows[count - 1](from, a.row_stride, a.column_stride, columns, to);
    to += count * columns;
  });
}

/// c = a b for the packed rows of a and whole panels of b.
void multiply_packed(const float* a, int64_t rows, const float* panels, const MatrixSize& size, float* c,
                     int64_t c_stride, bool add) {
  for (int64_t column = 0; column < size.columns; column += panel_columns) {
    const float* block = a;
    for_row_blocks(rows, [&](int64_t row, int64_t count) HWY_ATTR {
      const PanelProduct product{block,
                                 1,
                                 count,
                                 panels + column * size.rows,
                                 panel_columns,
                                 size.rows,
                                 c + row * c_stride + column,
                                 c_stride,
                                 add};
      row == 0 ? block_of<block_vectors, true>(count, product, 0)
               : block_of<block_vectors, false>(count, product, 0);
      block += count * size.rows;
    });
  }
}

void multiply_piece(const PackedRows& left, const PackedColumns& right, const PackedPiece& piece) {
  const int64_t rows = left.count(piece.row);
  // Columns that are stored directly; the last ones may be those of a panel with padding.
  const int64_t whole = std::min(piece.end, right.columns / panel_columns * panel_columns);
  const auto padded = [&](const auto& copy) {
    for (int64_t row = 0; row < rows && whole < piece.end; ++row)
      copy(piece.scratch + row * panel_columns, piece.c + row * piece.c_stride + whole,
           right.columns - whole);
  };
  if (piece.add)
    padded([](float* scratch, const float* c, int64_t count) { std::copy_n(c, count, scratch); });
  for (int64_t k = 0; k < right.b.rows; k += packed_depth) {
    const int64_t depth = std::min(packed_depth, right.b.rows - k);
    const bool add = piece.add || k != 0;
    const float *const blocks = left.blocks(piece.row, k), *const panels =
                                                               right.panels(k, depth, piece.begin);
    multiply_packed(blocks, rows, panels, {depth, whole - piece.begin}, piece.c + piece.begin, piece.c_stride,
                    add);
    if (whole < piece.end)
      multiply_packed(blocks, rows, panels + (whole - piece.begin) * depth, {depth, panel_columns},
                      piece.scratch, panel_columns, add);
  }
  padded([](const float* scratch, float* c, int64_t count) { std::copy_n(scratch, count, c); });
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {
namespace {

HWY_EXPORT(pack_panels);
HWY_EXPORT(pack_rows);
HWY_EXPORT(multiply_piece);

constexpr int64_t max_packed = int64_t{16} << 20;  ///< elements of a, and of b, that are packed at a time
constexpr int64_t least_pieces = 32;               ///< of a product with enough work for them
constexpr int64_t piece_operations = 16'000'000;   ///< multiplications and additions of a small piece

/// Packs the columns in pieces of packed_depth x packed_columns, and the rows in such of packed_depth columns.
void pack(Pool& pool, const PackedRows& left, const PackedColumns& right) {
  const int64_t depth = right.b.rows, deep = (depth + packed_depth - 1) / packed_depth,
                across = right.padded() / packed_columns, down = (left.a.rows + left.rows - 1) / left.rows;
  constexpr size_t at_once = 4;
  pool.blocks(static_cast<size_t>((across + down) * deep), at_once, [&](size_t from, size_t to) {
    for (auto i = static_cast<int64_t>(from); i < static_cast<int64_t>(to); ++i) {
      const int64_t k = i % deep * packed_depth, count = std::min(packed_depth, depth - k), part = i / deep;
      if (part < across) HWY_DYNAMIC_DISPATCH(pack_panels)
      (right, k, count, part * packed_columns, (part + 1) * packed_columns);
      else HWY_DYNAMIC_DISPATCH(pack_rows)(left, (part - across) * left.rows, k, count);
    }
  });
}

/// The columns of a piece.
int64_t piece_columns(int64_t row_pieces, int64_t rows, int64_t depth, int64_t columns) {
  const int64_t wanted = (least_pieces + row_pieces - 1) / row_pieces;
  const int64_t fewest = round_up(piece_operations / (2 * rows * depth) + 1, packed_columns);
  return std::max(round_up((columns + wanted - 1) / wanted, packed_columns), fewest);
}

/// A product of matrices of which the packed forms fit into memory. If `add`, it is added to c.
Status multiply(DeviceContext& device, const PackedRows& left, const PackedColumns& right, bool add,
                const PostOps& post, int64_t first_row, float* c) {
  pack(device.pool(), left, right);
  const int64_t stride = right.b.columns, down = (left.a.rows + left.rows - 1) / left.rows;
  const int64_t columns = piece_columns(down, left.rows, left.a.columns, right.columns),
                across = (right.columns + columns - 1) / columns;
  std::vector<Status> failures(static_cast<size_t>(down * across));
  device.pool().chunks(failures.size(), [&](size_t i) {
    auto scratch = scratch_vector<float>(device, packed_rows * packed_columns);
    if (!scratch) {
      failures[i] = scratch.status();
      return;
    }
    const auto at = static_cast<int64_t>(i);
    const int64_t row = at / across * left.rows;
    const int64_t begin = at % across * columns, end = std::min(begin + columns, right.columns);
    HWY_DYNAMIC_DISPATCH(multiply_piece)
    (left, right,
     {row, begin, end, c + (first_row + row) * stride + right.first, stride, add,
      scratch->write<float>().data()});
    apply_post_ops(post, {first_row + row, left.count(row), right.first + begin, end - begin, stride}, c);
  });
  for (Status& failure : failures) TROUPE_RETURN_IF_FAILED(std::move(failure));
  return {};
}

/// The rows of b that are packed at a time. For a small product of deep matrices, they are so few that their packed form stays in
/// the caches.
int64_t depth_at_once(const MatrixView<float>& a, const MatrixView<float>& b) {
  constexpr int64_t small_product = 1 << 18, shallow = 1024;
  const bool deep = a.rows * b.columns <= small_product && b.rows >= 2 * shallow;
  return deep ? shallow : b.rows;
}

}  // namespace

bool packed_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b) {
  constexpr int64_t min_rows = 48, min_columns = 16, min_depth = 16, min_work = 1 << 25;
  return a.rows >= min_rows && b.columns >= min_columns && b.rows >= min_depth &&
         a.rows * b.rows * b.columns >= min_work;
}

Status packed_gemm(DeviceContext& device, const MatrixView<float>& a, const MatrixView<float>& b,
                   const PostOps& post, float* c) {
  const int64_t depth = depth_at_once(a, b), at_most = std::max(max_packed / depth, packed_rows);
  const int64_t columns = std::min(round_up(at_most, packed_columns), round_up(b.columns, packed_columns));
  const int64_t piece = even_part(a.rows, packed_rows), rows = std::min(at_most / piece * piece, a.rows);
  TROUPE_ASSIGN(Tensor memory, scratch_vector<float>(device, (columns + rows) * depth));
  float *const right = memory.write<float>().data(), *const left = right + columns * depth;
  for (int64_t first = 0; first < b.columns; first += columns)
    for (int64_t row = 0; row < a.rows; row += rows)
      for (int64_t k = 0; k < b.rows; k += depth) {
        const int64_t end = std::min(k + depth, b.rows);
        const MatrixView<float> part = a.row_range(row, std::min(row + rows, a.rows)).column_range(k, end);
        const PackedColumns packed{b.row_range(k, end), first, std::min(columns, b.columns - first), right};
        const PostOps& last = end == b.rows ? post : PostOps{};
        TROUPE_RETURN_IF_FAILED(multiply(device, {part, piece, left}, packed, k != 0, last, row, c));
      }
  return {};
}

}  // namespace troupe
#endif
