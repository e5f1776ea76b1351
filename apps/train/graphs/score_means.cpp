#include "apps/train/graphs/score_means.h"

#include "apps/config/scores.h"

namespace troupe::train {
namespace {

double element(const Tensor& values, size_t i) {
  return values.dtype() == DType::Double ? values.as<double>()[i]
                                         : static_cast<double>(values.as<float>()[i]);
}

}  // namespace

SetMetrics set_metrics_of(const config::RunConfig& config) {
  SetMetrics metrics;
  for (const config::Definition& metric : config.train.metrics)
    if (const auto* const found = config::set_metric_of(metric)) metrics.emplace(metric.name, found);
  return metrics;
}

ScoreMeans::ScoreMeans(std::vector<std::string> names, SetMetrics metrics)
    : names_(std::move(names)), metrics_(std::move(metrics)), means_(names_.size()) {}

void ScoreMeans::add(std::span<const Tensor> values, double weight) {
  for (size_t k = 0; k < means_.size(); ++k) {
    means_[k].resize(static_cast<size_t>(values[k].elements()));
    for (size_t i = 0; i < means_[k].size(); ++i) means_[k][i] += weight * element(values[k], i);
  }
}

Scores ScoreMeans::result() const {
  Scores scores;
  for (size_t k = 0; k < names_.size(); ++k) {
    const auto metric = metrics_.find(names_[k]);
    const double first = means_[k].empty() ? 0 : means_[k].front();
    scores.emplace_back(names_[k], metric == metrics_.end() ? first : metric->second->value(means_[k]));
  }
  return scores;
}

}  // namespace troupe::train
