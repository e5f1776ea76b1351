// PredictedSamples: what a model yields for samples, as samples whose columns are its outputs, behind those that are kept of the
// files. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/data/convert/sample_stream.h"
#include "apps/runs/trained_run.h"

namespace troupe::runs {

/// Returns what a user calls a sample, given its number from 0: the path of its file; empty if the number must do.
using NameOfSample = std::function<std::string(int64_t sample)>;

/// What to predict: files, or samples of the run file.
struct PredictionRequest {
  std::vector<std::string> files;
  std::string part;  ///< if there are no files: "train", "valid" or "test", whose labels are kept
  std::vector<std::string> keep;  ///< columns of the files: see kept_columns()
};

struct SamplesToPredict {
  std::shared_ptr<const data::SampleSet> samples;
  data::Dataset kept = {};    ///< columns for in front of the outputs, with a row for each sample
  NameOfSample name_of = {};  ///< for errors
};

/// Reads the samples that a request asks for. `disk` and `run` must outlive them. Fails with InvalidArgument unless the request
/// names either files or a part, and as samples_to_predict(), samples_to_evaluate() and kept_columns() do.
Result<SamplesToPredict> samples_of(Disk& disk, const TrainedRun& run, const PredictionRequest& request);

class PredictedSamples final : public data::SampleStream {
 public:
  /// Predicts the first batch. `outputs` are the names of the columns; empty: all outputs of the model. Fails with InvalidArgument
  /// if the model has no such output, if an output or a column that is kept does not have a row for each sample, or both have one
  /// name, with DataLoss, naming the sample, if the model does not take it, and as the model does. `cancellation`, which may be
  /// null and must outlive the result, cancels this call and those of next().
  static Result<std::unique_ptr<PredictedSamples>> make(SamplesToPredict input, const Model& model,
                                                        std::vector<std::string> outputs,
                                                        const Cancellation* cancellation = nullptr);

  const data::Dataset& columns() const override { return columns_; }
  int64_t samples() const override { return input_.samples->samples(); }
  Result<data::Dataset> next() override;
  Status restart() override {
    next_ = 0;
    return {};
  }

 private:
  PredictedSamples(SamplesToPredict input, const Model& model, std::vector<std::string> outputs,
                   const Cancellation* cancellation);

  Result<std::vector<Tensor>> run(const data::Dataset& batch) const;
  /// Does the same for a batch whose first sample has the number `first`; names the sample that makes it fail.
  Result<std::vector<Tensor>> outputs_of(const data::Dataset& batch, int64_t first) const;

  const SamplesToPredict input_;
  const Model model_;
  const std::vector<std::string> outputs_;
  const Cancellation* const cancellation_;
  std::unique_ptr<data::Batches> batches_;
  data::Dataset columns_;
  int64_t next_ = 0;  ///< the next batch
};

}  // namespace troupe::runs
