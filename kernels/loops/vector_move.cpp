#include "kernels/loops/vector_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/vector_move.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- Transposing

constexpr size_t line = 64;  ///< the number of bytes of a cache line

/// Transposes a square with as many elements in a row as a register of 16 bytes holds: log2 of that number times, registers
/// that are half the square apart are interleaved.
template <class T>
HWY_INLINE void transpose_square(const T* from, ptrdiff_t from_stride, T* to, ptrdiff_t to_stride) {
  constexpr size_t side = 16 / sizeof(T);
  const hn::FixedTag<T, side> d;
  hn::VFromD<decltype(d)> rows[side], mixed[side];
#pragma GCC unroll 16
  for (size_t i = 0; i < side; ++i) rows[i] = hn::LoadU(d, from + static_cast<ptrdiff_t>(i) * from_stride);
#pragma GCC unroll 4
  for (size_t step = 1; step < side; step *= 2) {
#pragma GCC unroll 8
    for (size_t i = 0; i < side / 2; ++i) {
      mixed[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + side / 2]);
      mixed[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + side / 2]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < side; ++i) rows[i] = mixed[i];
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < side; ++i) hn::StoreU(rows[i], d, to + static_cast<ptrdiff_t>(i) * to_stride);
}

/// Transposes a tile of whole squares, at most a cache line long on either side.
template <class T>
HWY_INLINE void transpose_tile(const T* from, ptrdiff_t from_stride, T* to, ptrdiff_t to_stride, size_t rows,
                               size_t columns) {
  constexpr size_t side = 16 / sizeof(T);
  for (size_t c = 0; c < columns; c += side)
    for (size_t r = 0; r < rows; r += side)
      transpose_square(from + r + static_cast<ptrdiff_t>(c) * from_stride, from_stride,
                       to + static_cast<ptrdiff_t>(r) * to_stride + c, to_stride);
}

/// Returns whether the cache lines of a tile, on both sides, exceed a cache of 64 sets of 12 lines. They share few sets if the
/// stride is divisible by a large power of two.
template <class T>
HWY_INLINE bool collide(ptrdiff_t stride) {
  const size_t bytes = static_cast<size_t>(stride) * sizeof(T), power = bytes & (~bytes + 1);
  const size_t sets = std::clamp<size_t>(64 * line / std::max<size_t>(power, 1), 1, 64);
  return 2 * (line / sizeof(T)) > 12 * sets;
}

/// Transposes by tiles. Rows that are a power of two apart share few lines of the cache; whole tiles then go through a copy, so
/// that each line is read once and written once.
template <class T>
void transpose(const void* source, ptrdiff_t from_stride, void* target, ptrdiff_t to_stride, size_t rows,
               size_t columns) {
  constexpr size_t side = 16 / sizeof(T), tile = line / sizeof(T);
  const bool collides = collide<T>(from_stride) || collide<T>(to_stride);
  const T* from = static_cast<const T*>(source);
  T* to = static_cast<T*>(target);
  const size_t square_rows = rows - rows % side, square_columns = columns - columns % side;
  alignas(line) T copy[tile * tile];
  for (size_t c = 0; c < square_columns; c += tile)
    for (size_t r = 0; r < square_rows; r += tile) {
      const size_t height = std::min(tile, square_rows - r), width = std::min(tile, square_columns - c);
      const T* const tile_from = from + r + static_cast<ptrdiff_t>(c) * from_stride;
      T* const tile_to = to + static_cast<ptrdiff_t>(r) * to_stride + c;
      if (!collides || width != tile) {
        transpose_tile(tile_from, from_stride, tile_to, to_stride, height, width);
        continue;
      }
      transpose_tile(tile_from, from_stride, copy, tile, height, width);
      for (size_t i = 0; i < height; ++i)
        std::memcpy(tile_to + static_cast<ptrdiff_t>(i) * to_stride, copy + i * tile, line);
    }
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = r < square_rows ? square_columns : 0; c < columns; ++c)
      to[static_cast<ptrdiff_t>(r) * to_stride + static_cast<ptrdiff_t>(c)] =
          from[static_cast<ptrdiff_t>(r) + static_cast<ptrdiff_t>(c) * from_stride];
}

TransposeLoop transpose_loop_for(size_t bytes) {
  switch (bytes) {
    case 1: return transpose<uint8_t>;
    case 2: return transpose<uint16_t>;
    case 4: return transpose<uint32_t>;
    case 8: return transpose<uint64_t>;
    default: return nullptr;
  }
}

// ---- Conversions to float and back, if the processor has instructions for them

#if HWY_TARGET <= HWY_AVX2
template <class From, class To, class Convert>
HWY_INLINE void convert(const From* x, To* y, size_t n, const Convert& some) {
  const size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) some(x + i, y + i);
  if (i == n) return;
  From from[hn::MaxLanes(hn::ScalableTag<float>())] = {};
  To to[hn::MaxLanes(hn::ScalableTag<float>())];
  std::memcpy(from, x + i, (n - i) * sizeof(From));
  some(from, to);
  std::memcpy(y + i, to, (n - i) * sizeof(To));
}

