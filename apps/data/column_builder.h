// ColumnBuilder: one input of a graph, made of the batches that a reader yields: reshaped, scaled, cast, one after the other. One
// thread.
#pragma once

#include <optional>
#include <vector>

#include "apps/data/options.h"

namespace troupe::data {

class ColumnBuilder {
 public:
  ColumnBuilder() = default;
  /// `field`: what it is made of. `scale`: features are multiplied by it. `samples`: how many there will be, if that is known.
  /// InvalidArgument when the shape of the input does not hold a sample.
  static Result<ColumnBuilder> make(const Input& input, const Field& field, double scale,
                                    std::optional<int64_t> samples);

  const std::string& name() const { return input_.name; }
  /// DataLoss when an element cannot be cast.
  Status add(const Dataset& batch);
  /// All that was added: [samples, ...]. ResourceExhausted when there is no memory for it.
  Result<Tensor> finish();

 private:
  Result<Tensor> converted(const Tensor& values) const;
  Result<Tensor> allocate(int64_t samples) const;

  Input input_;
  std::vector<int64_t> shape_;  ///< of a sample
  bool feature_ = false;
  float scale_ = 1;
  int64_t samples_ = 0;          ///< added so far
  Tensor whole_;                 ///< where the number of samples is known
  std::vector<Tensor> batches_;  ///< where it is not
};

}  // namespace troupe::data
