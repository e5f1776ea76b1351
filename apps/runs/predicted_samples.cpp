#include "apps/runs/predicted_samples.h"

#include <algorithm>

#include "apps/runs/kept_columns.h"

namespace troupe::runs {
namespace {

/// How many samples are computed at once.
constexpr int64_t batch_size = 256;

Status check_kept(const data::Dataset& kept, int64_t samples, const std::vector<std::string>& outputs) {
  if (kept.columns().empty()) return {};
  if (kept.samples() != samples)
    return invalid_argument("the columns to keep have " + std::to_string(kept.samples()) + " rows for " +
                            std::to_string(samples) + " samples");
  for (const data::Column& column : kept.columns())
    if (std::ranges::find(outputs, column.name) != outputs.end())
      return invalid_argument("the column '" + column.name +
                              "' cannot be kept, because an output of the model has the same name");
  return {};
}

/// Returns whether another sample may not have failed.
bool blames_input(const Status& failure) {
  return failure.code() == Code::InvalidArgument || failure.code() == Code::DataLoss ||
         failure.code() == Code::OutOfRange;
}

Status check_request(const PredictionRequest& request) {
  if (request.files.empty() && request.part.empty())
    return invalid_argument(
        "there is nothing to predict: name files, or the part train, valid or test of the samples of the run "
        "file");
  if (request.part.empty()) return {};
  if (!request.files.empty())
    return invalid_argument("the part '" + request.part +
                            "' of the run file and files are asked for; leave out one of them");
  if (!request.keep.empty())
    return invalid_argument(
        "columns can be kept of files that are given; of samples of the run file the labels are kept");
  return {};
}

}  // namespace

Result<SamplesToPredict> samples_of(Disk& disk, const TrainedRun& run, const PredictionRequest& request) {
  TROUPE_RETURN_IF_FAILED(check_request(request));
  SamplesToPredict result;
  if (!request.part.empty()) {
    TROUPE_ASSIGN(result.samples,
                  samples_to_evaluate(disk, run, {.files = {}, .labels = {}, .part = request.part}));
    TROUPE_ASSIGN(result.kept, kept_labels(run, *result.samples));
    return result;
  }
  TROUPE_ASSIGN(result.samples, samples_to_predict(disk, run, request.files));
  if (!request.keep.empty()) {
    TROUPE_ASSIGN(result.kept, kept_columns(disk, run, request.files, request.keep));
  }
  result.name_of = [&disk, &run, files = request.files](int64_t sample) -> std::string {
    const auto paths = kept_columns(disk, run, files, {"file"});  // fails unless the samples are images
    return paths ? paths->columns()[0].values.as<std::string>()[static_cast<size_t>(sample)] : std::string();
  };
  return result;
}

PredictedSamples::PredictedSamples(SamplesToPredict input, const Model& model,
                                   std::vector<std::string> outputs, const Cancellation* cancellation)
    : input_(std::move(input)), model_(model), outputs_(std::move(outputs)), cancellation_(cancellation),
      batches_(input_.samples->batches(batch_size, 0, false)) {}

Result<std::unique_ptr<PredictedSamples>> PredictedSamples::make(SamplesToPredict input, const Model& model,
                                                                 std::vector<std::string> outputs,
                                                                 const Cancellation* cancellation) try {
  const auto& known = model.signature(Model::predict).outputs;
  if (outputs.empty())
    for (const ModelTensor& output : known) outputs.push_back(output.name);
  const auto unknown = std::ranges::find_if(outputs, [&](const std::string& name) {
    return std::ranges::find(known, name, &ModelTensor::name) == known.end();
  });
  if (unknown != outputs.end()) {
    std::string names;
    for (const ModelTensor& output : known) names.append(names.empty() ? "" : ", ").append(output.name);
    return invalid_argument("the model has no output '" + *unknown + "'; it has " + names);
  }
  TROUPE_RETURN_IF_FAILED(check_kept(input.kept, input.samples->samples(), outputs));
  std::unique_ptr<PredictedSamples> predicted(
      new PredictedSamples(std::move(input), model, std::move(outputs), cancellation));
  TROUPE_ASSIGN(const data::Dataset first, predicted->next());
  predicted->columns_ = first.slice(0, 0);
  TROUPE_RETURN_IF_FAILED(predicted->restart());
  return predicted;
} catch (const Error& error) {
  return error.status();
}

Result<std::vector<Tensor>> PredictedSamples::run(const data::Dataset& batch) const try {
  TROUPE_ASSIGN(const auto inputs, inputs_of(model_.signature(Model::predict), batch));
  return model_.run(inputs, Model::predict, cancellation_);
} catch (const Error& error) {
  return error.status();
}

Result<std::vector<Tensor>> PredictedSamples::outputs_of(const data::Dataset& batch, int64_t first) const {
  auto outputs = run(batch);
  if (outputs || !blames_input(outputs.status())) return outputs;
  for (int64_t i = 0; i < batch.samples(); ++i) {
    const auto alone = run(batch.slice(i, i + 1));
    if (alone) continue;
    std::string name = input_.name_of ? input_.name_of(first + i) : "";
    if (name.empty()) name = "sample " + std::to_string(first + i + 1);
    return data_loss(name + ": " + alone.status().message());
  }
  return outputs;
}

Result<data::Dataset> PredictedSamples::next() try {
  if (next_ == batches_->per_epoch()) return columns_;
  TROUPE_ASSIGN(const data::Dataset batch, batches_->at(static_cast<uint64_t>(next_)));
  const int64_t begin = next_ * batch_size;
  ++next_;
  const ModelSignature& signature = model_.signature(Model::predict);
  TROUPE_ASSIGN(const auto values, outputs_of(batch, begin));
  std::vector<data::Column> columns;
  for (const data::Column& column : input_.kept.columns())
    columns.push_back({column.name, column.values.rows(begin, begin + batch.samples())});
  for (const std::string& name : outputs_) {
    const auto at =
        std::ranges::find(signature.outputs, name, &ModelTensor::name) - signature.outputs.begin();
    const Tensor& value = values[static_cast<size_t>(at)];
    if (value.shape().rank() == 0 || value.shape()[0] != batch.samples())
      return invalid_argument("output '" + name + "' is " + value.signature() + " for " +
                              std::to_string(batch.samples()) + " samples; it must have a row for each");
    columns.push_back({name, value});
  }
  return data::Dataset(std::move(columns));
} catch (const Error& error) {
  return error.status();
}

}  // namespace troupe::runs
