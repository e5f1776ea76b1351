#include "apps/train/initial_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>
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

/// A program whose files have other forms than those that can be read.
struct OtherProgram {
  std::string_view name, ending, advice;
};

constexpr std::string_view from_keras = "; model.export(FOLDER) of Keras writes a saved model";
constexpr std::string_view from_pytorch =
    "; safetensors.torch.save_file(model.state_dict(), \"NAME.safetensors\") writes a file that can be read";
constexpr OtherProgram other_programs[] = {
    {"Keras", ".h5", from_keras},
    {"Keras", ".hdf5", from_keras},
    {"Keras", ".keras", from_keras},
    {"PyTorch", ".pt", from_pytorch},
    {"PyTorch", ".pth", from_pytorch},
    {"PyTorch", ".bin", from_pytorch},
    {"ONNX", ".onnx", ""},
    {"Python", ".pkl", ""},
    {"NumPy", ".npz", ""},
};

/// Returns why a file that exists is no source of values.
std::string not_readable(const std::string& file) {
  const auto found = std::ranges::find_if(
      other_programs, [&](const OtherProgram& program) { return file.ends_with(program.ending); });
  const bool is_known = found != std::end(other_programs);
  const std::string what = is_known ? std::string(found->name) : "an unknown form";
  return file + " is a file of " + what +
         "; allowed: the folder of a run, of a checkpoint or of a saved model, a "
         ".safetensors file, or the prefix of a checkpoint of TensorFlow" +
         std::string(is_known ? found->advice : std::string_view());
}

/// Returns why there are no values at the path, and what the user may have meant.
Status no_values(Disk& disk, const config::RunConfig& config, const std::string& why) {
  const std::string& path = config.model.init_from;
  const auto info = disk.info(path);
  if (!info) return refused(config, Code::NotFound, why + config::nearest_beside(disk, path));
  return refused(config, Code::InvalidArgument, info->is_folder ? why : not_readable(path));
}

/// Returns the value of a model for a weight, or null.
const Tensor* find(const Values& values, const std::string& name) {
  const auto average = values.find("averages/" + name);
  const auto found = average == values.end() ? values.find(name) : average;
  return found == values.end() ? nullptr : &found->second;
}

std::string without_value(const Values& values, const std::string& name, const std::string& source) {
  std::vector<std::string_view> names;
  for (const auto& [known, value] : values) names.push_back(known);
  return source + " has no value for '" + name + "'" + config::hint(name, names) +
         "; init_except names the layers and weights that begin as usual";
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
  for (const FedWeight& weight : training.fed_weights) {
    const std::string& name = weight.slice ? weight.slice->of : weight.name;
    const Tensor* const value = find(stored->values, name);
    if (!value)
      return refused(config, Code::InvalidArgument, without_value(stored->values, name, stored->source));
    TROUPE_ASSIGN(const Shape shape, shape_of(graph, weight.value));
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    if (weight.slice) dims[0] = weight.slice->rows;
    const DType dtype = graph.dtype(weight.value);
    if (value->dtype() != dtype || !std::ranges::equal(value->shape().dims(), dims))
      return refused(config, Code::InvalidArgument,
                     stored->source + " has " + value->signature() + " for '" + name + "', which is " +
                         std::string(troupe::name(dtype)) + PartialShape(dims).text() +
                         " here; init_except names the layers and weights that begin as usual");
    Tensor fed = *value;
    if (weight.slice) {
      TROUPE_ASSIGN(fed, rows_of(*value, *weight.slice, shape));
    }
    feeds.emplace_back(weight.value, std::move(fed));
  }
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
