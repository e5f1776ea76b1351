// ColumnBuilder: makes one input of a graph from the batches that a reader yields. It casts, scales, reshapes and joins them. One
// thread.
#pragma once

#include <optional>
#include <vector>

#include "apps/data/options.h"

namespace troupe::data {

class ColumnBuilder {
 public:
  ColumnBuilder() = default;
  /// Makes a builder for `input` from the column `field`. Numbers are multiplied by `scale`, in the type scaled_type().
  /// `samples` is the number of samples, if it is known. Fails with InvalidArgument if the shape of the input does not match the
  /// number of elements of a sample.
  static Result<ColumnBuilder> make(const Input& input, const Field& field, double scale,
                                    std::optional<int64_t> samples);

  const std::string& name() const { return input_.name; }
  /// Adds a batch. Fails with DataLoss if an element cannot be cast.
  Status add(const Dataset& batch);
  /// Returns all added batches as one tensor of shape [samples, ...]. Fails with ResourceExhausted if there is too little memory.
  Result<Tensor> finish();

 private:
  Result<Tensor> converted(const Tensor& values) const;
  Result<Tensor> allocate(int64_t samples) const;

  Input input_;
  std::vector<int64_t> shape_;  ///< the shape of a sample
  bool feature_ = false;
  double scale_ = 1;
  int64_t samples_ = 0;          ///< the number of samples added so far
  Tensor whole_;                 ///< the result, if the number of samples is known
  std::vector<Tensor> batches_;  ///< the added batches, if it is not known
};

}  // namespace troupe::data
