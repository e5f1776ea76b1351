// What is probably not meant in a model, though it can be trained. Functions without state; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/config/model.h"
#include "apps/data/dataset.h"
#include "apps/runs/label_check.h"

namespace troupe::runs {

/// Returns a warning for each pair of tensors [batch] and [batch, 1] that the loss or a metric combines element by element: the
/// result is a matrix with an element for each pair of samples.
std::vector<std::string> warnings_of_broadcasts(const Graph& graph, const config::RunConfig& config,
                                                const config::BuiltModel& model);

/// Returns a warning for each definition of the run file that neither the loss nor a metric nor one of `outputs` needs.
std::vector<std::string> warnings_of_unused(const Graph& graph, const config::RunConfig& config,
                                            const config::BuiltModel& model, std::vector<Output> outputs);

/// Returns a warning for each loss of classes whose logits have gone through the softmax or the sigmoid that the loss applies
/// itself, or are a single value, of which any softmax is 1.
std::vector<std::string> warnings_of_classes(const Graph& graph, const config::RunConfig& config,
                                             const config::BuiltModel& model);

/// Returns the labels that the loss takes; nothing if it takes no classes, or if their number is not known.
std::optional<LabelRange> range_of_labels(const Graph& graph, const config::RunConfig& config,
                                          const config::BuiltModel& model);

/// Fails with InvalidArgument if the logits of a loss have fewer values than the label has classes, and with DataLoss if the label
/// has negative ones: then no step can compute the loss. `columns` are samples to train on, as many as are at hand.
Status check_classes(const Graph& graph, const config::RunConfig& config, const config::BuiltModel& model,
                     const data::Dataset& columns);

/// Returns a warning if train.early_stop or train.plateau takes the worst values of its metric for the best ones, and one for each
/// metric of classes beside a loss of numbers.
std::vector<std::string> warnings_of_scores(const config::RunConfig& config);

}  // namespace troupe::runs
