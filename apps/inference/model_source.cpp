#include "apps/inference/model_source.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

#include "actors/checkpoint/checkpoint_files.h"
#include "actors/checkpoint/restored_cells.h"
#include "apps/inference/saved_names.h"
#include "apps/interop/read_graph.h"
#include "graph/passes/subgraph.h"
#include "messages/tensor_files/bundle.h"

namespace troupe::inference {
namespace {

constexpr uint64_t max_graph_bytes = uint64_t{1} << 32;

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool has_file(Disk& disk, const std::string& path) { return disk.info(path).ok(); }

/// Returns the number that a name is; nothing if it is none.
std::optional<int64_t> number_of(std::string_view name) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return {};
  return number;
}

Result<ModelSource> read_graph(Disk& disk, const std::string& folder, const std::vector<std::string>& tags,
                               std::shared_ptr<const OpTable> ops) {
  const std::string file = folder + '/' + graph_file;
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_graph_bytes));
  auto meta = interop::read_saved_model(bytes, tags, std::move(ops));
  if (!meta) {
    const Status failure = meta.status();
    return Status(failure.code(), file + ": " + failure.text()).at_node(failure.op(), failure.node());
  }
  return ModelSource{std::move(*meta), folder, {}};
}

/// Names the newest run beside this one that has a checkpoint, if there is one: "; runs/digits/002 has one".
std::string other_run(Disk& disk, const std::string& run) {
  const auto runs = numbered_models(disk, folder_of(run));
  for (size_t i = runs ? runs->size() : 0; i > 0; --i) {
    const std::string& other = (*runs)[i - 1].path;
    if (other == run || kind_of(disk, other) != ModelKind::Run) continue;
    const auto names = CheckpointFiles(disk, checkpoints_of_run(disk, other).folder).names();
    if (names && !names->empty()) return "; " + other + " has one";
  }
  return {};
}

}  // namespace

Status without_checkpoint(Disk& disk, const std::string& run) {
  return not_found("the run " + run + " has no checkpoint: it has not saved one yet, or it diverged" +
                   other_run(disk, run));
}

namespace {

/// Returns the folders of the checkpoints of a run, the newest first.
Result<std::vector<std::string>> checkpoints_of(Disk& disk, const std::string& run) {
  const CheckpointFiles files(disk, checkpoints_of_run(disk, run).folder);
  TROUPE_ASSIGN(const auto names, files.names());
  if (names.empty()) return without_checkpoint(disk, run);
  std::vector<std::string> paths;
  for (auto name = names.rbegin(); name != names.rend(); ++name) paths.push_back(files.path(*name));
  return paths;
}

Status read_checkpoint(Disk& disk, const std::string& checkpoint, const Cells& cells) {
  const CheckpointFiles files(disk, folder_of(checkpoint));
  TROUPE_ASSIGN(const Manifest manifest, files.manifest(last_part(checkpoint)));
  RestoredCells restored(cells, checkpoint);
  for (const ShardFile& file : manifest.files) {
    TROUPE_ASSIGN(const auto tensors, read_shard(disk, checkpoint, file, [&](const ShardFile::Saved& saved) {
                    return restored.wants(saved);
                  }));
    for (const SavedTensor& tensor : tensors) TROUPE_RETURN_IF_FAILED(restored.add(tensor));
  }
  TROUPE_ASSIGN(auto values, restored.take());
  for (SavedTensor& value : values) cells.at(value.name)->publish({std::move(value.value), value.version});
  return {};
}

Result<Tensor> read_saved(const Bundle& bundle, const SavedName& saved, const StateCell& cell) {
  if (saved.slice.empty()) return bundle.read(saved.name);
  TROUPE_ASSIGN(const SliceSpec spec, SliceSpec::parse(saved.slice, cell.dtype()));
  return bundle.read(saved.name, spec.range());
}

Status read_bundle(Disk& disk, const ModelSource& source, const Cells& cells) {
  TROUPE_ASSIGN(const Bundle bundle, Bundle::open(disk, source.model + '/' + variables_prefix));
  const auto names = saved_names(source.meta);
  for (const auto& [name, cell] : cells) {
    const auto known = names.find(name);
    TROUPE_ASSIGN(Tensor value,
                  read_saved(bundle, known == names.end() ? SavedName{name, {}} : known->second, *cell));
    if (value.dtype() != cell->dtype() || !cell->shape().compatible_with(value.shape()))
      return invalid_argument("variable " + name + " is " + std::string(troupe::name(cell->dtype())) +
                              cell->shape().text() + ", but " + source.model + " has " + value.signature());
    cell->publish(std::move(value));
  }
  return {};
}

}  // namespace

ModelKind kind_of(Disk& disk, const std::string& folder) {
  if (has_file(disk, folder + '/' + graph_file)) return ModelKind::SavedModel;
  if (has_file(disk, folder + '/' + manifest_name)) return ModelKind::Checkpoint;
  return has_file(disk, folder + '/' + run_model + '/' + graph_file) ? ModelKind::Run : ModelKind::None;
}

