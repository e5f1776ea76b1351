// Losses and metrics of run files by their names: train.loss = "huber" stands for the loss of the model's result and the label.
// Functions without state; any thread.
#pragma once

#include "apps/config/document.h"
#include "apps/config/evaluate.h"
#include "apps/config/run_config.h"
#include "apps/nn/losses.h"

namespace troupe::config {

/// Returns whether a metric is a single name that stands for no score and no symbol.
bool is_unknown_name(const Definition& metric, const Symbols& symbols);
/// Returns whether a loss or metric is only a name, and the model has neither `logits` nor `output`, which with_model() needs.
bool lacks_result(const Definition& score, const Symbols& symbols);
/// Returns what to write instead of the name of a metric that does not exist, such as "; write \"f1\"", or which there are.
std::string advice_on_metric(const std::string& name);
/// Returns the same for a loss. It may also be a name of `symbols`.
std::string advice_on_loss(const std::string& name, const Symbols& symbols);

/// Replaces a list of metrics, `metrics = ["accuracy"]`, by a table, `{ accuracy = "accuracy" }`. `root` is that of the document,
/// which has not been checked.
void expand_metric_names(Table& root);

/// What a metric compares: the result for a sample with its label, or each element of several labels by itself.
enum class Comparison : uint8_t { OfSamples, EachLabel };
/// Returns what a metric that is only a name compares. One of classes compares each label by itself where the loss
/// binary_cross_entropy does and the model has several results for a sample, which may all be true.
Comparison comparison_of(const Definition& metric, const Definition& loss, const Scope& scope,
                         const Symbols& symbols);

/// Returns the definition, whose expression is replaced if it is only the name of a loss or metric: by a call with what the model
/// yields, `logits` or else `output`, `label` and, unless they are empty, further arguments.
Definition with_model(Definition score, const Symbols& symbols, const std::string& more,
                      Comparison comparison);

/// Returns train.class_weights as an argument of the loss; empty if there are none.
std::string class_weights_argument(const Train& train);
/// Returns what speaks against train.class_weights, if the run file has them; empty: nothing.
std::string mistake_in_class_weights(const Train& train);

/// Returns the metric that the expression calls, with all of it, or null if it is the mean of those of batches.
const nn::SetMetric* set_metric_of(const Definition& metric);

}  // namespace troupe::config
