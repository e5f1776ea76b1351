#include "apps/serve/request_json.h"

#include <openssl/evp.h>
#include <simdjson.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/data/numbers.h"
#include "apps/runs/table_objects.h"
#include "graph/ops/op_table.h"
#include "kernels/core/type_dispatch.h"

namespace troupe::serve {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

using RequestTypes = Joined<WideRealTypes, TypeList<bool, std::string>>;

/// What is wrong with a value, and where it is: "instances[3].image[0]".
struct Mistake {
  std::string place, what;
};
using Checked = std::optional<Mistake>;

Checked within(const std::string& place, Checked mistake) {
  if (mistake) mistake->place = place + mistake->place;
  return mistake;
}
std::string at(size_t index) { return '[' + std::to_string(index) + ']'; }

std::string kind_of(element value) {
  switch (value.type()) {
    case element_type::ARRAY: return "a list";
    case element_type::OBJECT: {
      element text;
      const bool has_bytes = value["b64"].get(text) == simdjson::SUCCESS;
      return has_bytes ? "an object whose b64 is no text in base64, padded with '='" : "an object";
    }
    case element_type::STRING: return "text";
    case element_type::BOOL: return "a truth value";
    case element_type::NULL_VALUE: return "null";
    default: return "the number " + simdjson::minify(value);
  }
}

std::string text_of(const std::vector<int64_t>& dims) { return PartialShape(dims).text(); }
std::string text_of(const ModelTensor& tensor) {
  return std::string(name(tensor.dtype)) + tensor.shape.text();
}

/// Returns the member of this name; nothing if the value is no object or has none.
std::optional<element> member(element value, std::string_view name) {
  element found;
  if (!value.is_object() || value[name].get(found) != simdjson::SUCCESS) return {};
  return found;
}

/// Returns the bytes of {"b64": "..."}; nothing if the value is no such object.
std::optional<std::string> bytes_of(element value) {
  const auto encoded = member(value, "b64");
  std::string_view text;
  if (!encoded || encoded->get(text) != simdjson::SUCCESS) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return {};
  const size_t padding = static_cast<size_t>(
      std::ranges::count(text.substr(text.size() - std::min<size_t>(2, text.size())), '='));
  bytes.resize(static_cast<size_t>(length) - padding);
  return bytes;
}

template <class T>
bool read(element value, T& to) {
  if constexpr (std::is_same_v<T, std::string>) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      to = text;
      return true;
    }
    auto bytes = bytes_of(value);
    if (bytes) to = std::move(*bytes);
    return bytes.has_value();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value.get(to) == simdjson::SUCCESS;
  } else if constexpr (std::is_floating_point_v<T>) {
    double number = 0;
    if (value.get(number) != simdjson::SUCCESS) return false;
    to = static_cast<T>(number);
    return std::isfinite(static_cast<ComputeType<T>>(to));
  } else {
    int64_t number = 0;
    if (value.get(number) != simdjson::SUCCESS || !std::in_range<T>(number)) return false;
    to = static_cast<T>(number);
    return true;
  }
}

/// Returns what stands for null in an input; nothing if the type T does not have it.
template <class T>
std::optional<T> gap_of(const runs::TableInput& input) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::string();
  else if constexpr (std::is_floating_point_v<T>)
    return data::rounded_number<T>(input.gap);
  else if constexpr (std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>)
    return data::whole_number<T>(input.gap);
  else
    return {};  // inputs of run files have no other types
}

/// Stores the elements of an input whose rows have `width` elements, from `to` on.
template <class T>
class Elements {
 public:
  Elements(T* to, size_t width, const runs::TableInput* table)
      : begin_(to), to_(to), width_(std::max<size_t>(1, width)), table_(table) {}

  /// Stores nested lists of the given dimensions.
  Checked store(element value, std::span<const int64_t> dims) {
    if (dims.empty()) return store(value);
    simdjson::dom::array list;
    if (value.get(list) != simdjson::SUCCESS)
      return Mistake{"", "expected a list of " + std::to_string(dims[0]) + ", found " + kind_of(value)};
    size_t count = 0;
    for (const element item : list) {
      if (count == static_cast<size_t>(dims[0])) break;
      if (Checked mistake = store(item, dims.subspan(1))) return within(at(count), std::move(mistake));
      ++count;
    }
    if (count != static_cast<size_t>(dims[0]) || list.size() != count)
      return Mistake{"", "expected a list of " + std::to_string(dims[0]) + ", as before, found one of " +
                             std::to_string(list.size())};
    return {};
  }

