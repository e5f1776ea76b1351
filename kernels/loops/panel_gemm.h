// Products of float matrices of few rows, such as the tokens of one text, with a large matrix, such as the weights of a layer.
// Copying the large matrix into the order in which it is read takes about as long as such a product itself, so the copy is kept
// from step to step if the matrix stays the same (KeptFilter). Work is cut by the sizes alone, so equal inputs give equal bits
// for any number of threads. Pure functions; any thread.
#pragma once

#include "kernels/loops/gemm.h"
#include "kernels/loops/kept_filter.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

/// The sizes for which panel_gemm() is faster than other code.
struct PanelGemmLimits {
  int64_t max_rows = 256;                   ///< of a: other code has its best speed from more rows on
  int64_t min_elements = int64_t{1} << 17;  ///< of b: below, its copy costs little
};

bool panel_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b,
                     const PanelGemmLimits& limits = {});

/// Computes c = a b, row-major, for a and b whose columns are 1 apart, and applies the post-ops. `weights` is the tensor whose
/// elements b views; `kept` keeps the copy of it. Fails with ResourceExhausted if there is no memory for the copy.
Status panel_gemm(DeviceContext& device, const MatrixView<float>& a, const MatrixView<float>& b,
                  const Tensor& weights, KeptFilter& kept, const PostOps& post, float* c);

}  // namespace troupe
