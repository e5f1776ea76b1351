// Products of large float matrices. Both are first copied into the order in which the vector code reads them, so neither
// transposed matrices nor rows that a power of two keeps apart cost more; this pays where each copied element is used often. The
// scheme is that of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008. Work is cut by the sizes
// alone, so equal inputs give equal bits for any number of threads. Pure functions; any thread.
#pragma once

#include "kernels/loops/gemm.h"
#include "kernels/loops/post_ops.h"

namespace troupe {

/// Returns whether the copies pay.
bool packed_gemm_pays(const MatrixView<float>& a, const MatrixView<float>& b);

/// Computes c = a b, row-major, and applies the post-ops. Needs scratch memory of the size of both, but at most 128 MiB unless a
/// row of a has more than 170,000 elements, and little memory for a small product of deep matrices. Fails with ResourceExhausted
/// if there is none.
Status packed_gemm(DeviceContext& device, const MatrixView<float>& a, const MatrixView<float>& b,
                   const PostOps& post, float* c);

}  // namespace troupe
