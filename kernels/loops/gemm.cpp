#include "kernels/loops/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>

#include "kernels/core/type_dispatch.h"
#include "kernels/loops/arithmetic.h"
#include "kernels/loops/packed_gemm.h"

namespace troupe {
namespace {

// ---- One product on one thread

/// Keeps signals from being handled on this thread during its lifetime: they are handled by another thread, or afterwards. Those
/// of faults of the thread itself stay as they are.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t signals;
    sigfillset(&signals);
    for (const int fault : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP})
      sigdelset(&signals, fault);
    pthread_sigmask(SIG_BLOCK, &signals, &former_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t former_;
};

/// The rows of b for which oneDNN's sgemm keeps its scratch memory on the stack. For more of them, it points the stack pointer at
/// scratch memory of the heap, where a handler of a signal would overwrite whatever lies before that memory.
constexpr int64_t rows_on_the_stack = 64;

Status multiply_tiles(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  omp_set_num_threads(1);  // for calls of this thread: the pool splits the work
  const auto form = [](const MatrixView<float>& m) { return m.column_stride == 1 ? 'N' : 'T'; };
  // The stride of a single row is unused, but must be at least the length of the row.
  const auto stride = [](const MatrixView<float>& m) {
    return m.column_stride == 1 ? std::max(m.row_stride, m.columns) : std::max(m.column_stride, m.rows);
  };
  std::optional<BlockedSignals> blocked;
  if (b.rows > rows_on_the_stack) blocked.emplace();
  const dnnl_status_t status = dnnl_sgemm(form(a), form(b), a.rows, b.columns, a.columns, 1.0f, a.data,
                                          stride(a), b.data, stride(b), 0.0f, c, c_stride);
  return status == dnnl_success
             ? Status{}
             : resource_exhausted("oneDNN's sgemm failed with status " + std::to_string(status));
}

Status multiply(const MatrixView<float>& a, const MatrixView<float>& b, float* c, int64_t c_stride) {
  if (dot_gemm_pays(a, b)) {
    dot_gemm(a, b, c, c_stride);
    return {};
  }
  // The number of columns in the registers of its AVX-512 kernels; its AVX2 kernels have half as many.
  constexpr int64_t tile = 48;
  const int64_t beyond = b.columns % tile, whole = b.columns - beyond;
  if (whole == 0 || beyond == 0 || beyond > thin_columns) return multiply_tiles(a, b, c, c_stride);
  thin_gemm(a, b.column_range(whole, b.columns), c + whole, c_stride);
  return multiply_tiles(a, b.column_range(0, whole), c, c_stride);
}

template <class T>
requires std::is_same_v<T, double> || std::is_same_v<T, int32_t> Status multiply(const MatrixView<T>& a,
                                                                                 const MatrixView<T>& b, T* c,
                                                                                 int64_t c_stride) {
  blocked_gemm(a, b, c, c_stride);
  return {};
}

template <class T>
Status multiply(const MatrixView<std::complex<T>>& a, const MatrixView<std::complex<T>>& b,
                std::complex<T>* c, int64_t c_stride) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < b.columns; ++j) {
      T real = 0, imaginary = 0;
      for (int64_t k = 0; k < a.columns; ++k) {
        const auto x = a.data[i * a.row_stride + k * a.column_stride],
                   y = b.data[k * b.row_stride + j * b.column_stride];
        real += x.real() * y.real() - x.imag() * y.imag();
        imaginary += x.real() * y.imag() + x.imag() * y.real();
      }
      c[i * c_stride + j] = {real, imaginary};
    }
  return {};
}

template <class T>
requires std::is_same_v<T, int64_t> || std::is_same_v<T, int16_t> Status multiply(const MatrixView<T>& a,
                                                                                  const MatrixView<T>& b,
                                                                                  T* c, int64_t c_stride) {
  for (int64_t i = 0; i < a.rows; ++i) {
    T* const row = c + i * c_stride;
    std::fill_n(row, b.columns, T{0});
    for (int64_t k = 0; k < a.columns; ++k) {
      const T x = a.data[i * a.row_stride + k * a.column_stride];
      const T* const y = b.data + k * b.row_stride;
      for (int64_t j = 0; j < b.columns; ++j)
        row[j] = Add::apply(row[j], Mul::apply(x, y[j * b.column_stride]));
    }
  }
  return {};
}

// ---- Blocks

constexpr double block_operations = 8e6;  ///< multiplications and additions of one chunk of the pool: 50 us
constexpr int64_t max_blocks = 16;
constexpr int64_t least_block = 32;

/// The way a product is cut: into blocks as square as possible, because each block copies its rows of a and its columns of b
/// into place.
struct Cut {
  struct Side {
    int64_t block, blocks;

    explicit Side(int64_t length) : block(length), blocks(1) {}
    void halve(int64_t length) {
      const int64_t wanted = 2 * blocks, even = (length + wanted - 1) / wanted;
      block = (even + least_block - 1) / least_block * least_block;
      blocks = (length + block - 1) / block;
    }
  };
  Side rows, columns;

  Cut(int64_t m, int64_t k, int64_t n) : rows(m), columns(n) {
    const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    const auto wanted = static_cast<int64_t>(std::min(operations / block_operations, double{max_blocks}));
    while (2 * blocks() <= wanted && std::max(rows.block, columns.block) > least_block)
      rows.block >= columns.block ? rows.halve(m) : columns.halve(n);
  }
  int64_t blocks() const { return rows.blocks * columns.blocks; }
};

