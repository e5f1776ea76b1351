#include "apps/checkpoints/stored_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "actors/checkpoint/checkpoint_files.h"
#include "actors/checkpoint/checkpoint_shard.h"
#include "actors/checkpoint/safetensors.h"
#include "apps/inference/model_source.h"
#include "messages/tensor_files/bundle.h"
#include "messages/tensor_files/bundle_writer.h"

namespace troupe::checkpoints {
namespace {

constexpr std::string_view safetensors_ending = ".safetensors", index_ending = ".index";
constexpr uint64_t max_file = uint64_t{1} << 40;

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// Adds a tensor, or the rows that a part has of one.
Status add(const SavedTensor& saved, StoredValues& stored) {
  if (!saved.slice) {
    stored.values[saved.name] = saved.value;
    return {};
  }
  Tensor& whole = stored.values[saved.slice->of];
  std::vector<int64_t> dims(saved.value.shape().dims().begin(), saved.value.shape().dims().end());
  if (dims.empty() || dims[0] != saved.slice->count)
    return data_loss(stored.source + ": the part " + saved.name + " has other rows than the manifest says");
  dims[0] = saved.slice->rows;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, saved.value.dtype()));
  if (!whole.valid()) {
    TROUPE_ASSIGN(whole, Tensor::allocate(saved.value.dtype(), shape));
    if (!is_plain(whole.dtype())) return unimplemented(saved.name + ": parts of this type cannot be joined");
    std::memset(whole.mutable_data(), 0, whole.bytes());
  }
  if (whole.shape() != shape || whole.dtype() != saved.value.dtype())
    return data_loss(stored.source + ": the parts of " + saved.slice->of + " differ in shape");
  const size_t row =
      saved.slice->count == 0 ? 0 : saved.value.bytes() / static_cast<size_t>(saved.slice->count);
  for (int64_t i = 0; i < saved.slice->count; ++i) {
    const int64_t at = saved.slice->row(i);
    if (at < 0 || at >= shape[0])
      return data_loss(stored.source + ": the part " + saved.name + " lies outside its variable");
    std::memcpy(whole.mutable_data() + static_cast<size_t>(at) * row,
                saved.value.data() + static_cast<size_t>(i) * row, row);
  }
  return {};
}

Result<StoredValues> read_checkpoint(Disk& disk, const std::string& path) {
  const CheckpointFiles files(disk, folder_of(path));
  TROUPE_ASSIGN(const Manifest manifest, files.manifest(last_part(path)));
  StoredValues stored{path, manifest.round, {}};
  for (const ShardFile& file : manifest.files) {
    TROUPE_ASSIGN(const auto tensors, read_shard(disk, path, file, [](const auto&) { return true; }));
    for (const SavedTensor& tensor : tensors) TROUPE_RETURN_IF_FAILED(add(tensor, stored));
  }
  return stored;
}

Result<StoredValues> read_bundle(Disk& disk, const std::string& prefix) {
  TROUPE_ASSIGN(const Bundle bundle, Bundle::open(disk, prefix));
  StoredValues stored{prefix, 0, {}};
  for (const auto& [name, entry] : bundle.entries()) {
    TROUPE_ASSIGN(stored.values[name], bundle.read(name));
  }
  return stored;
}

Result<StoredValues> read_safetensors(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, path, max_file));
  const auto damaged = [&](const Status& status) {
    return Status(status.code(), path + ": " + status.text());
  };
  const auto length =
      safetensors_header_length(std::string_view(bytes).substr(0, safetensors_prefix), bytes.size());
  if (!length) return damaged(length.status());
  const size_t data = safetensors_prefix + *length;
  const auto entries = read_safetensors_header(std::string_view(bytes).substr(safetensors_prefix, *length),
                                               bytes.size() - data);
  if (!entries) return damaged(entries.status());
  StoredValues stored{path, 0, {}};
  size_t at = data;
  for (const TensorEntry& entry : *entries) {
    TROUPE_ASSIGN(Tensor value, Tensor::allocate(entry.dtype, entry.shape));
    std::memcpy(value.mutable_data(), bytes.data() + at, entry.bytes());
    at += entry.bytes();
    stored.values[entry.name] = std::move(value);
  }
  return stored;
}

/// Returns the folder with the checkpoints of a run, of the newest run in a folder, or the folder itself.
std::string folder_of_checkpoints(Disk& disk, const std::string& path) {
  const auto runs = inference::numbered_models(disk, path);
  const std::string run = runs && !runs->empty() ? runs->back().path : path;
  const std::string folder = inference::checkpoints_of_run(disk, run).folder;
  return disk.info(folder) ? folder : path;
}

