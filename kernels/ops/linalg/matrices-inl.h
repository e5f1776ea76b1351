// Batches of matrices, for the ops of linear algebra: the last two dimensions of a tensor hold a matrix, row by row, and the
// others count matrices. Matrices are copied into memory of Eigen before it computes with them: the order in which Eigen sums
// depends on how memory is aligned, and must not depend on where a tensor lies. Free functions and plain values without state.
#pragma once

#include <Eigen/Core>
#include <mutex>
#include <string_view>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/rows.h"

namespace troupe {

using MatrixTypes = Joined<FloatTypes, ComplexTypes>;

/// What is known of the shape of a batch of matrices.
struct MatrixShape {
  PartialShape batch;
  int64_t rows = unknown_dim, columns = unknown_dim;

  /// Returns the shape of as many other matrices.
  PartialShape with(int64_t other_rows, int64_t other_columns) const {
    return concatenate(batch, PartialShape{other_rows, other_columns});
  }
  PartialShape with(int64_t length) const { return concatenate(batch, PartialShape{length}); }
  /// Returns the number of rows or columns, whichever is less.
  int64_t least() const {
    return rows == unknown_dim || columns == unknown_dim ? unknown_dim : std::min(rows, columns);
  }
};

/// Returns what is known of the matrices in a tensor. Fails with InvalidArgument, naming the argument, if the rank is known and
/// less than 2.
Result<MatrixShape> matrix_shape(const PartialShape& shape, std::string_view argument);
/// Fails with InvalidArgument also if the matrices are known not to be square.
Result<MatrixShape> square_matrix_shape(const PartialShape& shape, std::string_view argument);
/// A shape function: output 0 has the shape of input 0, which holds square matrices.
Status square_matrices_shape(ShapeContext& context);

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using MatrixByRows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The type in which iterative decompositions compute: double, or complex128.
template <class T>
using DoubleType = std::conditional_t<is_complex_type<T>, std::complex<double>, double>;

/// The matrices of a tensor in host memory, of rank 2 or more, for Eigen. T is const for an input.
template <class T>
class Matrices {
 public:
  using Element = std::remove_const_t<T>;
  using View = std::conditional_t<std::is_const_v<T>, const MatrixByRows<Element>, MatrixByRows<Element>>;

  explicit Matrices(const Tensor& tensor) requires std::is_const_v<T>
      : Matrices(tensor.shape(), tensor.as<Element>().data()) {}
  explicit Matrices(Tensor& tensor) requires(!std::is_const_v<T>)
      : Matrices(tensor.shape(), tensor.write<Element>().data()) {}

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  Eigen::Map<View> operator[](size_t i) const {
    return {data_ + i * static_cast<size_t>(rows_ * columns_), rows_, columns_};
  }

 private:
  Matrices(const Shape& shape, T* data)
      : data_(data), rows_(shape[shape.rank() - 2]), columns_(shape[shape.rank() - 1]) {}

  T* data_;
  int64_t rows_, columns_;
};

/// Returns how many matrices, or vectors, a tensor with elements holds in its last `rank` dimensions.
inline size_t batch_size(const Tensor& tensor, size_t rank = 2) {
  const auto dims = tensor.shape().dims();
  return static_cast<size_t>(count_of(dims.first(dims.size() - rank)));
}

/// Returns InvalidArgument "input[0,2]: TEXT" for matrix i of an argument.
Status matrix_error(const Tensor& tensor, std::string_view argument, size_t i, std::string_view text);

/// Calls work(i) for the matrices [0, count), which returns a Status, and returns the failure of the first matrix that failed.
/// Each thread that computes makes its own work by make_work(), with the memory that it needs. `operations` is the number of
/// multiplications for one matrix.
template <class MakeWork>
Status for_each_matrix(Pool& pool, size_t count, int64_t operations, MakeWork&& make_work) {
  std::mutex mutex;
  size_t failed = count;
  Status status;
  parallel_rows(pool, count, 4 * static_cast<size_t>(operations), [&](size_t begin, size_t end) {
    auto work = make_work();
    for (size_t i = begin; i < end; ++i)
      if (Status result = work(i); !result.ok()) {
        const std::lock_guard lock(mutex);
        if (i < failed) {
          failed = i;
          status = std::move(result);
        }
        return;
      }
  });
  return status;
}

}  // namespace troupe
