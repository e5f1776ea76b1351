// Tensors as the answers of TensorFlow Serving's REST interface. Functions without state; any thread. Source: TensorFlow Serving,
// docs/api_rest.md.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/inference/model.h"

namespace troupe::serve {

/// Appends the answer to a predict request: {"predictions": [...]} for a number of instances, {"outputs": ...} if there is none,
/// which is to say by columns. Fails with InvalidArgument, naming the output, unless each output has a row for each instance, and
/// as append_json() does.
Status append_predictions(const ModelSignature& signature, std::span<const Tensor> outputs,
                          std::optional<int64_t> instances, std::string& to);
/// Appends {"results": [[["LABEL", SCORE], ...], ...]}. The signature must have a class for each row or, for each of its classes, a
/// probability; otherwise fails with InvalidArgument.
Status append_classes(const ModelSignature& signature, std::span<const Tensor> outputs,
                      std::span<const std::string> classes, std::string& to);
/// Appends {"results": [NUMBER, ...]}. The signature must have one output with a number for each row; otherwise fails with
/// InvalidArgument.
Status append_numbers(const ModelSignature& signature, std::span<const Tensor> outputs, std::string& to);

}  // namespace troupe::serve
