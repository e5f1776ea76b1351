// The requests of the Open Inference Protocol ("KServe v2") as tensors. What clients send is not trusted.
// Source: github.com/kserve/open-inference-protocol, specification/protocol/inference_rest.md; for binary data: Triton Inference
// Server, protocol/extension_binary_data.md.
//
//   {"id": "...", "parameters": {...},
//    "inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2.5]}, ...],
//    "outputs": [{"name": "y"}, ...]}                      id, parameters and outputs may be left out, or null
//
// The data of an input are its elements, flat or in lists as deep as its shape, with the values of request_json.h. Instead, an
// input may have the parameter binary_data_size: its elements are so many of the bytes behind the JSON, whose length is in the
// header Inference-Header-Content-Length, little-endian and without gaps, in the order of the inputs. Before each text stands its
// length in four bytes. The parameter binary_data of an output, or binary_data_output of the request, has outputs returned in the
// same form. The parameter signature_name of the request chooses a signature. Other parameters are ignored, but for those whose
// answer would be another one without them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/serve/request_json.h"

namespace troupe::serve {

/// An output that a request wants.
struct WantedOutput {
  size_t number = 0;  ///< in the signature
  bool is_binary = false;
};

/// What a request wants to be answered.
struct WantedAnswer {
  std::optional<std::string> id;      ///< the one that the client gave
  std::vector<WantedOutput> outputs;  ///< in the order of the answer
};

struct InferRequest {
  ModelRequest inputs;  ///< by columns
  WantedAnswer wanted;
};

/// Parses requests. It keeps the memory that small requests take for the next ones. One thread at a time.
class InferParser {
 public:
  InferParser();
  ~InferParser();

  /// Parses the body of a request to a model. `json_length` is the header Inference-Header-Content-Length; empty: the body has no
  /// binary data. `table` is the one from which the model was trained; null: none. Fails with InvalidArgument, naming the place, if
  /// the body does not have the form above, or an input is missing, unknown or not of the datatype and the shape of the signature;
  /// with Unimplemented for parameters that are not available; with NotFound if the model has no such signature.
  Result<InferRequest> parse(const std::string& body, const std::string& json_length, const Model& model,
                             const runs::TableObjects* table = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace troupe::serve