Result<std::vector<NumberedModel>> numbered_models(Disk& disk, const std::string& folder) {
  TROUPE_ASSIGN(const auto entries, disk.list(folder));
  std::vector<NumberedModel> models;
  for (const Disk::Entry& entry : entries) {
    const auto number = number_of(entry.name);
    std::string path = folder + '/' + entry.name;
    if (number && kind_of(disk, path) != ModelKind::None) models.push_back({*number, std::move(path)});
  }
  std::ranges::sort(models, {}, &NumberedModel::number);
  return models;
}

CheckpointLocation checkpoints_of_run(Disk& disk, const std::string& run) {
  constexpr uint64_t max_bytes = 1 << 16;
  const auto text = read_file(disk, run + '/' + location_file, max_bytes);
  if (!text) return {run + "/checkpoints", {}, {}};
  std::istringstream lines(*text);
  CheckpointLocation location;
  for (std::string* const line : {&location.folder, &location.endpoint, &location.region})
    std::getline(lines, *line);
  return location;
}

std::string text_of(const CheckpointLocation& location) {
  return location.folder + '\n' + location.endpoint + '\n' + location.region + '\n';
}

namespace {

/// Returns the folder of a model: this one or, if it contains others with numbers as names, the newest of these.
std::string with_model(Disk& disk, const std::string& folder) {
  if (kind_of(disk, folder) != ModelKind::None) return folder;
  const auto models = numbered_models(disk, folder);
  return models && !models->empty() ? models->back().path : folder;
}

}  // namespace

Result<ModelSource> open_model(Disk& disk, const std::string& given, const std::vector<std::string>& tags,
                               std::shared_ptr<const OpTable> ops) {
  if (given.empty()) return invalid_argument("the name of the folder of a model is empty");
  const std::string path = with_model(disk, without_slash(given));
  const ModelKind kind = kind_of(disk, path);
  if (kind == ModelKind::SavedModel) return read_graph(disk, path, tags, std::move(ops));
  const bool is_checkpoint = kind == ModelKind::Checkpoint;
  const std::string run = is_checkpoint ? folder_of(folder_of(path)) : path;
  const std::string model = run + '/' + run_model;
  if (kind_of(disk, run) != ModelKind::Run)
    return not_found(
        path + " is neither a saved model (it has no file " + graph_file + "), nor a run (it has no file " +
        run_model + '/' + graph_file +
        "), nor a checkpoint of a run, nor does it contain one of these with a number as its name");
  TROUPE_ASSIGN(ModelSource source, read_graph(disk, model, tags, std::move(ops)));
  if (is_checkpoint) {
    source.checkpoints = {path};
  } else {
    TROUPE_ASSIGN(source.checkpoints, checkpoints_of(disk, run));
  }
  return source;
}

Status check_is_asset(const std::string& model, const std::string& path) {
  if (path.starts_with(model + '/' + assets_folder + '/') && path.find("..") == path.npos) return {};
  return invalid_argument("the file '" + path + "' is no asset of the model in " + model);
}

Result<std::vector<NodeId>> needed_nodes(const Graph& graph, const interop::Signature& signature) {
  RunSignature step;
  const auto is_fed = [&](Output output) {
    return std::ranges::find(step.feeds, output) != step.feeds.end();
  };
  for (const auto& [name, input] : signature.inputs)
    if (!is_fed(input)) step.feeds.push_back(input);
  for (const auto& [name, output] : signature.outputs)
    if (!is_fed(output)) step.fetches.push_back(output);
  std::vector<NodeId> nodes;
  if (step.fetches.empty()) return nodes;
  TROUPE_ASSIGN(const Subgraph needed, cut_subgraph(graph, step));
  for (const NodeId origin : needed.origin)
    if (origin != no_node) nodes.push_back(origin);
  return nodes;
}

Result<Cells> needed_cells(const interop::MetaGraph& meta, StateTable& state) {
  Cells cells;
  for (const auto& [name, signature] : meta.signatures) {
    TROUPE_ASSIGN(const auto nodes, needed_nodes(meta.graph, signature));
    for (const NodeId id : nodes) {
      if (!is_variable(meta.graph.node(id))) continue;
      TROUPE_ASSIGN(auto cell, state.require("", meta.graph.node(id)));
      cells.emplace(cell->name(), std::move(cell));
    }
  }
  return cells;
}

Result<std::string> read_variables(Disk& disk, const ModelSource& source, const Cells& cells) {
  std::string from = source.model;
  Status status;
  if (source.checkpoints.empty() && !cells.empty()) status = read_bundle(disk, source, cells);
  for (const std::string& checkpoint : source.checkpoints) {
    from = checkpoint;
    status = read_checkpoint(disk, checkpoint, cells);
    if (status.code() != Code::DataLoss) break;
  }
  TROUPE_RETURN_IF_FAILED(status);
  const auto missing = std::ranges::find_if(
      cells, [](const auto& one) { return one.second->reading() == StateCell::Reading::Uninitialized; });
  if (missing == cells.end()) return from;
  const bool is_other = std::ranges::none_of(
      cells, [](const auto& one) { return one.second->reading() != StateCell::Reading::Uninitialized; });
  return not_found(from +
                   (is_other ? " is of another model: it has none of the variables of this one, such as "
                             : " has no value for variable ") +
                   missing->first);
}

}  // namespace troupe::inference
