#include "apps/train/rounds/evaluation.h"

namespace troupe::train {

Evaluation::Evaluation(Session& session, const TrainingGraph& graph) : graph_(graph) {
  std::vector<Output> feeds, fetches{graph.evaluation_loss};
  for (const auto& [name, placeholder] : graph.evaluation.columns) feeds.push_back(placeholder);
  for (const auto& [name, metric] : graph.metrics) fetches.push_back(metric);
  step_ = session.prepare(feeds, fetches);
}

Scores Evaluation::run(const data::SampleSet& data) const {
  std::vector<std::string> names{"loss"};
  for (const auto& [name, metric] : graph_.metrics) names.push_back(name);
  ScoreMeans means(std::move(names), graph_.set_metrics);
  const auto batches = data.batches(batch, 0, false);
  for (int64_t i = 0; i < batches->per_epoch(); ++i) {
    const data::Dataset samples = value_or_throw(batches->at(static_cast<uint64_t>(i)));
    means.add(step_.run(feeds_of(graph_.evaluation, samples)),
              static_cast<double>(samples.samples()) / static_cast<double>(data.samples()));
  }
  return means.result();
}

std::vector<Tensor> feeds_of(const TowerInputs& inputs, const data::Dataset& data) {
  std::vector<Tensor> feeds;
  for (const auto& [name, placeholder] : inputs.columns) feeds.push_back(*data.find(name));
  return feeds;
}

double number(const Tensor& scalar) {
  return scalar.dtype() == DType::Double ? scalar.as<double>()[0]
                                         : static_cast<double>(scalar.as<float>()[0]);
}

}  // namespace troupe::train