Status refuse_existing(Disk& disk, const std::string& path) {
  return disk.info(path).ok() ? already_exists(path + " exists") : Status();
}

Status write_safetensors(Disk& disk, const StoredValues& stored, const std::string& path) {
  TROUPE_RETURN_IF_FAILED(refuse_existing(disk, path));
  std::vector<TensorEntry> entries;
  for (const auto& [name, value] : stored.values) entries.push_back({name, value.dtype(), value.shape()});
  TROUPE_ASSIGN(const std::string header, safetensors_header(entries));
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  TROUPE_RETURN_IF_FAILED(file.write(header));
  for (const auto& [name, value] : stored.values)
    TROUPE_RETURN_IF_FAILED(file.write(std::span(value.data(), value.bytes())));
  return file.commit();
}

Status write_checkpoint(Disk& disk, const StoredValues& stored, const std::string& folder) {
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder));
  const CheckpointFiles files(disk, folder);
  TROUPE_ASSIGN(const std::string name, files.begin(stored.round));
  std::vector<SavedTensor> tensors;
  for (const auto& [variable, value] : stored.values) tensors.push_back({variable, value});
  Manifest manifest{stored.round, {}, {}};
  TROUPE_ASSIGN(auto file, write_shard(disk, files.path(name), shard_name(0, 1), tensors));
  manifest.files.push_back(std::move(file));
  return files.commit(name, manifest);
}

Status write_bundle(Disk& disk, const StoredValues& stored, const std::string& prefix) {
  TROUPE_RETURN_IF_FAILED(refuse_existing(disk, prefix + std::string(index_ending)));
  TROUPE_ASSIGN(BundleWriter writer, BundleWriter::create(disk, prefix));
  for (const auto& [name, value] : stored.values) TROUPE_RETURN_IF_FAILED(writer.add(name, value));
  return writer.finish();
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

/// Returns why a file is no source of values.
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

}  // namespace

Result<StoredValues> read_values(Disk& disk, const std::string& given) {
  const std::string path = without_slash(given);
  if (path.ends_with(safetensors_ending)) return read_safetensors(disk, path);
  if (path.ends_with(index_ending))
    return read_bundle(disk, path.substr(0, path.size() - index_ending.size()));
  if (disk.info(path + std::string(index_ending)).ok()) return read_bundle(disk, path);
  const auto kind = inference::kind_of(disk, path);
  if (kind == inference::ModelKind::Checkpoint) return read_checkpoint(disk, path);
  if (kind == inference::ModelKind::SavedModel)
    return read_bundle(disk, path + '/' + inference::variables_prefix);
  const CheckpointFiles files(disk, folder_of_checkpoints(disk, path));
  const auto names = files.names();
  if (names && !names->empty()) return read_checkpoint(disk, files.path(names->back()));
  const auto info = disk.info(path);
  if (info && !info->is_folder) return not_found(not_readable(path));
  return not_found(path + " is neither a checkpoint, nor a run or a saved model that has one");
}

Status write_values(Disk& disk, const StoredValues& stored, const std::string& path) {
  if (path.ends_with(safetensors_ending)) return write_safetensors(disk, stored, path);
  return path.ends_with('/') ? write_checkpoint(disk, stored, without_slash(path))
                             : write_bundle(disk, stored, path);
}

Result<std::vector<CheckpointInfo>> list_checkpoints(Disk& disk, const std::string& path) {
  if (const auto info = disk.info(path); info && !info->is_folder)
    return invalid_argument(
        path + " is a file; checkpoints are listed in the folder of a run, such as runs/NAME/001");
  const CheckpointFiles files(disk, folder_of_checkpoints(disk, without_slash(path)));
  TROUPE_ASSIGN(const auto names, files.names());
  if (names.empty()) return not_found(path + " has no checkpoints");
  std::vector<CheckpointInfo> infos;
  for (const std::string& name : names) {
    CheckpointInfo& info =
        infos.emplace_back(CheckpointInfo{.name = name, .path = files.path(name), .damage = {}});
    const auto manifest = files.manifest(name);
    if (!manifest) {
      info.damage = manifest.status().text();
      continue;
    }
    info.round = manifest->round;
    for (const ShardFile& file : manifest->files) {
      info.bytes += file.bytes;
      info.tensors += file.tensors.size();
    }
  }
  return infos;
}

}  // namespace troupe::checkpoints
