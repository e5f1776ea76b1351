// PredictedSamples: what a model yields for the samples of a set, as samples whose columns are its outputs, behind those that are
// kept of the files. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/data/convert/sample_stream.h"
#include "apps/inference/model.h"

namespace troupe::runs {

/// Returns what a user calls a sample, given its number from 0: the path of its file; empty if the number must do.
using NameOfSample = std::function<std::string(int64_t sample)>;

class PredictedSamples final : public data::SampleStream {
 public:
  /// Predicts the first batch. `outputs` are the names of the columns; empty: all outputs of the model. `kept` has columns for in
  /// front of them, with a row for each sample; it may have none. Fails with NotFound if the model has no such output, with
  /// InvalidArgument if an output or `kept` does not have a row for each sample, or both have a column of one name, with DataLoss,
  /// naming the sample, if the model does not take it, and as the model does.
  static Result<std::unique_ptr<PredictedSamples>> make(std::shared_ptr<const data::SampleSet> samples,
                                                        const Model& model, std::vector<std::string> outputs,
                                                        data::Dataset kept = {}, NameOfSample name_of = {});

  const data::Dataset& columns() const override { return columns_; }
  int64_t samples() const override { return samples_->samples(); }
  Result<data::Dataset> next() override;
  Status restart() override {
    next_ = 0;
    return {};
  }

 private:
  PredictedSamples(std::shared_ptr<const data::SampleSet> samples, const Model& model,
                   std::vector<std::string> outputs, data::Dataset kept, NameOfSample name_of);

  Result<std::vector<Tensor>> run(const data::Dataset& batch) const;
  /// Does the same for a batch whose first sample has the number `first`; names the sample that makes it fail.
  Result<std::vector<Tensor>> outputs_of(const data::Dataset& batch, int64_t first) const;

  std::shared_ptr<const data::SampleSet> samples_;
  const Model model_;
  const std::vector<std::string> outputs_;
  const data::Dataset kept_;
  const NameOfSample name_of_;
  std::unique_ptr<data::Batches> batches_;
  data::Dataset columns_;
  int64_t next_ = 0;  ///< the next batch
};

}  // namespace troupe::runs
