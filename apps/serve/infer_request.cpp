#include "apps/serve/infer_request.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "apps/serve/infer_types.h"
#include "apps/serve/json_values.h"

namespace troupe::serve {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in requests are little-endian");

using simdjson::dom::array;

/// Returns the member of this name; nothing if there is none, or it is null.
std::optional<element> given(element object, std::string_view name) {
  const auto value = member(object, name);
  return value && value->is_null() ? std::nullopt : value;
}

using Names = std::initializer_list<std::string_view>;

std::string listed(Names names) {
  std::string list;
  for (const std::string_view name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

/// Fails unless a value is an object with no other members than these.
Status check_object(element value, const std::string& place, Names known) {
  if (!value.is_object()) return invalid_argument(place + ": expected an object, found " + kind_of(value));
  for (const auto& [key, unused] : simdjson::dom::object(value)) {
    if (std::ranges::find(known, key) == known.end())
      return invalid_argument(place + " has the member '" + std::string(key) + "'; allowed are " +
                              listed(known));
  }
  return {};
}

Result<array> list_at(element value, const std::string& place) {
  array list;
  if (value.get(list) != simdjson::SUCCESS)
    return invalid_argument(place + ": expected a list, found " + kind_of(value));
  return list;
}

Result<std::string> text_at(element value, const std::string& place) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS)
    return invalid_argument(place + ": expected text, found " + kind_of(value));
  return std::string(text);
}

/// Returns a member that must be there.
Result<element> required(element object, const std::string& place, const std::string& name) {
  const auto value = given(object, name);
  if (!value) return invalid_argument(place + ": " + name + " is missing");
  return *value;
}

Result<std::string> required_text(element object, const std::string& place, const std::string& name) {
  TROUPE_ASSIGN(const element value, required(object, place, name));
  return text_at(value, place + '.' + name);
}

/// Returns a size or a dimension.
Result<int64_t> count_at(element value, const std::string& place) {
  int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS || number < 0)
    return invalid_argument(place + ": expected a whole number from 0 to " +
                            std::to_string(std::numeric_limits<int64_t>::max()) + ", found " +
                            kind_of(value));
  return number;
}

/// The parameters of a request, an input or an output.
class Parameters {
 public:
  /// Fails if the object at a place has parameters that are no object, or not available.
  static Result<Parameters> of(element object, const std::string& place) {
    Parameters parameters(place + "parameters", given(object, "parameters"));
    if (parameters.values_ && !parameters.values_->is_object())
      return invalid_argument(parameters.place_ + ": expected an object, found " +
                              kind_of(*parameters.values_));
    for (const char* const name : {"classification", "sequence_id", "shared_memory_region"})
      if (parameters.find(name)) return unimplemented(parameters.place(name) + ": not available");
    return parameters;
  }

  std::optional<element> find(const std::string& name) const {
    return values_ ? given(*values_, name) : std::nullopt;
  }
  std::string place(const std::string& name) const { return place_ + '.' + name; }
  Result<bool> flag(const std::string& name, bool otherwise) const {
    const auto value = find(name);
    bool flag = otherwise;
    if (value && value->get(flag) != simdjson::SUCCESS)
      return invalid_argument(place(name) + ": expected true or false, found " + kind_of(*value));
    return flag;
  }

 private:
  Parameters(std::string place, std::optional<element> values) : place_(std::move(place)), values_(values) {}

  std::string place_;
  std::optional<element> values_;
};

/// Returns the number of the tensor that the object at a place names. `kind` is "input" or "output".
Result<size_t> tensor_named(element object, const std::string& place, const ModelSignature& signature,
                            const std::vector<ModelTensor>& tensors, const std::string& kind) {
  TROUPE_ASSIGN(const std::string name, required_text(object, place, "name"));
  const auto found = std::ranges::find(tensors, name, &ModelTensor::name);
  if (found == tensors.end())
    return invalid_argument(place + ".name: signature '" + signature.name + "' has no " + kind + " '" + name +
                            "'; its " + kind + "s are " + text_of(tensors));
  return static_cast<size_t>(found - tensors.begin());
}

