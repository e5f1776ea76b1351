#include "apps/inference/model.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <thread>

#include "apps/data/dataset.h"
#include "apps/inference/cancellable_disk.h"
#include "apps/inference/model_function.h"
#include "apps/inference/model_source.h"
#include "apps/inference/model_tables.h"
#include "devices/arena.h"
#include "devices/cpu_device.h"
#include "kernels/ops/images/codecs.h"
#include "kernels/ops/ragged/splits.h"
#include "messages/env/real_disk.h"
#include "messages/values/held_by.h"

namespace troupe {
namespace {

std::vector<ModelTensor> tensors_of(const Graph& graph, const std::map<std::string, Output>& named) {
  std::vector<ModelTensor> tensors;
  for (const auto& [name, output] : named)
    tensors.push_back({name, graph.dtype(output), graph.shape(output)});
  return tensors;
}

std::vector<Output> outputs_of(const std::map<std::string, Output>& named) {
  std::vector<Output> outputs;
  for (const auto& [name, output] : named) outputs.push_back(output);
  return outputs;
}

std::string text_of(const ModelTensor& tensor) {
  return std::string(name(tensor.dtype)) + tensor.shape.text();
}

/// Returns the number of the input whose rows the splits part; nothing if an input is no splits.
std::optional<size_t> ragged_input(const ModelSignature& signature, const ModelTensor& splits) {
  if (splits.dtype != DType::Int64 || !splits.shape.has_rank(1) || splits.shape[0] != unknown_dim) return {};
  for (size_t i = 0; i < signature.inputs.size(); ++i)
    if (data::splits_name(signature.inputs[i].name) == splits.name) return i;
  return {};
}

/// Fails unless all splits fit the values that they part. Their dtypes and shapes have been checked.
Status check_ragged(const ModelSignature& signature, std::span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelTensor& splits = signature.inputs[i];
    const auto number = ragged_input(signature, splits);
    if (!number || inputs[*number].shape().rank() == 0) continue;
    TROUPE_RETURN_IF_FAILED(
        check_splits(inputs[i].as<int64_t>(), inputs[*number].shape()[0], "input '" + splits.name + "'"));
  }
  return {};
}

Status check(const ModelSignature& signature, std::span<const Tensor> inputs) {
  if (inputs.size() != signature.inputs.size())
    return invalid_argument("signature '" + signature.name + "' has " +
                            std::to_string(signature.inputs.size()) + " inputs, but " +
                            std::to_string(inputs.size()) + " tensors were given");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelTensor& wanted = signature.inputs[i];
    if (!inputs[i].valid()) return invalid_argument("input '" + wanted.name + "' has no value");
    if (inputs[i].dtype() != wanted.dtype || !wanted.shape.compatible_with(inputs[i].shape()))
      return invalid_argument("input '" + wanted.name + "' must be " + text_of(wanted) + "; it is " +
                              inputs[i].signature());
  }
  return check_ragged(signature, inputs);
}

/// Fails with InvalidArgument if a name is not that of an input, and lists those that are.
Status check_names(const ModelSignature& signature, const std::map<std::string, Tensor>& inputs) {
  for (const auto& [name, value] : inputs) {
    if (std::ranges::find(signature.inputs, name, &ModelTensor::name) != signature.inputs.end()) continue;
    std::string known;
    for (const ModelTensor& input : signature.inputs) known += (known.empty() ? "" : ", ") + input.name;
    return invalid_argument("signature '" + signature.name + "' has no input '" + name + "'; it takes " +
                            (known.empty() ? "none" : known));
  }
  return {};
}

Status check_memory_of_model(uint64_t bytes) {
  constexpr uint64_t least = Arena::granule;
  if (bytes == 0 || bytes >= least) return {};
  return invalid_argument("a memory cap of " + std::to_string(bytes) +
                          " bytes (LoadOptions::memory): it must be at least " + std::to_string(least) +
                          " bytes");
}

Status check_image_elements(int64_t elements) {
  if (elements >= 0) return {};
  return invalid_argument(
      "images of at most " + std::to_string(elements) +
      " elements (LoadOptions::image_elements): the number must be positive, or 0 for the "
      "most that can be decoded, " +
      std::to_string(most_image_elements));
}

}  // namespace

