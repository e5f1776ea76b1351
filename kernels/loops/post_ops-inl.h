// The vector code of post-ops. Included once for each instruction set, after foreach_target.h. Functions without state.
#if defined(TROUPE_POST_OPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TROUPE_POST_OPS_INL_H
#undef TROUPE_POST_OPS_INL_H
#else
#define TROUPE_POST_OPS_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/loops/post_ops.h"

HWY_BEFORE_NAMESPACE();
namespace troupe {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the results for the elements x, of which the first stands in `column` and is number `element` of the matrix.
template <class D>
HWY_INLINE hn::Vec<D> with_post_ops(const PostOps& post, D d, hn::Vec<D> x, int64_t column, int64_t element) {
  if (post.mean) {
    const auto distance = hn::Sub(x, hn::LoadU(d, post.mean + column));
    x = hn::MulAdd(distance, hn::LoadU(d, post.factor + column), hn::LoadU(d, post.offset + column));
  } else if (post.offset) {
    x = hn::Add(x, hn::LoadU(d, post.offset + column));
  }
  if (post.added) x = hn::Add(x, hn::LoadU(d, post.added + element));
  if (post.relu) x = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
  return x;
}

}  // namespace HWY_NAMESPACE
}  // namespace troupe
HWY_AFTER_NAMESPACE();

#endif