Status check_datatype(element object, const std::string& place, const ModelTensor& input) {
  const std::string_view wanted = datatype_of(input.dtype);
  if (wanted.empty())
    return invalid_argument(place + ": input '" + input.name + "' is " + text_of(input) +
                            ", of which the Open Inference Protocol has no values");
  TROUPE_ASSIGN(const std::string datatype, required_text(object, place, "datatype"));
  if (datatype == wanted) return {};
  return invalid_argument(place + ".datatype: input '" + input.name + "' is " + std::string(wanted) +
                          ", found '" + datatype + '\'');
}

Result<Shape> shape_of(element object, const std::string& place, const ModelTensor& input) {
  TROUPE_ASSIGN(const element value, required(object, place, "shape"));
  const std::string where = place + ".shape";
  TROUPE_ASSIGN(const array list, list_at(value, where));
  std::vector<int64_t> dims;
  for (const element item : list) {
    TROUPE_ASSIGN(const int64_t dim, count_at(item, where + at(dims.size())));
    dims.push_back(dim);
  }
  const auto shape = Shape::make(dims, input.dtype);
  if (!shape) return invalid_argument(where + ": " + shape.status().text());
  if (!input.shape.compatible_with(*shape))
    return invalid_argument(where + ": input '" + input.name + "' must be " + text_of(input) + ", found " +
                            shape->text());
  return *shape;
}

/// Returns the elements of an input in a list. `known` is what is known of the input, or null; `bytes` is the length of the JSON,
/// which cannot have more elements.
Result<Tensor> tensor_of(element data, const std::string& place, const ModelTensor& input, const Shape& shape,
                         const runs::TableInput* known, size_t bytes) {
  TROUPE_ASSIGN(const array list, list_at(data, place));
  const int64_t flat = shape.elements();
  const bool is_nested = shape.rank() > 1 && list.size() > 0 && (*list.begin()).is_array();
  const std::span<const int64_t> dims = is_nested ? shape.dims() : std::span(&flat, 1);
  if (!is_nested && flat <= longest_list && static_cast<size_t>(flat) != list.size())
    return invalid_argument(place + ": the shape " + shape.text() + " has " + std::to_string(flat) +
                            " elements, found a list of " + std::to_string(list.size()));
  if (static_cast<size_t>(flat) > bytes)
    return invalid_argument(place + ": the shape " + shape.text() + " has more elements than the lists");
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim > longest_list; }))
    return status_of(place, too_long());
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(input.dtype, shape));
  Checked mistake;
  with_type(RequestTypes{}, input.dtype, [&]<class T>(std::type_identity<T>) {
    mistake = Elements<T>(tensor, known, "as the shape says").store(data, dims);
  });
  TROUPE_RETURN_IF_FAILED(status_of(place, mistake));
  return tensor;
}

/// Returns the numbers or truth values that bytes are.
Result<Tensor> tensor_of_bytes(std::string_view bytes, const std::string& place, const ModelTensor& input,
                               const Shape& shape) {
  const size_t wanted = static_cast<size_t>(shape.elements()) * size_of(input.dtype);
  if (bytes.size() != wanted)
    return invalid_argument(place + ": input '" + input.name + "' of " +
                            std::string(datatype_of(input.dtype)) + shape.text() + " has " +
                            std::to_string(wanted) + " bytes, found " + std::to_string(bytes.size()));
  if (input.dtype == DType::Bool) {
    const auto strange = std::ranges::find_if(bytes, [](char byte) { return byte != 0 && byte != 1; });
    if (strange != bytes.end())
      return invalid_argument(place + ": element " + std::to_string(strange - bytes.begin()) +
                              " is the byte " + std::to_string(static_cast<unsigned char>(*strange)) +
                              "; a BOOL is 0 or 1");
  }
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(input.dtype, shape));
  if (wanted > 0) std::memcpy(tensor.mutable_data(), bytes.data(), wanted);
  return tensor;
}

