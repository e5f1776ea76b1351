// How well a trained model recognises each class, as text and as JSON. Pure functions; any thread.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "apps/report/comparison.h"

namespace troupe::commands {

/// Returns a table with precision, recall, F1 and counts of each class that is a label or is predicted, and the most frequent
/// confusions. Fails with InvalidArgument if the model predicts numbers.
Result<std::string> class_table(const report::Comparison& comparison);

/// Adds the same to an object: "mean_f1", "classes", a list of objects, and "confusions", a list of objects with "label",
/// "predicted" and "samples", the most frequent ones first. Fails with InvalidArgument if the model predicts numbers.
Status add_classes(const report::Comparison& comparison, nlohmann::ordered_json& object);

}  // namespace troupe::commands