void half_to_float(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  convert(static_cast<const hwy::float16_t*>(x), static_cast<float*>(y), n,
          [&](const hwy::float16_t* from, float* to) {
            hn::StoreU(hn::PromoteTo(d, hn::LoadU(half, from)), d, to);
          });
}

void float_to_half(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> half;
  convert(static_cast<const float*>(x), static_cast<hwy::float16_t*>(y), n,
          [&](const float* from, hwy::float16_t* to) {
            hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, from)), half, to);
          });
}

void bfloat16_to_float(const void* x, void* y, size_t n) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint16_t, decltype(d)> upper;
  convert(static_cast<const uint16_t*>(x), static_cast<uint32_t*>(y), n,
          [&](const uint16_t* from, uint32_t* to) {
            hn::StoreU(hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(upper, from))), d, to);
          });
}

/// Rounds as BFloat16(float) does.
void float_to_bfloat16(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> words;
  const hn::Rebind<uint16_t, decltype(d)> upper;
  convert(static_cast<const float*>(x), static_cast<uint16_t*>(y), n, [&](const float* from, uint16_t* to) {
    const auto value = hn::LoadU(d, from);
    const auto whole = hn::BitCast(words, value);
    const auto odd = hn::And(hn::ShiftRight<16>(whole), hn::Set(words, 1u));
    const auto rounded = hn::Add(hn::Add(whole, hn::Set(words, 0x7fffu)), odd);
    const auto nan = hn::RebindMask(words, hn::IsNaN(value));
    const auto bits = hn::IfThenElse(nan, hn::Or(whole, hn::Set(words, 0x400000u)), rounded);
    hn::StoreU(hn::TruncateTo(upper, hn::ShiftRight<16>(bits)), upper, to);
  });
}

/// What an int32 cannot hold becomes the least one.
void float_to_int32(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const auto least = hn::Set(d, -0x1p31f), beyond = hn::Set(d, 0x1p31f);
  convert(static_cast<const float*>(x), static_cast<int32_t*>(y), n, [&](const float* from, int32_t* to) {
    const auto values = hn::LoadU(d, from);
    const auto fits = hn::And(hn::Ge(values, least), hn::Lt(values, beyond));
    const auto whole = hn::ConvertTo(integers, values);
    hn::StoreU(hn::IfThenElse(hn::RebindMask(integers, fits), whole, hn::Set(integers, INT32_MIN)), integers,
               to);
  });
}

void int32_to_float(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  convert(static_cast<const int32_t*>(x), static_cast<float*>(y), n, [&](const int32_t* from, float* to) {
    hn::StoreU(hn::ConvertTo(d, hn::LoadU(integers, from)), d, to);
  });
}

/// Also for bool.
void uint8_to_float(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  convert(static_cast<const uint8_t*>(x), static_cast<float*>(y), n, [&](const uint8_t* from, float* to) {
    hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(integers, hn::LoadU(bytes, from))), d, to);
  });
}
#endif

UnaryLoop cast_loop_for(DType from, DType to) {
#if HWY_TARGET <= HWY_AVX2
  if (from == DType::Half && to == DType::Float) return half_to_float;
  if (from == DType::Float && to == DType::Half) return float_to_half;
  if (from == DType::BFloat16 && to == DType::Float) return bfloat16_to_float;
  if (from == DType::Float && to == DType::BFloat16) return float_to_bfloat16;
  if (from == DType::Float && to == DType::Int32) return float_to_int32;
  if (from == DType::Int32 && to == DType::Float) return int32_to_float;
  if ((from == DType::UInt8 || from == DType::Bool) && to == DType::Float) return uint8_to_float;
#endif
  return (void)from, (void)to, nullptr;
}

// ---- Selecting

template <class D>
HWY_INLINE auto promoted_bytes(D d, const bool* bytes) {
  const hn::Rebind<uint8_t, D> narrow;
  const hn::Rebind<uint32_t, D> words;
  const auto wide = hn::PromoteTo(words, hn::LoadU(narrow, reinterpret_cast<const uint8_t*>(bytes)));
  if constexpr (sizeof(hn::TFromD<D>) == 4)
    return wide;
  else
    return hn::PromoteTo(d, wide);
}

template <class T>
void select(const bool* condition, const void* on_true, const void* on_false, void* output, size_t n) {
  const T *t = static_cast<const T*>(on_true), *e = static_cast<const T*>(on_false);
  T* out = static_cast<T*>(output);
  const hn::ScalableTag<T> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto chosen = hn::Ne(promoted_bytes(d, condition + i), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(chosen, hn::LoadU(d, t + i), hn::LoadU(d, e + i)), d, out + i);
  }
  for (; i < n; ++i) out[i] = condition[i] ? t[i] : e[i];
}

SelectLoop select_loop_for(size_t bytes) {
  return bytes == 4 ? select<uint32_t> : bytes == 8 ? select<uint64_t> : nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(transpose_loop_for);
HWY_EXPORT(cast_loop_for);
HWY_EXPORT(select_loop_for);

TransposeLoop transpose_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(transpose_loop_for)(bytes); }
SelectLoop select_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(select_loop_for)(bytes); }
UnaryLoop vector_cast_loop(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(cast_loop_for)(from, to); }

}  // namespace troupe
#endif