template <class T>
Status multiply_block(const Cut& cut, int64_t index, const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  const int64_t row = index / cut.columns.blocks * cut.rows.block,
                column = index % cut.columns.blocks * cut.columns.block;
  return multiply(a.row_range(row, std::min(row + cut.rows.block, a.rows)),
                  b.column_range(column, std::min(column + cut.columns.block, b.columns)),
                  c + row * b.columns + column, b.columns);
}

Status multiply_packed(DeviceContext& device, size_t count, MatrixView<float> a, MatrixView<float> b,
                       float* c) {
  for (size_t i = 0; i < count; ++i) {
    TROUPE_RETURN_IF_FAILED(packed_gemm(device, a, b, {}, c));
    a.data += a.rows * a.columns;
    b.data += b.rows * b.columns;
    c += a.rows * b.columns;
  }
  return {};
}

template <class T>
requires std::is_same_v<T, ComputeType<T>> Status multiply_all(DeviceContext& device, size_t count,
                                                               const MatrixView<T>& a, const MatrixView<T>& b,
                                                               T* c) {
  if constexpr (std::is_same_v<T, float>)
    if (packed_gemm_pays(a, b)) return multiply_packed(device, count, a, b, c);
  const Cut cut(a.rows, a.columns, b.columns);
  const auto per_product = static_cast<size_t>(cut.blocks());
  const auto one = [&](size_t i) {
    const auto product = static_cast<int64_t>(i / per_product), block = static_cast<int64_t>(i % per_product);
    MatrixView<T> left = a, right = b;
    left.data += product * a.rows * a.columns;
    right.data += product * b.rows * b.columns;
    return multiply_block(cut, block, left, right, c + product * a.rows * b.columns);
  };
  if (count * per_product == 1) return one(0);
  const double operations = 2.0 * static_cast<double>(cut.rows.block) * static_cast<double>(a.columns) *
                            static_cast<double>(cut.columns.block);
  // Several small products of a batch.
  const auto together = static_cast<size_t>(std::max(block_operations / operations, 1.0));
  std::atomic<bool> failed = false;
  device.pool().blocks(count * per_product, together, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (!one(i).ok()) failed = true;
  });
  return failed ? resource_exhausted("there is not enough memory for the scratch buffers of a matrix product")
                : Status{};
}

/// For half and bfloat16: converts the matrices to float, and the product back.
template <class T>
requires(!std::is_same_v<T, ComputeType<T>>) Status
    multiply_all(DeviceContext& device, size_t count, const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  const auto scratch = [&](int64_t rows, int64_t columns) {
    return Tensor::allocate(f32, Shape{static_cast<int64_t>(count), rows, columns}, device.memory());
  };
  const auto widened = [](const MatrixView<T>& view, std::span<float> to) {
    std::transform(view.data, view.data + to.size(), to.begin(),
                   [](T value) { return static_cast<float>(value); });
    return MatrixView<float>{to.data(), view.rows, view.columns, view.row_stride, view.column_stride};
  };
  TROUPE_ASSIGN(Tensor left, scratch(a.rows, a.columns));
  TROUPE_ASSIGN(Tensor right, scratch(b.rows, b.columns));
  TROUPE_ASSIGN(Tensor product, scratch(a.rows, b.columns));
  TROUPE_RETURN_IF_FAILED(multiply_all(device, count, widened(a, left.write<float>()),
                                       widened(b, right.write<float>()), product.write<float>().data()));
  std::ranges::transform(product.as<float>(), c, [](float value) { return T(value); });
  return {};
}

}  // namespace

template <class T>
Status gemm(DeviceContext& device, size_t count, const MatrixView<T>& a, const MatrixView<T>& b, T* c) {
  const size_t elements = count * static_cast<size_t>(a.rows * b.columns);
  if (elements == 0) return {};
  if (a.columns == 0) {
    std::fill_n(c, elements, T{});
    return {};
  }
  return multiply_all(device, count, a, b, c);
}

template Status gemm(DeviceContext&, size_t, const MatrixView<float>&, const MatrixView<float>&, float*);
template Status gemm(DeviceContext&, size_t, const MatrixView<double>&, const MatrixView<double>&, double*);
template Status gemm(DeviceContext&, size_t, const MatrixView<int32_t>&, const MatrixView<int32_t>&,
                     int32_t*);
template Status gemm(DeviceContext&, size_t, const MatrixView<int64_t>&, const MatrixView<int64_t>&,
                     int64_t*);
template Status gemm(DeviceContext&, size_t, const MatrixView<int16_t>&, const MatrixView<int16_t>&,
                     int16_t*);
template Status gemm(DeviceContext&, size_t, const MatrixView<Half>&, const MatrixView<Half>&, Half*);
template Status gemm(DeviceContext&, size_t, const MatrixView<BFloat16>&, const MatrixView<BFloat16>&,
                     BFloat16*);
template Status gemm(DeviceContext&, size_t, const MatrixView<std::complex<float>>&,
                     const MatrixView<std::complex<float>>&, std::complex<float>*);
template Status gemm(DeviceContext&, size_t, const MatrixView<std::complex<double>>&,
                     const MatrixView<std::complex<double>>&, std::complex<double>*);

}  // namespace troupe