 private:
  Checked store(element value) {
    if (value.is_null() && table_ && table_->takes_gaps) {
      if (const auto gap = gap_of<T>(*table_)) {
        *to_++ = *gap;
        return {};
      }
    }
    if (read(value, *to_++)) return {};
    std::string what = "expected a " + std::string(name(dtype_of<T>)) + ", found " + kind_of(value);
    if (value.is_number() && !std::is_same_v<T, std::string> && !std::is_same_v<T, bool>)
      what += std::is_floating_point_v<T> || !value.is_double() ? ", which is too large" : "";
    if (!table_) return Mistake{"", what};
    if (const size_t number = static_cast<size_t>(to_ - 1 - begin_) % width_; number < table_->columns.size())
      what += ", for column '" + table_->columns[number] + '\'';
    if (value.is_null() && !table_->takes_gaps)
      what += "; the model takes no gaps here, because " + table_->advice;
    return Mistake{"", what};
  }

  T* const begin_;
  T* to_;
  const size_t width_;  ///< of a row
  const runs::TableInput* const table_;
};

/// Returns the dimensions of nested lists, as far as their first elements show them.
std::vector<int64_t> dims_of(element value) {
  std::vector<int64_t> dims;
  for (simdjson::dom::array list; value.get(list) == simdjson::SUCCESS; value = *list.begin()) {
    dims.push_back(static_cast<int64_t>(list.size()));
    if (list.size() == 0) break;
  }
  return dims;
}

/// Allocates the tensor of an input with the dimensions that its first value shows. A body of `bytes` bytes cannot have more
/// elements.
Checked allocate(const ModelTensor& input, const std::vector<int64_t>& dims, size_t bytes, Tensor& tensor) {
  size_t elements = 1;
  for (const int64_t dim : dims)
    elements = dim == 0 ? 0 : elements > bytes ? elements : elements * static_cast<size_t>(dim);
  // simdjson counts no further than this.
  constexpr int64_t longest = 0xFFFFFF - 1;
  if (std::ranges::any_of(dims, [&](int64_t dim) { return dim > longest; }))
    return Mistake{"", "a list is too long; at most " + std::to_string(longest) + " elements are allowed"};
  const auto shape = Shape::make(dims, input.dtype);
  if (elements > bytes) return Mistake{"", "the lists are of different lengths"};
  if (!shape || !input.shape.compatible_with(*shape))
    return Mistake{"", "input '" + input.name + "' must be " + text_of(input) +
                           "; the lists have the dimensions " + text_of(dims)};
  auto memory = Tensor::allocate(input.dtype, *shape);
  if (!memory) return Mistake{"", memory.status().text()};
  tensor = std::move(*memory);
  return {};
}

Checked unsupported(const ModelTensor& input) {
  return Mistake{"", "input '" + input.name + "' is " + text_of(input) + ", of which JSON has no values"};
}

std::string inputs_of(const ModelSignature& signature) {
  std::string list;
  for (const ModelTensor& input : signature.inputs)
    list += (list.empty() ? "" : ", ") + input.name + " (" + text_of(input) + ')';
  return list;
}

/// Returns the columns that objects may have, as text to append to an error; empty if there are none.
std::string columns_of(const runs::TableObjects* table) {
  std::string list;
  if (table)
    for (const auto& column : table->columns())
      list += (list.empty() ? "; instead an object may have the columns " : ", ") + column.name;
  return list;
}

/// Fails for members that are no inputs.
Checked check_names(element object, const ModelSignature& signature, const runs::TableObjects* table) {
  for (const auto& [key, value] : simdjson::dom::object(object))
    if (std::ranges::find(signature.inputs, key, &ModelTensor::name) == signature.inputs.end())
      return Mistake{"", "signature '" + signature.name + "' has no input '" + std::string(key) +
                             "'; its inputs are " + inputs_of(signature) + columns_of(table)};
  return {};
}

/// Returns whether a value has values by the names of inputs.
bool has_names(element value) { return value.is_object() && !member(value, "b64"); }

/// Returns the value of an input in an instance, or in the value of "inputs".
Checked find_value(element from, const ModelSignature& signature, size_t input, element& found) {
  const std::string& name = signature.inputs[input].name;
  if (has_names(from)) {
    const auto value = member(from, name);
    if (!value) return Mistake{"", "input '" + name + "' is missing"};
    found = *value;
    return {};
  }
  if (signature.inputs.size() != 1)
    return Mistake{"", "the model takes " + std::to_string(signature.inputs.size()) +
                           " inputs; expected an object with their names, found " + kind_of(from)};
  found = from;
  return {};
}

/// Reads the values of a signature's inputs. `table` is what is known of those of Model::predict, or null.
class InputReader {
 public:
  InputReader(const ModelSignature& signature, const runs::TableObjects* table, size_t bytes,
              ModelRequest& request)
      : signature_(signature), table_(signature.name == Model::predict ? table : nullptr), bytes_(bytes),
        request_(request) {}