struct Model::Impl {
  Impl(inference::ModelSource from, std::shared_ptr<const OpLibrary> ops, std::unique_ptr<ThreadPool> threads,
       const LoadOptions& options)
      : source(std::move(from)), image_elements(options.image_elements), library(std::move(ops)),
        pool(std::move(threads)),
        device(value_or_throw(DeviceName::parse("/job:model/replica:0/task:0/device:CPU:0")), 1, *pool,
               {.cap = options.memory}) {
    const Graph& graph = source.meta.graph;
    for (const auto& [name, signature] : source.meta.signatures)
      signatures.push_back({name, signature.method, tensors_of(graph, signature.inputs),
                            tensors_of(graph, signature.outputs)});
    functions.resize(signatures.size());
  }
  /// Tasks of the pool may keep plans, which use the device.
  ~Impl() { pool.reset(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Reads the values of the variables, and the contents of the tables, that the signatures need.
  Status read(Disk& disk) {
    TROUPE_ASSIGN(const auto cells, inference::needed_cells(source.meta, state));
    TROUPE_ASSIGN(values_from, inference::read_variables(disk, source, cells));
    TROUPE_ASSIGN(tables, inference::read_tables(disk, source, *library, device, state));
    return {};
  }

  size_t find(std::string_view name) const {
    const auto found = std::ranges::find(signatures, name, &ModelSignature::name);
    if (found != signatures.end()) return static_cast<size_t>(found - signatures.begin());
    if (const auto absent = source.meta.absent_signatures.find(std::string(name));
        absent != source.meta.absent_signatures.end())
      throw Error(Status(absent->second.code(), "the signature '" + std::string(name) + "' of the model in " +
                                                    source.model +
                                                    " cannot be used: " + absent->second.text()));
    std::vector<std::string_view> names;
    for (const ModelSignature& signature : signatures) names.push_back(signature.name);
    std::string known;
    for (const std::string_view one : names) known += (known.empty() ? "" : ", ") + std::string(one);
    const bool lacks_outputs = name == Model::predict && known == Model::evaluate;
    throw Error(not_found("the model in " + source.model + " has no signature '" + std::string(name) + "'; " +
                          (known.empty()   ? "it has none"
                           : lacks_outputs ? "model.outputs of its run file says what a model yields"
                                           : "it has " + known)));
  }

  /// Compiles a signature when it is used for the first time.
  const inference::ModelFunction& function(size_t i) const {
    const std::lock_guard guard(mutex);
    std::optional<inference::ModelFunction>& function = functions[i];
    if (!function) {
      const interop::Signature& signature = source.meta.signatures.at(signatures[i].name);
      function.emplace(value_or_throw(inference::ModelFunction::make(
          source.meta.graph, outputs_of(signature.inputs), outputs_of(signature.outputs), *library, device,
          state, tables, image_elements)));
    }
    return *function;
  }

  const inference::ModelSource source;
  const int64_t image_elements;  ///< as in LoadOptions
  std::string values_from;
  std::vector<ModelSignature> signatures;
  const std::shared_ptr<const OpLibrary> library;
  std::unique_ptr<ThreadPool> pool;
  mutable CpuDevice device;
  mutable StateTable state;
  inference::ModelTables tables{device};
  mutable std::mutex mutex;                                                ///< guards functions
  mutable std::vector<std::optional<inference::ModelFunction>> functions;  ///< by the number of the signature
};

const std::vector<ModelSignature>& Model::signatures() const { return held_by(impl_, "model").signatures; }
const ModelSignature& Model::signature(std::string_view name) const {
  const Impl& model = held_by(impl_, "model");
  return model.signatures[model.find(name)];
}
const std::string& Model::source() const { return held_by(impl_, "model").values_from; }

void Model::prepare(std::string_view signature) const {
  const Impl& model = held_by(impl_, "model");
  (void)model.function(model.find(signature));
}

std::vector<Tensor> Model::run(std::span<const Tensor> inputs, std::string_view signature,
                               const Cancellation* cancellation) const {
  const Impl& model = held_by(impl_, "model");
  const size_t number = model.find(signature);
  throw_if_failed(check(model.signatures[number], inputs));
  return value_or_throw(model.function(number).run(inputs, cancellation));
}

std::map<std::string, Tensor> Model::run(const std::map<std::string, Tensor>& inputs,
                                         std::string_view signature, const Cancellation* cancellation) const {
  const ModelSignature& function = this->signature(signature);
  throw_if_failed(check_names(function, inputs));
  std::vector<Tensor> ordered;
  for (const ModelTensor& wanted : function.inputs) {
    const auto found = inputs.find(wanted.name);
    if (found == inputs.end())
      throw Error(invalid_argument("input '" + wanted.name + "', " + text_of(wanted) + ", is missing"));
    ordered.push_back(found->second);
  }
  std::vector<Tensor> values = run(ordered, signature, cancellation);
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < values.size(); ++i) results.emplace(function.outputs[i].name, std::move(values[i]));
  return results;
}

Model load(const std::string& path, const LoadOptions& options) {
  RealDisk disk;
  return load(disk, path, options);
}

Model load(Disk& disk, const std::string& path, const LoadOptions& options) {
  inference::CancellableDisk files(disk, options.cancellation);
  throw_if_failed(check_memory_of_model(options.memory));
  throw_if_failed(check_image_elements(options.image_elements));
  const auto library = make_op_library();
  throw_if_failed(library->status);
  auto source = value_or_throw(inference::open_model(files, path, options.tags, library->ops));
  const size_t threads =
      options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  auto impl = std::make_shared<Model::Impl>(std::move(source), library,
                                            value_or_throw(ThreadPool::make(threads)), options);
  throw_if_failed(impl->read(files));
  return Model(std::move(impl));
}

}  // namespace troupe
