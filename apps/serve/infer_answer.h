// Tensors as the answers of the Open Inference Protocol. A function without state; any thread. Source: infer_request.h.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apps/serve/infer_request.h"

namespace troupe::serve {

struct InferAnswer {
  std::string body;
  std::optional<size_t> json_length;  ///< if there are binary data: where they begin in the body
};

/// Returns the answer with the wanted outputs, of all those of a signature. Numbers that JSON lacks (NaN, infinities) are null in
/// it, and bytes of texts that are not UTF-8 are U+FFFD; binary data have them as they are. Fails with Unimplemented, naming the
/// output, if the protocol lacks its type, or cannot say how long one of its texts is.
Result<InferAnswer> infer_answer(const std::string& model, int64_t version, const ModelSignature& signature,
                                 std::span<const Tensor> outputs, const WantedAnswer& wanted);

}  // namespace troupe::serve
