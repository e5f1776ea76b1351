#include "apps/checkpoints/stored_values.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "actors/checkpoint/checkpoint_files.h"
#include "actors/checkpoint/checkpoint_shard.h"
#include "actors/checkpoint/safetensors.h"
#include "apps/inference/model_source.h"
#include "messages/tensor_files/bundle.h"
#include "messages/tensor_files/bundle_writer.h"

namespace troupe::checkpoints {
namespace {

constexpr std::string_view safetensors_ending = ".safetensors", index_ending = ".index";

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// Returns the first row of a variable that no part has; nothing if the parts have all rows. Takes memory for the rows of the
/// parts only, however many the variable is said to have.
std::optional<int64_t> missing_row(const SavedTensors& parts, int64_t rows) {
  int64_t there = 0;
  for (const SavedTensor& part : parts) there += part.slice->count;
  std::vector<bool> has(static_cast<size_t>(std::min(there + 1, rows)));  // one of these is missing, or none
  for (const SavedTensor& part : parts)
    for (int64_t i = 0; i < part.slice->count; ++i)
      if (const auto row = static_cast<size_t>(part.slice->row(i)); row < has.size()) has[row] = true;
  const auto missing = std::ranges::find(has, false);
  return missing == has.end() ? std::nullopt : std::optional<int64_t>(missing - has.begin());
}

/// Copies the rows of a part, as read_shard() has checked them, into the whole variable.
void copy_rows(const SavedTensor& part, Tensor& whole) {
  const size_t row = part.slice->count == 0 ? 0 : part.value.bytes() / static_cast<size_t>(part.slice->count);
  for (int64_t i = 0; i < part.slice->count; ++i)
    std::memcpy(whole.mutable_data() + static_cast<size_t>(part.slice->row(i)) * row,
                part.value.data() + static_cast<size_t>(i) * row, row);
}

/// Returns the variable that parts make up. Fails with DataLoss unless they have all of its rows.
Result<Tensor> joined(const std::string& name, const SavedTensors& parts, const std::string& source) {
  const SavedTensor& first = parts.front();
  std::vector<int64_t> dims(first.value.shape().dims().begin(), first.value.shape().dims().end());
  dims[0] = first.slice->rows;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, first.value.dtype()));
  if (!is_plain(first.value.dtype()))
    return unimplemented(first.name + ": parts of this type cannot be joined");
  const auto is_alike = [&](const SavedTensor& part) {
    return part.slice->rows == dims[0] && part.value.dtype() == first.value.dtype() &&
           std::ranges::equal(part.value.shape().dims().subspan(1), shape.dims().subspan(1));
  };
  if (!std::ranges::all_of(parts, is_alike))
    return data_loss(source + ": the parts of " + name + " differ in shape");
  if (shape.elements() == 0) return Tensor::allocate(first.value.dtype(), shape);
  if (const auto row = missing_row(parts, dims[0]))
    return data_loss(source + ": " + name + " has " + std::to_string(dims[0]) +
                     " rows, but no part has row " + std::to_string(*row));
  TROUPE_ASSIGN(Tensor whole, Tensor::allocate(first.value.dtype(), shape));
  for (const SavedTensor& part : parts) copy_rows(part, whole);
  return whole;
}

Result<StoredValues> read_checkpoint(Disk& disk, const std::string& path) {
  const CheckpointFiles files(disk, folder_of(path));
  TROUPE_ASSIGN(const Manifest manifest, files.manifest(last_part(path)));
  StoredValues stored{path, manifest.round, {}};
  std::map<std::string, SavedTensors> in_parts;
  for (const ShardFile& file : manifest.files) {
    TROUPE_ASSIGN(auto tensors, read_shard(disk, path, file, [](const auto&) { return true; }));
    for (SavedTensor& tensor : tensors) {
      if (tensor.slice)
        in_parts[tensor.slice->of].push_back(std::move(tensor));
      else
        stored.values[tensor.name] = std::move(tensor.value);
    }
  }
  for (auto& [name, parts] : in_parts) {
    TROUPE_ASSIGN(stored.values[name], joined(name, parts, path));
    parts.clear();
  }
  return stored;
}

/// Returns the name of a variable in a checkpoint of TensorFlow. tf.train.Checkpoint adds an ending to it.
std::string variable_of(std::string name) {
  constexpr std::string_view ending = "/.ATTRIBUTES/VARIABLE_VALUE";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

/// Reads a checkpoint of TensorFlow without the entry in which tf.train.Checkpoint describes the objects of Python.
Result<StoredValues> read_bundle(Disk& disk, const std::string& prefix) {
  TROUPE_ASSIGN(const Bundle bundle, Bundle::open(disk, prefix));
  StoredValues stored{prefix, 0, {}};
  for (const auto& [name, entry] : bundle.entries()) {
    if (name == "_CHECKPOINTABLE_OBJECT_GRAPH") continue;
    TROUPE_ASSIGN(stored.values[variable_of(name)], bundle.read(name));
  }
  return stored;
}

/// Fills `into` from byte `offset` on. Fails with DataLoss if the file ends before.
Status read_all(ReadableFile& file, uint64_t offset, std::span<std::byte> into) {
  TROUPE_ASSIGN(const size_t count, file.read(offset, into));
  return count == into.size() ? Status() : data_loss("it ends while it is read");
}

Result<std::string> read_text(ReadableFile& file, uint64_t offset, uint64_t bytes) {
  std::string text(bytes, '\0');
  TROUPE_RETURN_IF_FAILED(read_all(file, offset, std::as_writable_bytes(std::span(text))));
  return text;
}

/// Reads the tensors of a file, one after the other.
Status read_safetensors(ReadableFile& file, std::map<std::string, Tensor>& values) {
  TROUPE_ASSIGN(const uint64_t bytes, file.size());
  TROUPE_ASSIGN(const std::string prefix, read_text(file, 0, std::min<uint64_t>(bytes, safetensors_prefix)));
  TROUPE_ASSIGN(const uint64_t length, safetensors_header_length(prefix, bytes));
  TROUPE_ASSIGN(const std::string header, read_text(file, safetensors_prefix, length));
  uint64_t at = safetensors_prefix + length;
  TROUPE_ASSIGN(const auto entries, read_safetensors_header(header, bytes - at));
  for (const TensorEntry& entry : entries) {
    TROUPE_ASSIGN(Tensor value, Tensor::allocate(entry.dtype, entry.shape));
    TROUPE_RETURN_IF_FAILED(read_all(file, at, {value.mutable_data(), value.bytes()}));
    at += entry.bytes();
    values[entry.name] = std::move(value);
  }
  return {};
}

Result<StoredValues> read_safetensors(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const auto file, disk.open(path));
  StoredValues stored{path, 0, {}};
  const Status status = read_safetensors(*file, stored.values);
  if (!status.ok()) return Status(status.code(), path + ": " + status.text());
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
  Manifest manifest{.round = stored.round};
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

constexpr std::string_view from_keras =
    "; safetensors.numpy.save_file({\"NAME\": variable.numpy(), ...}, \"FILE.safetensors\") writes a file "
    "with "
    "the names that the model here has";
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

bool is_remainder(Disk& disk, const std::string& path) {
  const auto entries = disk.list(path);
  return entries && !entries->empty() && std::ranges::all_of(*entries, [](const Disk::Entry& entry) {
           return entry.name.starts_with("shard-") && entry.name.ends_with(safetensors_ending);
         });
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
