// The requests of TensorFlow Serving's REST interface as tensors. What clients send is not trusted.
// Source: TensorFlow Serving, docs/api_rest.md.
//
//   {"signature_name": "...", "instances": [...]}    by rows: each instance is a value or, by input name, an object of values
//   {"signature_name": "...", "inputs": ...}         by columns: a value or, by input name, an object of values
//   {"examples": [{"NAME": value, ...}, ...]}        for classify and regress: by rows
//
// A value is a number, text, true or false, {"b64": "..."} for bytes, or lists of these, as deep as the tensor has dimensions. For
// a model that was trained from a table, an instance may also be an object with the columns of the table, or the text of its only
// column, and null is a gap.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/inference/model.h"

namespace troupe::runs {
class TableObjects;
}

namespace troupe::serve {

struct ModelRequest {
  std::string signature;       ///< its name; Model::predict if the request names none
  std::vector<Tensor> inputs;  ///< in the order of the signature
  int64_t rows = 0;            ///< the number of instances; by columns, of the first dimension of the inputs
  bool by_rows = true;

  /// Returns how many instances the request has; nothing if it is one by columns.
  std::optional<int64_t> instances() const { return by_rows ? std::optional(rows) : std::nullopt; }
};

/// Parses requests. It keeps the memory that small requests take for the next ones. One thread at a time.
class RequestParser {
 public:
  RequestParser();
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;
  RequestParser& operator=(RequestParser&&) noexcept;

  /// Parses the body of a request to a model. `table` is the one from which it was trained; null: none. Fails with InvalidArgument,
  /// naming the input or the column and the place, if it is not JSON of the form above, or if a value does not have the dtype or
  /// the shape of its input, or is none of its column; with NotFound if the model has no such signature.
  Result<ModelRequest> parse(const std::string& body, const Model& model,
                             const runs::TableObjects* table = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace troupe::serve
