#include "apps/runs/export.h"

#include <algorithm>
#include <vector>

#include "actors/checkpoint/safetensors.h"
#include "apps/inference/saved_names.h"
#include "apps/interop/write_graph.h"
#include "apps/onnx/to_onnx.h"
#include "apps/runs/saved_model_graph.h"
#include "apps/runs/trained_run.h"
#include "messages/tensor_files/bundle_writer.h"

namespace troupe::runs {
namespace {

constexpr uint64_t max_config_bytes = uint64_t{1} << 24, max_asset_bytes = uint64_t{1} << 32;

Status write_whole(Disk& disk, const std::string& path, std::string_view bytes) {
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(bytes));
  return file.commit();
}

/// Writes the values of the variables, under the names where the graph of the model restores them from.
Status write_variables(Disk& disk, const TrainedModel& model, const std::string& prefix) {
  if (model.values.empty()) return {};
  const auto names = inference::saved_names(model.source.meta);
  TROUPE_ASSIGN(BundleWriter writer, BundleWriter::create(disk, prefix));
  for (const auto& [variable, value] : model.values) {
    const auto known = names.find(variable);
    TROUPE_RETURN_IF_FAILED(writer.add(known == names.end() ? variable : known->second.name, value));
  }
  return writer.finish();
}

/// Leaves only what the signatures need of a saved model: others than Troupe's restore more variables, whose values are not read.
void keep_signatures(interop::MetaGraph& meta) {
  const std::vector<Output> variables = variables_to_export(meta);
  meta.graph = without_parts(meta.graph);
  meta = saved_model_graph(std::move(meta), variables);
}

/// Copies the assets of a model, such as files of words, to the folder of another one. Fails as check_is_asset() does.
Status copy_assets(Disk& disk, const inference::ModelSource& source, const std::string& folder) {
  if (source.meta.assets.empty()) return {};
  const std::string assets = std::string("/") + inference::assets_folder + '/';
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder + assets));
  for (const auto& [name, tensor] : source.meta.assets) {
    const std::string file = assets + name;
    TROUPE_RETURN_IF_FAILED(inference::check_is_asset(source.model, source.model + file));
    TROUPE_ASSIGN(const std::string bytes, read_file(disk, source.model + file, max_asset_bytes));
    TROUPE_RETURN_IF_FAILED(write_whole(disk, folder + file, bytes));
  }
  return {};
}

Status cannot_export(const std::string& signature, const Status& why) {
  return {why.code(), "the signature '" + signature + "' cannot be exported: " + why.text()};
}

}  // namespace

Result<TrainedModel> read_trained_model(Disk& disk, const std::string& path,
                                        std::shared_ptr<const OpTable> ops) try {
  TROUPE_ASSIGN(auto source, inference::open_model(disk, path, {"serve"}, std::move(ops)));
  StateTable state;
  TROUPE_ASSIGN(const auto cells, inference::needed_cells(source.meta, state));
  TROUPE_ASSIGN(std::string checkpoint, inference::read_variables(disk, source, cells));
  if (source.checkpoints.empty()) keep_signatures(source.meta);
  TrainedModel model{std::move(source), {}, std::move(checkpoint), {}};
  for (const std::string& file :
       {folder_of(model.source.model) + "/config.toml", model.source.model + '/' + exported_config}) {
    if (!disk.info(file).ok()) continue;
    TROUPE_ASSIGN(model.config, read_file(disk, file, max_config_bytes));
    break;
  }
  for (const auto& [name, cell] : cells) {
    Snapshot snapshot;
    (void)cell->try_read(snapshot);
    model.values.emplace(name, std::move(snapshot.value));
  }
  return model;
} catch (const Error& error) {
  return error.status();
}

Status check_no_saved_model(Disk& disk, const std::string& folder) {
  const std::string graph = folder + '/' + inference::graph_file;
  return disk.info(graph).ok() ? already_exists(graph + " exists") : Status();
}

Status export_saved_model(Disk& disk, const TrainedModel& model, const std::string& folder) {
  const std::string graph = folder + '/' + inference::graph_file,
                    values = folder + '/' + inference::variables_prefix;
  for (const auto& [name, why] : model.source.meta.absent_signatures) return cannot_export(name, why);
  TROUPE_RETURN_IF_FAILED(check_no_saved_model(disk, folder));
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder));
  TROUPE_RETURN_IF_FAILED(write_variables(disk, model, values));
  TROUPE_RETURN_IF_FAILED(copy_assets(disk, model.source, folder));
  if (!model.config.empty()) {
    const std::string config = folder + '/' + exported_config;
    TROUPE_RETURN_IF_FAILED(make_folders(disk, folder_of(config)));
    TROUPE_RETURN_IF_FAILED(write_whole(disk, config, model.config));
  }
  return write_whole(disk, graph, interop::write_saved_model(model.source.meta));
}

Status export_onnx(Disk& disk, const TrainedModel& model, const OpLibrary& library, const std::string& file) {
  const auto& signatures = model.source.meta.signatures;
  auto signature = signatures.find(std::string(Model::predict_parsed));
  if (signature == signatures.end()) signature = signatures.find(std::string(Model::predict));
  const auto& absent = model.source.meta.absent_signatures;
  if (const auto why = absent.find(std::string(Model::predict));
      signature == signatures.end() && why != absent.end())
    return cannot_export(why->first, why->second);
  if (signature == signatures.end())
    return not_found(
        "the model has no signature '" + std::string(Model::predict) +
        "'; for a model that was trained here, model.outputs of the run file says what it yields");
  TROUPE_ASSIGN(const std::string bytes,
                onnx::to_onnx(model.source.meta, signature->second, model.values, library));
  return write_whole(disk, file, bytes);
}

Status export_safetensors(Disk& disk, const TrainedModel& model, const std::string& path) {
  std::vector<TensorEntry> entries;
  for (const auto& [name, value] : model.values) entries.push_back({name, value.dtype(), value.shape()});
  TROUPE_ASSIGN(const std::string header, safetensors_header(entries));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(header));
  for (const auto& [name, value] : model.values)
    TROUPE_RETURN_IF_FAILED(file.write(std::span(value.data(), value.bytes())));
  return file.commit();
}

}  // namespace troupe::runs
