#include "apps/train/folder/initial_values.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "apps/checkpoints/stored_values.h"
#include "apps/config/reader.h"

namespace troupe::train {
namespace {

using Values = std::map<std::string, Tensor>;

/// Returns an error that begins with the place of model.init_from.
Status refused(const config::RunConfig& config, Code code, const std::string& text) {
  const auto place = config::Reader(&config.document->root()).table("model").place("init_from");
  const std::string where = config::Diagnostics(*config.document).where(place);
  const bool names_key = where.ends_with("model.init_from");  // as "--set model.init_from" does
  return Status(code, where + (names_key ? ": " : ": model.init_from: ") + text);
}

/// Returns why there are no values at the path, and what the user may have meant.
Status no_values(Disk& disk, const config::RunConfig& config, const std::string& why) {
  const std::string& path = config.model.init_from;
  return refused(config, Code::InvalidArgument,
                 disk.info(path) ? why : why + config::nearest_beside(disk, path));
}

/// Returns the value of a model for a weight, or null.
const Tensor* find(const Values& values, const std::string& name) {
  const auto average = values.find("averages/" + name);
  const auto found = average == values.end() ? values.find(name) : average;
  return found == values.end() ? nullptr : &found->second;
}

std::string list_of(std::span<const std::string> names, std::string_view quote) {
  constexpr size_t most = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    text.append(i == 0 ? "" : ", ").append(quote).append(names[i]).append(quote);
  return text + (names.size() > most ? ", ..." : "");
}

/// What the values of a model do not have for the weights of another.
struct Misfits {
  std::vector<std::string> weights;  ///< in the order of the model
  std::string first;                 ///< why the first one does not fit
  bool has_fitting = false;

  void add(const std::string& weight, const std::string& why) {
    if (weights.empty()) first = why;
    if (weights.empty() || weights.back() != weight) weights.push_back(weight);
  }
  std::string text(const Values& values, const std::string& source) const {
    std::vector<std::string> stored,
        nested;  // nested are those of other programs, or the state of an optimizer
    for (const auto& [name, value] : values)
      (name.find('/') == std::string::npos ? stored : nested).push_back(name);
    stored.insert(stored.end(), nested.begin(), nested.end());
    if (!has_fitting &&
        std::ranges::none_of(weights, [&](const auto& weight) { return find(values, weight); }))
      return source + " has no value for any weight of this model: it has " + list_of(stored, "") +
             ", the model has " + list_of(weights, "");
    return source + first + "; model.init_except = [" + list_of(weights, "\"") +
           "] lets what does not fit begin as usual";
  }
};

std::string no_value_for(const Values& values, const std::string& name) {
  std::vector<std::string_view> names;
  for (const auto& [known, value] : values) names.push_back(known);
  return " has no value for '" + name + "'" + config::hint(name, names);
}

/// Returns the rows of a value that a part of a weight has.
Result<Tensor> rows_of(const Tensor& whole, const RowSlice& slice, const Shape& shape) {
  TROUPE_ASSIGN(Tensor part, Tensor::allocate(whole.dtype(), shape));
  const size_t row = slice.count == 0 ? 0 : part.bytes() / static_cast<size_t>(slice.count);
  for (int64_t i = 0; i < slice.count; ++i)
    std::memcpy(part.mutable_data() + static_cast<size_t>(i) * row,
                whole.data() + static_cast<size_t>(slice.row(i)) * row, row);
  return part;
}

Result<Shape> shape_of(const Graph& graph, Output value) {
  return graph.shape(value).to_shape(graph.dtype(value));
}

}  // namespace

Result<Feeds> stored_values(Disk& disk, const config::RunConfig& config, const Graph& graph,
                            const TrainingGraph& training) {
  if (training.fed_weights.empty()) return Feeds();
  const auto stored = checkpoints::read_values(disk, config.model.init_from);
  if (stored.status().code() == Code::NotFound) return no_values(disk, config, stored.status().text());
  if (!stored) return refused(config, stored.status().code(), stored.status().text());
  Feeds feeds;
  Misfits misfits;
  for (const FedWeight& weight : training.fed_weights) {
    const std::string& name = weight.slice ? weight.slice->of : weight.name;
    const Tensor* const value = find(stored->values, name);
    if (!value) {
      misfits.add(name, no_value_for(stored->values, name));
      continue;
    }
    TROUPE_ASSIGN(const Shape shape, shape_of(graph, weight.value));
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    if (weight.slice) dims[0] = weight.slice->rows;
    const DType dtype = graph.dtype(weight.value);
    if (value->dtype() != dtype || !std::ranges::equal(value->shape().dims(), dims)) {
      misfits.add(name, " has " + value->signature() + " for '" + name + "', which is " +
                            std::string(troupe::name(dtype)) + PartialShape(dims).text() + " here");
      continue;
    }
    misfits.has_fitting = true;
    Tensor fed = *value;
    if (weight.slice) {
      TROUPE_ASSIGN(fed, rows_of(*value, *weight.slice, shape));
    }
    feeds.emplace_back(weight.value, std::move(fed));
  }
  if (!misfits.weights.empty())
    return refused(config, Code::InvalidArgument, misfits.text(stored->values, stored->source));
  return feeds;
}

Result<Feeds> zeros(const Graph& graph, const TrainingGraph& training) {
  Feeds feeds;
  for (const FedWeight& weight : training.fed_weights) {
    TROUPE_ASSIGN(const Shape shape, shape_of(graph, weight.value));
    TROUPE_ASSIGN(Tensor value, Tensor::allocate(graph.dtype(weight.value), shape));
    std::memset(value.mutable_data(), 0, value.bytes());
    feeds.emplace_back(weight.value, std::move(value));
  }
  return feeds;
}

}  // namespace troupe::train
