#include "kernels/loops/sum.h"

#include "kernels/core/parallel.h"
#include "kernels/loops/arithmetic.h"

namespace troupe {
namespace {

constexpr size_t narrow_block = 512;  ///< the number of elements that are widened at a time

}  // namespace

Sum::Sum(DType dtype) : bytes_(size_of(dtype)) {
  add_ = binary_loop<VectorBinary::Add, Add, Joined<IntegerTypes, ComplexTypes>>(
      is_narrow(dtype) ? DType::Float : dtype);
  if (!is_narrow(dtype)) return;
  widen_ = cast_loop(dtype, DType::Float);
  narrow_ = cast_loop(DType::Float, dtype);
}

void Sum::add(Pool& pool, std::span<const std::byte* const> terms, Tensor& out) const {
  std::byte* const to = out.mutable_data();
  parallel_items(pool, static_cast<size_t>(out.elements()), (terms.size() + 1) * bytes_,
                 [&](size_t begin, size_t end) {
                   widen_ ? add_narrow(terms, to, begin, end) : add_block(terms, to, begin, end);
                 });
}

void Sum::add_block(std::span<const std::byte* const> terms, std::byte* out, size_t begin, size_t end) const {
  const size_t at = begin * bytes_;
  add_(terms[0] + at, 1, terms[1] + at, 1, out + at, end - begin);
  for (size_t i = 2; i < terms.size(); ++i) add_(out + at, 1, terms[i] + at, 1, out + at, end - begin);
}

void Sum::add_narrow(std::span<const std::byte* const> terms, std::byte* out, size_t begin,
                     size_t end) const {
  float total[narrow_block], term[narrow_block];
  for (size_t i = begin; i < end; i += narrow_block) {
    const size_t n = std::min(narrow_block, end - i);
    widen_(terms[0] + i * bytes_, total, n);
    for (size_t k = 1; k < terms.size(); ++k) {
      widen_(terms[k] + i * bytes_, term, n);
      add_(total, 1, term, 1, total, n);
    }
    narrow_(total, out + i * bytes_, n);
  }
}

}  // namespace troupe
