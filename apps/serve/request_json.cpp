#include "apps/serve/request_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/runs/table_objects.h"
#include "apps/serve/json_values.h"

namespace troupe::serve {
namespace {

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
  if (std::ranges::any_of(dims, [](int64_t dim) { return dim > longest_list; })) return too_long();
  const auto shape = Shape::make(dims, input.dtype);
  if (elements > bytes) return Mistake{"", "the lists are of different lengths"};
  if (!shape || !input.shape.compatible_with(*shape))
    return Mistake{"", "input '" + input.name + "' must be " + text_of(input) +
                           "; the lists have the dimensions " + PartialShape(dims).text()};
  auto memory = Tensor::allocate(input.dtype, *shape);
  if (!memory) return Mistake{"", memory.status().text()};
  tensor = std::move(*memory);
  return {};
}

Checked unsupported(const ModelTensor& input) {
  return Mistake{"", "input '" + input.name + "' is " + text_of(input) + ", of which JSON has no values"};
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
                             "'; its inputs are " + text_of(signature.inputs) + columns_of(table)};
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
      Elements<T> elements(tensor, known_of(input), rule);
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
      mistake = Elements<T>(tensor, known_of(input), rule).store(value, dims);
    });
    if (!known) return unsupported(input);
    if (i == 0) request_.rows = dims.empty() ? 0 : dims[0];
    return within(has_names(inputs) ? '.' + input.name : std::string(), std::move(mistake));
  }

  const runs::TableInput* known_of(const ModelTensor& input) const {
    return table_ ? table_->find_input(input.name) : nullptr;
  }

  static constexpr const char* rule = "as before";  // the first list of a depth sets the length of all
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

Result<ModelRequest> request_of(element root, size_t bytes, const Model& model,
                                const runs::TableObjects* table) {
  TROUPE_RETURN_IF_FAILED(check_members(root));
  ModelRequest request;
  TROUPE_ASSIGN(request.signature, signature_name(member(root, "signature_name"), "signature_name"));
  const ModelSignature& signature = model.signature(request.signature);
  for (const char* const key : {"instances", "examples"}) {
    const auto rows = member(root, key);
    if (!rows) continue;
    simdjson::dom::array list;
    if (rows->get(list) != simdjson::SUCCESS)
      return invalid_argument(std::string(key) + ": expected a list, found " + kind_of(*rows));
    TROUPE_RETURN_IF_FAILED(read_instances(list, key, signature, table, bytes, request));
    return request;
  }
  const auto inputs = member(root, "inputs");
  if (!inputs) return invalid_argument("the body must have instances, inputs or examples");
  TROUPE_RETURN_IF_FAILED(
      status_of("inputs", InputReader(signature, table, bytes, request).read_columns(*inputs)));
  return request;
}

}  // namespace

struct RequestParser::State {
  BodyParser parser;
};

RequestParser::RequestParser() : state_(std::make_unique<State>()) {}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

Result<ModelRequest> RequestParser::parse(const std::string& body, const Model& model,
                                          const runs::TableObjects* table) {
  return state_->parser.make<ModelRequest>(
      body, body.size(), [&](element root) { return request_of(root, body.size(), model, table); });
}

}  // namespace troupe::serve
