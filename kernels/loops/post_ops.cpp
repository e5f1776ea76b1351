#include "kernels/loops/post_ops.h"

#include "kernels/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/loops/post_ops.cpp"
#include <hwy/foreach_target.h>

#include "kernels/loops/post_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {

void apply_to_region(const PostOps& post, const MatrixRegion& region, float* matrix) {
  const hn::ScalableTag<float> wide;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  const int64_t end = region.first_column + region.columns;
  for (int64_t row = region.first_row; row < region.first_row + region.rows; ++row) {
    const auto step = [&](auto d, int64_t column) HWY_ATTR {
      const int64_t element = row * region.stride + column;
      float* const at = matrix + element;
      hn::StoreU(with_post_ops(post, d, hn::LoadU(d, at), column, element), d, at);
    };
    int64_t column = region.first_column;
    for (; column + lanes <= end; column += lanes) step(wide, column);
    for (; column < end; ++column) step(one, column);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace troupe {

HWY_EXPORT(apply_to_region);

void apply_post_ops(const PostOps& post, const MatrixRegion& region, float* matrix) {
  if (!post.any()) return;
  HWY_DYNAMIC_DISPATCH(apply_to_region)(post, region, matrix);
}

void apply_post_ops(Pool& pool, const PostOps& post, int64_t rows, int64_t columns, float* matrix) {
  const size_t cost = static_cast<size_t>(columns) * sizeof(float) * (post.added ? 3 : 2);
  parallel_rows(pool, static_cast<size_t>(rows), cost, [&](size_t begin, size_t end) {
    apply_post_ops(
        post, {static_cast<int64_t>(begin), static_cast<int64_t>(end - begin), 0, columns, columns}, matrix);
  });
}

}  // namespace troupe
#endif