  Checked read_rows(const simdjson::dom::array& instances) {
    size_t number = 0;
    for (const element instance : instances) {
      if (has_names(instance))
        if (Checked mistake = check_names(instance, signature_, table_))
          return within(at(number), std::move(mistake));
      ++number;
    }
    for (size_t i = 0; i < signature_.inputs.size(); ++i)
      if (Checked mistake = read_rows(instances, i)) return mistake;
    return {};
  }

  Checked read_columns(element inputs) {
    request_.by_rows = false;
    if (has_names(inputs))
      if (Checked mistake = check_names(inputs, signature_, nullptr)) return mistake;
    for (size_t i = 0; i < signature_.inputs.size(); ++i)
      if (Checked mistake = read_column(inputs, i)) return mistake;
    return {};
  }

 private:
  /// Reads input i of all instances.
  Checked read_rows(const simdjson::dom::array& instances, size_t i) {
    const ModelTensor& input = signature_.inputs[i];
    element value;
    if (Checked mistake = find_value(*instances.begin(), signature_, i, value))
      return within(at(0), std::move(mistake));
    const std::vector<int64_t> of_row = dims_of(value);
    std::vector<int64_t> dims = {request_.rows};
    dims.insert(dims.end(), of_row.begin(), of_row.end());
    Tensor& tensor = request_.inputs.emplace_back();
    if (Checked mistake = allocate(input, dims, bytes_, tensor)) return mistake;
    Checked mistake;
    const bool known = with_type(RequestTypes{}, input.dtype, [&]<class T>(std::type_identity<T>) {
      auto elements = elements_of<T>(tensor, input);
      size_t row = 0;
      for (const element instance : instances) {
        const std::string name = has_names(instance) ? '.' + input.name : std::string();
        mistake = find_value(instance, signature_, i, value);
        if (!mistake) mistake = within(name, elements.store(value, of_row));
        if (mistake) return (void)(mistake = within(at(row), std::move(mistake)));
        ++row;
      }
    });
    return known ? mistake : unsupported(input);
  }

  /// Reads input i by columns.
  Checked read_column(element inputs, size_t i) {
    const ModelTensor& input = signature_.inputs[i];
    element value;
    if (Checked mistake = find_value(inputs, signature_, i, value)) return mistake;
    const std::vector<int64_t> dims = dims_of(value);
    Tensor& tensor = request_.inputs.emplace_back();
    if (Checked mistake = allocate(input, dims, bytes_, tensor)) return mistake;
    Checked mistake;
    const bool known = with_type(RequestTypes{}, input.dtype, [&]<class T>(std::type_identity<T>) {
      mistake = elements_of<T>(tensor, input).store(value, dims);
    });
    if (!known) return unsupported(input);
    if (i == 0) request_.rows = dims.empty() ? 0 : dims[0];
    return within(has_names(inputs) ? '.' + input.name : std::string(), std::move(mistake));
  }

  template <class T>
  Elements<T> elements_of(Tensor& tensor, const ModelTensor& input) const {
    const int64_t rows = tensor.shape().rank() == 0 ? 1 : std::max<int64_t>(1, tensor.shape()[0]);
    return {tensor.write<T>().data(), static_cast<size_t>(tensor.elements() / rows),
            table_ ? table_->find_input(input.name) : nullptr};
  }

  const ModelSignature& signature_;
  const runs::TableObjects* const table_;
  const size_t bytes_;  ///< of the body
  ModelRequest& request_;
};

/// Returns whether all instances are objects with columns of the table, and not with inputs of the model, or texts for its only
/// column.
bool are_table_rows(const simdjson::dom::array& instances, const runs::TableObjects& table) {
  if (table.columns().empty()) return false;
  return std::ranges::all_of(instances, [&](element instance) {
    if (instance.is_string()) return table.columns().size() == 1;
    if (!has_names(instance)) return false;
    for (const auto& [key, value] : simdjson::dom::object(instance))
      if (table.is_only_input(key) || bytes_of(value)) return false;
    return true;
  });
}

Status read_table_rows(const simdjson::dom::array& instances, const std::string& place,
                       const runs::TableObjects& table, ModelRequest& request) {
  std::string lines;
  for (const element instance : instances) {
    if (instance.is_string())
      lines.append("{").append(nlohmann::json(table.columns()[0].name).dump()).append(":");
    lines += simdjson::minify(instance);
    lines += instance.is_string() ? "}\n" : "\n";
  }
  TROUPE_ASSIGN(request.inputs, table.read(lines, request.rows, place));
  return {};
}

