// Tensors as the answers of TensorFlow Serving's REST interface. Functions without state; any thread. Source: TensorFlow Serving,
// docs/api_rest.md.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/inference/model.h"

namespace troupe::serve {

/// Appends the answer to a predict request: {"predictions": [...]} for a number of instances, {"outputs": ...} if there is none,
/// which is to say by columns. Texts of outputs whose names end in "_bytes" are in base64. Fails with InvalidArgument, naming the
/// output, unless each output has a row for each instance, and as append_json() does.
Status append_predictions(const ModelSignature& signature, std::span<const Tensor> outputs,
                          std::optional<int64_t> instances, std::string& to);
/// Appends {"results": [[["LABEL", SCORE], ...], ...]}. Fails with InvalidArgument unless the signature has the probabilities of
/// the classes for each instance.
Status append_classes(const ModelSignature& signature, std::span<const Tensor> outputs, int64_t instances,
                      std::span<const std::string> classes, std::string& to);
/// Appends {"results": [NUMBER, ...]}. Fails with InvalidArgument unless the signature has one output, with a number for each
/// instance.
Status append_numbers(const ModelSignature& signature, std::span<const Tensor> outputs, int64_t instances,
                      std::string& to);

}  // namespace troupe::serve
