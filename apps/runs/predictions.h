// What a trained model yields for samples, found from its loss: a tensor that the loss compares with the labels is a prediction. A
// function without state; one thread per graph.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/config/evaluate.h"
#include "graph/build/scope.h"

namespace troupe::runs {

/// What is known about a model.
struct LossInputs {
  Output loss;
  std::vector<Output> samples,
      labels;  ///< the columns of the data; those of the labels, which are not among the others
  std::vector<std::string> classes;  ///< the names of the classes; empty: they have numbers only
};

/// Returns the predictions with the names that users see, and adds nodes that compute them. A tensor that a softmax cross-entropy
/// compares with the labels yields "class", the number or name of the most probable class, and "probabilities". Any other tensor
/// yields itself, by its name in `symbols` or as "output". If there are several tensors, the names of classes and probabilities
/// begin with theirs. Returns none if the loss compares nothing with labels.
std::vector<std::pair<std::string, Output>> predictions(const Scope& scope, const LossInputs& inputs,
                                                        const config::Symbols& symbols);

}  // namespace troupe::runs
