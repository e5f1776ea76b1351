#include "actors/checkpoint_files.h"

#include <algorithm>

#include <boost/crc.hpp>
#include <nlohmann/json.hpp>

#include "actors/safetensors.h"

namespace troupe {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t largest_manifest = uint64_t{64} << 20;
constexpr uint64_t largest_shard = uint64_t{1} << 40;
constexpr const char* manifest_name = "manifest.json";
constexpr const char* shard_name = "shard-00000-of-00001.safetensors";

using Crc32c = boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true>;

uint32_t crc32c(std::string_view bytes) {
  Crc32c crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string hexadecimal(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

std::string name_of(uint64_t round) {
  const std::string digits = std::to_string(round);
  return std::string(digits.size() < 12 ? 12 - digits.size() : 0, '0') + digits;
}

/// A file of a checkpoint as the manifest describes it.
struct ShardFile {
  uint64_t bytes = 0;
  uint32_t checksum = 0;
};

Result<ShardFile> write_shard(Disk& disk, const std::string& path, const Checkpoint& checkpoint) {
  std::vector<NamedTensor> tensors;
  for (const auto& saved : checkpoint.tensors) tensors.emplace_back(saved.name, saved.value);
  TROUPE_ASSIGN(const std::string header, safetensors_header(tensors));
  TROUPE_ASSIGN(auto file, NewFile::create(disk, path));
  Crc32c crc;
  ShardFile shard;
  const auto write = [&](std::span<const std::byte> bytes) {
    crc.process_bytes(bytes.data(), bytes.size());
    shard.bytes += bytes.size();
    return file.write(bytes);
  };
  TROUPE_RETURN_IF_FAILED(write(std::as_bytes(std::span(header))));
  for (const auto& [name, tensor] : tensors)
    TROUPE_RETURN_IF_FAILED(write({reinterpret_cast<const std::byte*>(tensor.data()), tensor.bytes()}));
  TROUPE_RETURN_IF_FAILED(file.commit());
  shard.checksum = crc.checksum();
  return shard;
}

std::string manifest_text(const Checkpoint& checkpoint, const ShardFile& shard) {
  Json versions = Json::object();
  for (const auto& saved : checkpoint.tensors) versions[saved.name] = saved.version;
  const Json body = {
      {"format", 1},
      {"round", checkpoint.round},
      {"note", checkpoint.note},
      {"files", {{{"name", shard_name}, {"bytes", shard.bytes}, {"crc32c", hexadecimal(shard.checksum)}}}},
      {"versions", std::move(versions)}};
  const std::string text = body.dump(-1, ' ', true);
  return "{\"checkpoint\": " + text + ", \"crc32c\": \"" + hexadecimal(crc32c(text)) + "\"}\n";
}

/// The checked body of a manifest. Its checksum covers the text between the fixed parts around it, byte for byte.
Result<Json> read_manifest(const std::string& text) {
  const std::string_view begin = "{\"checkpoint\": ", middle = ", \"crc32c\": \"", end = "\"}\n";
  const size_t tail = middle.size() + 8 + end.size();
  const std::string_view all = text;
  if (all.size() < begin.size() + tail || !all.starts_with(begin) || !all.ends_with(end))
    return data_loss("the manifest is cut short or altered");
  const auto body = all.substr(begin.size(), all.size() - begin.size() - tail);
  const auto rest = all.substr(all.size() - tail);
  if (!rest.starts_with(middle) || rest.substr(middle.size(), 8) != hexadecimal(crc32c(body)))
    return data_loss("the manifest does not match its checksum");
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return data_loss("the manifest is no JSON object");
  return json;
}

Result<std::vector<NamedTensor>> read_shard(Disk& disk, const std::string& folder, const Json& manifest) {
  const Json& file = manifest.at("files").at(0);
  const std::string path = folder + '/' + shard_name;
  auto content = read_file(disk, path, largest_shard);
  if (!content) return data_loss(path + ": " + content.status().text());
  if (content->size() != file.at("bytes").get<uint64_t>())
    return data_loss(path + " has " + std::to_string(content->size()) + " bytes, not those of the manifest");
  if (hexadecimal(crc32c(*content)) != file.at("crc32c").get<std::string>())
    return data_loss(path + " does not match its checksum");
  return read_safetensors(*content);
}

}  // namespace

Status CheckpointFiles::save(const Checkpoint& checkpoint) const {
  const std::string folder = path(name_of(checkpoint.round));
  TROUPE_RETURN_IF_FAILED(make_folders(disk_, folder));
  TROUPE_ASSIGN(const ShardFile shard, write_shard(disk_, folder + '/' + shard_name, checkpoint));
  TROUPE_ASSIGN(auto manifest, NewFile::create(disk_, folder + '/' + manifest_name));
  TROUPE_RETURN_IF_FAILED(manifest.write(manifest_text(checkpoint, shard)));
  TROUPE_RETURN_IF_FAILED(manifest.commit());
  TROUPE_RETURN_IF_FAILED(disk_.sync_folder(folder_));
  return remove_oldest();
}

Result<std::vector<std::string>> CheckpointFiles::names() const {
  TROUPE_ASSIGN(const auto entries, disk_.list(folder_));
  std::vector<std::string> result;
  for (const auto& entry : entries)
    if (entry.is_folder && entry.name.find_first_not_of("0123456789") == std::string::npos)
      result.push_back(entry.name);
  return result;
}

Result<Checkpoint> CheckpointFiles::load(const std::string& name) const {
  auto text = read_file(disk_, path(name) + '/' + manifest_name, largest_manifest);
  if (!text) return data_loss(path(name) + " has no manifest: " + text.status().text());
  TROUPE_ASSIGN(const Json manifest, read_manifest(*text));
  try {
    Checkpoint checkpoint;
    checkpoint.round = manifest.at("round").get<uint64_t>();
    checkpoint.note = manifest.at("note").get<std::string>();
    TROUPE_ASSIGN(auto tensors, read_shard(disk_, path(name), manifest));
    for (auto& [tensor_name, tensor] : tensors)
      checkpoint.tensors.push_back(
          {tensor_name, std::move(tensor), manifest.at("versions").at(tensor_name).get<uint64_t>()});
    return checkpoint;
  } catch (const Json::exception& exception) {
    return data_loss(path(name) + "/" + manifest_name + ": " + exception.what());
  }
}

Result<Checkpoint> CheckpointFiles::load_newest(std::vector<std::string>& skipped) const {
  auto all = names();
  if (!all || all->empty()) return not_found("there is no checkpoint in " + folder_);
  for (auto name = all->rbegin(); name != all->rend(); ++name) {
    auto checkpoint = load(*name);
    if (checkpoint) return checkpoint;
    skipped.push_back(checkpoint.status().text());
  }
  return data_loss("every checkpoint in " + folder_ + " is damaged; the newest: " + skipped.front());
}

Status CheckpointFiles::remove_oldest() const {
  TROUPE_ASSIGN(const auto all, names());
  for (size_t i = 0; i + keep_ < all.size(); ++i) TROUPE_RETURN_IF_FAILED(remove(all[i]));
  return {};
}

// The manifest goes first: what remains after a crash is no checkpoint.
Status CheckpointFiles::remove(const std::string& name) const {
  TROUPE_ASSIGN(const auto files, disk_.list(path(name)));
  const auto remove_file = [&](const std::string& file) { return disk_.remove(path(name) + '/' + file); };
  for (const auto& file : files)
    if (file.name == manifest_name) TROUPE_RETURN_IF_FAILED(remove_file(file.name));
  for (const auto& file : files)
    if (file.name != manifest_name) TROUPE_RETURN_IF_FAILED(remove_file(file.name));
  return disk_.remove(path(name));
}

}  // namespace troupe
