#include "apps/train/evaluation.h"

#include <algorithm>

namespace troupe::train {

Evaluation::Evaluation(Session& session, const TrainingGraph& graph) : graph_(graph) {
  std::vector<Output> feeds, fetches{graph.evaluation_loss};
  for (const auto& [name, placeholder] : graph.evaluation.columns) feeds.push_back(placeholder);
  for (const auto& [name, metric] : graph.metrics) fetches.push_back(metric);
  step_ = session.prepare(feeds, fetches);
}

Scores Evaluation::run(const data::Dataset& data) const {
  Scores scores{{"loss", 0.0}};
  for (const auto& [name, metric] : graph_.metrics) scores.emplace_back(name, 0.0);
  for (int64_t begin = 0; begin < data.samples(); begin += batch) {
    const int64_t end = std::min(begin + batch, data.samples());
    const auto fetched = step_.run(feeds_of(graph_.evaluation, data.slice(begin, end)));
    const double weight = static_cast<double>(end - begin) / static_cast<double>(data.samples());
    for (size_t i = 0; i < scores.size(); ++i) scores[i].second += weight * number(fetched[i]);
  }
  return scores;
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
