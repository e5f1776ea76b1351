// What losses and metrics compare (apps/nn/losses.h): predictions and labels of matching shapes and types. Functions without state;
// one thread at a time per graph.
#pragma once

#include <string_view>

#include "graph/build/scope.h"

namespace troupe::nn {

struct Compared {
  Output predicted, label;
};

/// Returns both with the same shape and type. `name` is that of the loss, for errors. Throws Error(InvalidArgument) if the shapes
/// do not match, or if the prediction is not of a floating type.
Compared compared_numbers(const Scope& scope, std::string_view name, Output predicted, Output label);

/// Returns logits [n, classes], and labels [n], int32 or int64, or probabilities [n, classes]. Logits [n] or [n, 1] are those of
/// class 1 of two. Throws Error(InvalidArgument) if the shapes do not match.
Compared compared_classes(const Scope& scope, std::string_view name, Output logits, Output label);

/// Returns the number of classes, an int32 scalar.
Output number_of_classes(const Scope& scope, Output logits);

}  // namespace troupe::nn