/// Returns the texts that bytes are, each with its length before it.
Result<Tensor> tensor_of_texts(std::string_view bytes, const std::string& place, const Shape& shape) {
  using Length = uint32_t;
  const auto failure = [&](const std::string& what) {
    return invalid_argument(place + ": the shape " + shape.text() + " has " +
                            std::to_string(shape.elements()) + " elements, " + what);
  };
  if (static_cast<size_t>(shape.elements()) > bytes.size() / sizeof(Length))
    return failure("whose lengths alone take more than " + std::to_string(bytes.size()) + " bytes");
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(DType::String, shape));
  size_t number = 0;
  for (std::string& text : tensor.write<std::string>()) {
    Length length = 0;
    if (bytes.size() < sizeof(length))
      return failure("but element " + std::to_string(number) + " is missing");
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size())
      return failure("but element " + std::to_string(number) + " has the length " + std::to_string(length) +
                     ", and only " + std::to_string(bytes.size()) + " bytes follow");
    text = bytes.substr(0, length);
    bytes.remove_prefix(length);
    ++number;
  }
  if (!bytes.empty()) return failure("but " + std::to_string(bytes.size()) + " bytes follow them");
  return tensor;
}

/// A body, whose binary data are taken from the front.
struct Body {
  size_t json_bytes = 0;
  bool has_binary = false;  ///< even if it has no bytes
  std::string_view binary;
};

/// Returns the parts of a body.
Result<Body> parts_of(const std::string& body, const std::string& json_length) {
  if (json_length.empty()) return Body{body.size(), false, {}};
  size_t length = 0;
  const char* const end = json_length.data() + json_length.size();
  const auto [last, error] = std::from_chars(json_length.data(), end, length);
  if (error != std::errc() || last != end || length > body.size())
    return invalid_argument("the header Inference-Header-Content-Length is '" + json_length +
                            "'; expected the length of the JSON, which is at most that of the body: " +
                            std::to_string(body.size()));
  return Body{length, true, std::string_view(body).substr(length)};
}

/// Reads the inputs and the wanted outputs of a request to a signature. `table` is what is known of the inputs of Model::predict,
/// or null.
class InferReader {
 public:
  InferReader(const Body& body, const ModelSignature& signature, const runs::TableObjects* table,
              InferRequest& request)
      : body_(body), signature_(signature), table_(signature.name == Model::predict ? table : nullptr),
        request_(request) {}

  Status read_inputs(element root) {
    TROUPE_ASSIGN(const element value, required(root, "the body", "inputs"));
    TROUPE_ASSIGN(const array list, list_at(value, "inputs"));
    std::vector<Tensor>& tensors = request_.inputs.inputs;
    tensors.resize(signature_.inputs.size());
    size_t number = 0;
    for (const element item : list) TROUPE_RETURN_IF_FAILED(read_input(item, "inputs" + at(number++)));
    for (size_t i = 0; i < tensors.size(); ++i)
      if (!is_given(tensors[i]))
        return invalid_argument("inputs: input '" + signature_.inputs[i].name + "' is missing");
    if (!body_.binary.empty())
      return invalid_argument("behind the JSON there are " + std::to_string(body_.binary.size()) +
                              " bytes more than the inputs have, as their binary_data_size says");
    request_.inputs.by_rows = false;
    const bool has_rows = !tensors.empty() && tensors[0].shape().rank() > 0;
    request_.inputs.rows = has_rows ? tensors[0].shape()[0] : 0;
    return {};
  }

  Status read_outputs(element root, bool are_binary) {
    std::vector<WantedOutput>& outputs = request_.wanted.outputs;
    if (const auto value = given(root, "outputs")) {
      TROUPE_ASSIGN(const array list, list_at(*value, "outputs"));
      for (const element item : list) TROUPE_RETURN_IF_FAILED(read_output(item, are_binary));
    }
    if (outputs.empty())
      for (size_t i = 0; i < signature_.outputs.size(); ++i) outputs.push_back({i, are_binary});
    return {};
  }

 private:
  static bool is_given(const Tensor& tensor) { return tensor.dtype() != DType::Invalid; }

