// A row-major matrix is a column-major matrix that is transposed. So c = a b is computed as c' = b' a', column-major: operand A of
// cuBLASLt is b, and operand B is a.
#if defined(__CUDACC__)
#include "kernels/gpu/blas_plan.h"

#include "devices/gpu_queue.h"
#include "kernels/gpu/launch.h"

namespace troupe::gpu {
namespace {

constexpr size_t workspace_limit = size_t{32} << 20;

Status status_of(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return internal(std::string("cuBLASLt: ") + what + " failed with status " + std::to_string(status));
}

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::Double: return CUDA_R_64F;
    case DType::Half: return CUDA_R_16F;
    case DType::BFloat16: return CUDA_R_16BF;
    default: return CUDA_R_32F;
  }
}

/// How the address of an operand is aligned, in bytes, up to what algorithms need.
uint32_t alignment_of(const void* address) {
  constexpr size_t most = 16;
  const auto bits = reinterpret_cast<uintptr_t>(address) | most;
  return static_cast<uint32_t>(bits & -bits);
}

cublasLtEpilogue_t epilogue_of(const Product& product) {
  if (product.bias) return product.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return product.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// Everything that a plan depends on.
std::vector<int64_t> key_of(const Product& p, bool tf32) {
  const int64_t flags = (p.transpose_a ? 1 : 0) | (p.transpose_b ? 2 : 0) | (p.bias ? 4 : 0) |
                        (p.relu ? 8 : 0) | (tf32 ? 16 : 0) | (p.adds ? 32 : 0) | (p.wide ? 64 : 0);
  const int64_t alignment =
      alignment_of(p.a) | alignment_of(p.b) << 8 | alignment_of(p.c) << 16 | alignment_of(p.bias) << 24;
  return {static_cast<int64_t>(p.dtype),
          p.rows,
          p.columns,
          p.inner,
          p.width_a(),
          p.width_b(),
          p.width_c(),
          p.batch,
          p.step_a,
          p.step_b,
          p.step_c,
          flags,
          alignment};
}

template <class T>
Status set(const CudaBlas& blas, cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute,
           T value) {
  return status_of(blas.desc_set(desc, attribute, &value, sizeof value), "setting an attribute of a product");
}

/// How a matrix is stored.
struct Stored {
  DType dtype;
  int64_t rows, columns;
  int64_t width, step;  ///< as Product's row_a and step_a
};

Status describe_matrix(const CudaBlas& blas, const Stored& matrix, int64_t matrices,
                       cublasLtMatrixLayout_t& layout) {
  TROUPE_RETURN_IF_FAILED(
      status_of(blas.layout_create(&layout, type_of(matrix.dtype), static_cast<uint64_t>(matrix.columns),
                                   static_cast<uint64_t>(matrix.rows), matrix.width),
                "describing a matrix"));
  const auto batch = static_cast<int32_t>(matrices);
  TROUPE_RETURN_IF_FAILED(
      status_of(blas.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
                "describing a batch"));
  return status_of(
      blas.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &matrix.step, sizeof matrix.step),
      "describing a batch");
}

}  // namespace

BlasPlan::~BlasPlan() {
  for (const cublasLtMatrixLayout_t layout : {a_, b_, c_})
    if (layout) blas_.layout_destroy(layout);
  if (desc_) blas_.desc_destroy(desc_);
}

