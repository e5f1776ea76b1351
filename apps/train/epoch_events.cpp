#include "apps/train/epoch_events.h"

#include "apps/train/rounds/evaluation.h"
#include "graph/build/variables.h"

namespace troupe::train {
namespace {

/// Returns the names and values of the trainable variables.
std::vector<std::pair<std::string, Tensor>> named_weights(Session& session, const Graph& graph) {
  const std::vector<Output> weights = trainable_variables(graph);
  const std::vector<Tensor> values = session.run(weights);
  std::vector<std::pair<std::string, Tensor>> result;
  for (size_t i = 0; i < weights.size(); ++i)
    result.emplace_back(graph.node(weights[i].node).name, values[i]);
  return result;
}

/// Returns the summaries of the images of the first samples.
std::vector<Tensor> images_of(const ShownModel& shown, Session& session) {
  constexpr int64_t most = 8;
  const data::Dataset samples = value_or_throw(shown.samples.batches(most, 0, false)->at(0));
  std::vector<Output> columns;
  for (const auto& [name, placeholder] : shown.model.evaluation.columns) columns.push_back(placeholder);
  return session.prepare(columns, shown.model.images).run(feeds_of(shown.model.evaluation, samples));
}

}  // namespace

void log_events(const ShownModel& shown, Session& session, uint64_t step, RunFolder& folder) {
  if (shown.observe.histograms) folder.log_histograms(step, named_weights(session, shown.graph));
  if (shown.model.images.empty()) return;
  for (const Tensor& summary : images_of(shown, session))
    folder.log_summary(step, summary.as<std::string>()[0]);
}

}  // namespace troupe::train
