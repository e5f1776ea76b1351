// Losses and metrics of run files by their names: train.loss = "huber" stands for the loss of the model's result and the label.
// Functions without state; any thread.
#pragma once

#include "apps/config/document.h"
#include "apps/config/evaluate.h"
#include "apps/nn/losses.h"

namespace troupe::config {

/// Replaces a list of metrics, `metrics = ["accuracy"]`, by a table, `{ accuracy = "accuracy" }`. `root` is that of the document,
/// which has not been checked.
void expand_metric_names(Table& root);

/// Returns the definition, whose expression is replaced if it is only the name of a loss or metric: by a call with what the model
/// yields, `logits` or else `output`, and `label`.
Definition with_model(Definition score, const Symbols& symbols);

/// Returns the metric that the expression calls, with all of it, or null if it is the mean of those of batches.
const nn::SetMetric* set_metric_of(const Definition& metric);

}  // namespace troupe::config