Status BlasPlan::describe(const Product& product, bool tf32) {
  const bool is_double = product.dtype == DType::Double, is_float = product.dtype == DType::Float;
  const cublasComputeType_t compute = is_double          ? CUBLAS_COMPUTE_64F
                                      : is_float && tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F;
  TROUPE_RETURN_IF_FAILED(status_of(blas_.desc_create(&desc_, compute, is_double ? CUDA_R_64F : CUDA_R_32F),
                                    "describing a product"));
  const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
  TROUPE_RETURN_IF_FAILED(
      set(blas_, desc_, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<int32_t>(operation(product.transpose_b))));
  TROUPE_RETURN_IF_FAILED(
      set(blas_, desc_, CUBLASLT_MATMUL_DESC_TRANSB, static_cast<int32_t>(operation(product.transpose_a))));
  TROUPE_RETURN_IF_FAILED(
      set(blas_, desc_, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(epilogue_of(product))));
  if (product.bias)
    TROUPE_RETURN_IF_FAILED(set(blas_, desc_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias));
  const auto [rows, columns, inner] = std::array{product.rows, product.columns, product.inner};
  const Stored a{product.dtype, product.transpose_a ? inner : rows, product.transpose_a ? rows : inner,
                 product.width_a(), product.step_a};
  const Stored b{product.dtype, product.transpose_b ? columns : inner, product.transpose_b ? inner : columns,
                 product.width_b(), product.step_b};
  TROUPE_RETURN_IF_FAILED(describe_matrix(blas_, b, product.batch, a_));
  TROUPE_RETURN_IF_FAILED(describe_matrix(blas_, a, product.batch, b_));
  return describe_matrix(blas_, {product.dtype_c(), rows, columns, product.width_c(), product.step_c},
                         product.batch, c_);
}

Status BlasPlan::choose(const Product& product) {
  cublasLtMatmulPreference_t preference = nullptr;
  TROUPE_RETURN_IF_FAILED(status_of(blas_.preference_create(&preference), "choosing an algorithm"));
  const std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, decltype(blas_.preference_destroy)>
      owner(preference, blas_.preference_destroy);
  const std::pair<cublasLtMatmulPreferenceAttributes_t, uint32_t> alignments[] = {
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(product.b)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(product.a)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(product.c)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(product.c)}};
  for (const auto& [attribute, bytes] : alignments)
    TROUPE_RETURN_IF_FAILED(status_of(blas_.preference_set(preference, attribute, &bytes, sizeof bytes),
                                      "choosing an algorithm"));
  const size_t limit = workspace_limit;
  TROUPE_RETURN_IF_FAILED(status_of(
      blas_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit),
      "choosing an algorithm"));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status =
      blas_.heuristic(blas_.handle, desc_, a_, b_, c_, c_, preference, 1, &found, &count);
  works_ = status == CUBLAS_STATUS_SUCCESS && count != 0 && found.state == CUBLAS_STATUS_SUCCESS;
  algorithm_ = found.algo;
  workspace_ = found.workspaceSize;
  return {};
}

Result<std::shared_ptr<BlasPlan>> BlasPlan::make(const CudaBlas& blas, const Product& product, bool tf32) {
  auto plan = std::make_shared<BlasPlan>(blas);
  TROUPE_RETURN_IF_FAILED(plan->describe(product, tf32));
  TROUPE_RETURN_IF_FAILED(plan->choose(product));
  return plan;
}

Status BlasPlan::run(const CudaBlas& blas, DeviceContext& device, const Product& product) const {
  if (product.bias)
    TROUPE_RETURN_IF_FAILED(set(blas, desc_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias));
  BufferRef workspace;
  if (workspace_ != 0) {
    TROUPE_ASSIGN(workspace, scratch(device, workspace_));
  }
  const double factors[] = {0, 1};
  const float float_factors[] = {0, 1};
  const auto factor = [&](bool is_one) -> const void* {
    if (product.dtype == DType::Double) return factors + is_one;
    return float_factors + is_one;
  };
  return status_of(
      blas.matmul(blas.handle, desc_, factor(true), product.b, a_, product.a, b_, factor(product.adds),
                  product.c, c_, product.c, c_, &algorithm_, workspace ? workspace->data : nullptr,
                  workspace_, static_cast<cudaStream_t>(device.queue()->stream())),
      "a product");
}

Result<const BlasPlan*> plan_of(CudaBlas& blas, const Product& product, bool tf32) {
  std::shared_ptr<void>& kept = blas.plans[key_of(product, tf32)];
  if (!kept) {
    TROUPE_ASSIGN(kept, BlasPlan::make(blas, product, tf32));
  }
  return static_cast<const BlasPlan*>(kept.get());
}

}  // namespace troupe::gpu
#endif