  Status read_input(element item, const std::string& place) {
    TROUPE_RETURN_IF_FAILED(check_object(item, place, {"name", "shape", "datatype", "parameters", "data"}));
    TROUPE_ASSIGN(const size_t number, tensor_named(item, place, signature_, signature_.inputs, "input"));
    const ModelTensor& input = signature_.inputs[number];
    Tensor& tensor = request_.inputs.inputs[number];
    if (is_given(tensor)) return invalid_argument(place + ".name: input '" + input.name + "' is there twice");
    TROUPE_RETURN_IF_FAILED(check_datatype(item, place, input));
    TROUPE_ASSIGN(const Shape shape, shape_of(item, place, input));
    TROUPE_ASSIGN(const auto parameters, Parameters::of(item, place + '.'));
    const auto data = given(item, "data");
    if (const auto size = parameters.find(binary_size)) {
      if (data) return invalid_argument(place + ": both data and the parameter binary_data_size are there");
      TROUPE_ASSIGN(tensor, read_binary(*size, parameters.place(binary_size), input, shape));
      return {};
    }
    if (!data) return invalid_argument(place + ": data is missing, and so is the parameter binary_data_size");
    const runs::TableInput* const known = table_ ? table_->find_input(input.name) : nullptr;
    TROUPE_ASSIGN(tensor, tensor_of(*data, place + ".data", input, shape, known, body_.json_bytes));
    return {};
  }

  /// Returns the elements of an input in the next bytes of the binary data, whose number is `size`.
  Result<Tensor> read_binary(element size, const std::string& place, const ModelTensor& input,
                             const Shape& shape) {
    TROUPE_ASSIGN(const int64_t count, count_at(size, place));
    if (!body_.has_binary)
      return invalid_argument(place +
                              ": the request has no header Inference-Header-Content-Length, which says where "
                              "the binary data begin");
    const auto bytes = static_cast<size_t>(count);
    if (bytes > body_.binary.size())
      return invalid_argument(place + ": expected at most " + std::to_string(body_.binary.size()) +
                              ", the bytes that are left behind the JSON, found " + std::to_string(bytes));
    const std::string_view taken = body_.binary.substr(0, bytes);
    body_.binary.remove_prefix(bytes);
    return input.dtype == DType::String ? tensor_of_texts(taken, place, shape)
                                        : tensor_of_bytes(taken, place, input, shape);
  }

  Status read_output(element item, bool is_binary) {
    std::vector<WantedOutput>& outputs = request_.wanted.outputs;
    const std::string place = "outputs" + at(outputs.size());
    TROUPE_RETURN_IF_FAILED(check_object(item, place, {"name", "parameters"}));
    TROUPE_ASSIGN(const size_t number, tensor_named(item, place, signature_, signature_.outputs, "output"));
    if (std::ranges::find(outputs, number, &WantedOutput::number) != outputs.end())
      return invalid_argument(place + ".name: output '" + signature_.outputs[number].name +
                              "' is there twice");
    TROUPE_ASSIGN(const auto parameters, Parameters::of(item, place + '.'));
    TROUPE_ASSIGN(const bool binary, parameters.flag("binary_data", is_binary));
    outputs.push_back({number, binary});
    return {};
  }

  static constexpr const char* binary_size = "binary_data_size";
  Body body_;
  const ModelSignature& signature_;
  const runs::TableObjects* const table_;
  InferRequest& request_;
};

Result<InferRequest> infer_request_of(element root, const Body& body, const Model& model,
                                      const runs::TableObjects* table) {
  TROUPE_RETURN_IF_FAILED(check_object(root, "the body", {"id", "parameters", "inputs", "outputs"}));
  TROUPE_ASSIGN(const auto parameters, Parameters::of(root, ""));
  InferRequest request;
  if (const auto id = given(root, "id")) {
    TROUPE_ASSIGN(request.wanted.id, text_at(*id, "id"));
  }
  TROUPE_ASSIGN(request.inputs.signature,
                signature_name(parameters.find("signature_name"), parameters.place("signature_name")));
  InferReader reader(body, model.signature(request.inputs.signature), table, request);
  TROUPE_RETURN_IF_FAILED(reader.read_inputs(root));
  TROUPE_ASSIGN(const bool are_binary, parameters.flag("binary_data_output", false));
  TROUPE_RETURN_IF_FAILED(reader.read_outputs(root, are_binary));
  return request;
}

}  // namespace

struct InferParser::State {
  BodyParser parser;
};

InferParser::InferParser() : state_(std::make_unique<State>()) {}
InferParser::~InferParser() = default;

Result<InferRequest> InferParser::parse(const std::string& body, const std::string& json_length,
                                        const Model& model, const runs::TableObjects* table) {
  TROUPE_ASSIGN(const Body parts, parts_of(body, json_length));
  return state_->parser.make<InferRequest>(
      body, parts.json_bytes, [&](element root) { return infer_request_of(root, parts, model, table); });
}

}  // namespace troupe::serve