Status status_of(const std::string& root, const Checked& mistake) {
  return mistake ? invalid_argument(root + mistake->place + ": " + mistake->what) : Status();
}

/// Returns why a body could not be parsed, with the place that a slower parser finds.
Status not_json(const std::string& body, const char* reason) {
  constexpr size_t most = 1 << 20;
  std::string text = reason;
  if (body.size() <= most) {
    try {
      [[maybe_unused]] const auto parsed = nlohmann::json::parse(body);
    } catch (const nlohmann::json::exception& error) {  // such as a number that no double can hold
      text = error.what();
      text = text.substr(text.find("] ") + 2);  // after the number of the error
      if (body.find("NaN") != std::string::npos) text += "; JSON has no NaN";
    }
  }
  return invalid_argument("the body is not JSON: " + text);
}

/// Reads the instances of a request, which stand at `place` in its body.
Status read_instances(const simdjson::dom::array& instances, const std::string& place,
                      const ModelSignature& signature, const runs::TableObjects* table, size_t bytes,
                      ModelRequest& request) {
  request.rows = static_cast<int64_t>(instances.size());
  if (request.rows == 0) return invalid_argument(place + ": there are no instances");
  if (table && signature.name == Model::predict && are_table_rows(instances, *table))
    return read_table_rows(instances, place, *table, request);
  return status_of(place, InputReader(signature, table, bytes, request).read_rows(instances));
}

/// Fails for members that a request does not have, and for two that say in two ways what the inputs are.
Status check_members(element root) {
  std::string_view inputs;  // the member that has them
  for (const auto& [key, value] : simdjson::dom::object(root)) {
    if (key == "signature_name") continue;
    if (key == "context")
      return unimplemented("context: not available yet; each example must have all inputs");
    if (key != "instances" && key != "inputs" && key != "examples")
      return invalid_argument("the body has the member '" + std::string(key) +
                              "'; allowed are signature_name and one of instances, inputs and examples");
    if (!inputs.empty())
      return invalid_argument("the body has both " + std::string(inputs) + " and " + std::string(key) +
                              "; only one of instances, inputs and examples is allowed");
    inputs = key;
  }
  return {};
}

Result<ModelRequest> parsed(simdjson::dom::parser& parser, const std::string& body, const Model& model,
                            const runs::TableObjects* table) try {
  element root;
  const auto error = parser.parse(body).get(root);
  if (error == simdjson::MEMALLOC)
    return resource_exhausted("there is no memory for a request of " + std::to_string(body.size()) +
                              " bytes");
  if (error != simdjson::SUCCESS) return not_json(body, simdjson::error_message(error));
  if (!root.is_object()) return invalid_argument("the body must be an object, found " + kind_of(root));
  TROUPE_RETURN_IF_FAILED(check_members(root));
  ModelRequest request;
  request.signature = Model::predict;
  if (const auto given = member(root, "signature_name")) {
    std::string_view name;
    if (given->get(name) != simdjson::SUCCESS)
      return invalid_argument("signature_name: expected text, found " + kind_of(*given));
    if (!name.empty()) request.signature = name;
  }
  const ModelSignature& signature = model.signature(request.signature);
  for (const char* const key : {"instances", "examples"}) {
    const auto rows = member(root, key);
    if (!rows) continue;
    simdjson::dom::array list;
    if (rows->get(list) != simdjson::SUCCESS)
      return invalid_argument(std::string(key) + ": expected a list, found " + kind_of(*rows));
    TROUPE_RETURN_IF_FAILED(read_instances(list, key, signature, table, body.size(), request));
    return request;
  }
  const auto inputs = member(root, "inputs");
  if (!inputs) return invalid_argument("the body must have instances, inputs or examples");
  TROUPE_RETURN_IF_FAILED(
      status_of("inputs", InputReader(signature, table, body.size(), request).read_columns(*inputs)));
  return request;
} catch (const Error& error) {
  return error.status();
} catch (const simdjson::simdjson_error& error) {
  return invalid_argument(std::string("the body is not JSON: ") + error.what());
}

}  // namespace

struct RequestParser::State {
  /// Gives back the memory that a large request took, which is several times as much as its text.
  void shrink() {
    constexpr size_t most_kept = 1 << 20;  // in bytes of text
    if (parser.capacity() > most_kept) parser = simdjson::dom::parser();
  }

  simdjson::dom::parser parser;
};

RequestParser::RequestParser() : state_(std::make_unique<State>()) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

Result<ModelRequest> RequestParser::parse(const std::string& body, const Model& model,
                                          const runs::TableObjects* table) {
  auto request = parsed(state_->parser, body, model, table);
  state_->shrink();
  return request;
}

}  // namespace troupe::serve
