#include "actors/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "actors/checkpoint/flat_json.h"
#include "messages/values/crc32c.h"
#include "messages/values/json_text.h"

namespace troupe {
namespace {

constexpr uint64_t largest_manifest = uint64_t{64} << 20;
constexpr const char* manifest_name = "manifest.json";
constexpr std::string_view middle_of_name = "-round-";
constexpr std::string_view before_body = "{\"checkpoint\": ", after_body = ", \"crc32c\": \"",
                           end_of_text = "\"}\n";

std::string hexadecimal(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

std::string name_of(uint64_t number, uint64_t round) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits + std::string(middle_of_name) +
         std::to_string(round);
}

/// Returns the number at the beginning of a checkpoint's name; 0 if this is not the name of a checkpoint.
uint64_t number_of(const std::string& name) {
  uint64_t number = 0, round = 0;
  const char* const end = name.data() + name.size();
  const auto [middle, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc{} || !std::string_view(middle, end).starts_with(middle_of_name)) return 0;
  const auto [rest, round_error] = std::from_chars(middle + middle_of_name.size(), end, round);
  return round_error == std::errc{} && rest == end ? number : 0;
}

// ---- Manifests

Json json_of(const RowSlice& slice) {
  return {{"of", slice.of},
          {"rows", slice.rows},
          {"first", slice.first},
          {"stride", slice.stride},
          {"count", slice.count}};
}

Json json_of(const ShardFile& file) {
  Json versions = Json::object(), slices = Json::object();
  for (const auto& saved : file.tensors) {
    versions[saved.name] = saved.version;
    if (saved.slice) slices[saved.name] = json_of(*saved.slice);
  }
  Json json = {{"name", file.name},
               {"bytes", file.bytes},
               {"crc32c", hexadecimal(file.checksum)},
               {"versions", std::move(versions)}};
  if (!slices.empty()) json["slices"] = std::move(slices);
  return json;
}

Result<std::string> manifest_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const ShardFile& file : manifest.files) files.push_back(json_of(file));
  TROUPE_ASSIGN(
      const std::string body,
      strict_json_line(
          {{"format", 1}, {"round", manifest.round}, {"note", manifest.note}, {"files", std::move(files)}}));
  std::string text(before_body);
  text.append(body).append(after_body).append(hexadecimal(crc32c(body))).append(end_of_text);
  if (text.size() > largest_manifest)
    return resource_exhausted("the manifest would have " + std::to_string(text.size()) +
                              " bytes, more than the allowed " + std::to_string(largest_manifest) +
                              ": the checkpoint has too many tensors");
  return text;
}

Result<int64_t> number_member(const Json& json, const char* name) {
  TROUPE_ASSIGN(const uint64_t number, unsigned_member(json, name));
  if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    return data_loss(std::string("'") + name + "' is too large");
  return static_cast<int64_t>(number);
}

Result<RowSlice> read_slice(const Json& json) {
  RowSlice slice;
  TROUPE_ASSIGN(slice.of, text_member(json, "of"));
  TROUPE_ASSIGN(slice.rows, number_member(json, "rows"));
  TROUPE_ASSIGN(slice.first, number_member(json, "first"));
  TROUPE_ASSIGN(slice.stride, number_member(json, "stride"));
  TROUPE_ASSIGN(slice.count, number_member(json, "count"));
  if (!slice.is_valid()) return data_loss("'" + slice.of + "' does not have the rows of one of its parts");
  return slice;
}

Result<ShardFile> read_file_entry(const Json& json) {
  ShardFile file;
  TROUPE_ASSIGN(file.name, text_member(json, "name"));
  TROUPE_ASSIGN(file.bytes, unsigned_member(json, "bytes"));
  TROUPE_ASSIGN(const std::string checksum, text_member(json, "crc32c"));
  const char* const end = checksum.data() + checksum.size();
  if (checksum.size() != 8 || std::from_chars(checksum.data(), end, file.checksum, 16).ptr != end)
    return data_loss("'crc32c' is not a checksum of 8 hexadecimal digits");
  const Json versions = json.value("versions", Json()), slices = json.value("slices", Json::object());
  if (!versions.is_object()) return data_loss("'versions' is missing or not an object");
  if (!slices.is_object()) return data_loss("'slices' is not an object");
  for (const auto& [name, version] : versions.items()) {
    if (!version.is_number_unsigned()) return data_loss("the version of " + name + " is not a whole number");
    file.tensors.push_back({name, version.get<uint64_t>()});
    if (!slices.contains(name)) continue;
    TROUPE_ASSIGN(file.tensors.back().slice, read_slice(slices[name]));
  }
  return file;
}

/// Returns the text between the fixed parts of a manifest, after comparing its checksum.
Result<std::string_view> body_of(std::string_view text) {
  const size_t tail = after_body.size() + 8 + end_of_text.size();
  if (text.size() < before_body.size() + tail || !text.starts_with(before_body) ||
      !text.ends_with(end_of_text))
    return data_loss("it is truncated or altered");
  const auto body = text.substr(before_body.size(), text.size() - before_body.size() - tail);
  const auto rest = text.substr(text.size() - tail);
  if (!rest.starts_with(after_body) || rest.substr(after_body.size(), 8) != hexadecimal(crc32c(body)))
    return data_loss("it does not match its checksum");
  return body;
}

Result<Manifest> read_manifest(std::string_view text) {
  TROUPE_ASSIGN(const auto body, body_of(text));
  TROUPE_ASSIGN(const Json json, parse_flat_json(body));
  Manifest manifest;
  TROUPE_ASSIGN(const uint64_t format, unsigned_member(json, "format"));
  if (format != 1) return data_loss("its format is " + std::to_string(format) + ", not 1");
  TROUPE_ASSIGN(manifest.round, unsigned_member(json, "round"));
  TROUPE_ASSIGN(manifest.note, text_member(json, "note"));
  std::set<std::string> names;
  for (const Json& entry : json.value("files", Json::array())) {
    TROUPE_ASSIGN(ShardFile file, read_file_entry(entry));
    for (const auto& saved : file.tensors)
      if (!names.insert(saved.name).second) return data_loss(saved.name + " is in two files");
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

Result<std::string> read_manifest_text(Disk& disk, const std::string& path) {
  TROUPE_ASSIGN(const auto info, disk.info(path));
  if (info.bytes > largest_manifest)
    return data_loss("it has " + std::to_string(info.bytes) + " bytes, more than a manifest may have, " +
                     std::to_string(largest_manifest));
  return read_file(disk, path, largest_manifest);
}

}  // namespace

// ---- Saving

Result<std::string> CheckpointFiles::begin(uint64_t round) const {
  TROUPE_RETURN_IF_FAILED(make_folders(disk_, folder_));
  TROUPE_ASSIGN(const auto all, folders());
  const std::string name = name_of(all.empty() ? 1 : number_of(all.back()) + 1, round);
  TROUPE_RETURN_IF_FAILED(disk_.make_folder(path(name)));
  return name;
}

Status CheckpointFiles::commit(const std::string& name, const Manifest& manifest) const {
  TROUPE_ASSIGN(const std::string text, manifest_text(manifest));
  TROUPE_ASSIGN(auto file, NewFile::create(disk_, path(name) + '/' + manifest_name));
  TROUPE_RETURN_IF_FAILED(disk_.sync_folder(folder_));
  TROUPE_RETURN_IF_FAILED(file.write(text));
  return file.commit();
}

Status CheckpointFiles::remove_old(size_t keep) const {
  TROUPE_ASSIGN(const auto all, folders());
  size_t kept = 0;
  for (auto name = all.rbegin(); name != all.rend(); ++name) {
    TROUPE_ASSIGN(const bool committed, has_manifest(*name));
    if (committed && kept < std::max<size_t>(keep, 1))
      ++kept;
    else
      TROUPE_RETURN_IF_FAILED(remove(*name));
  }
  return {};
}

// Removes the manifest first, so that after a crash the rest of the folder is not taken for a checkpoint.
Status CheckpointFiles::remove(const std::string& name) const {
  const std::string folder = path(name);
  TROUPE_ASSIGN(const auto files, disk_.list(folder));
  if (std::ranges::find(files, manifest_name, &Disk::Entry::name) != files.end()) {
    TROUPE_RETURN_IF_FAILED(disk_.remove(folder + '/' + manifest_name));
    TROUPE_RETURN_IF_FAILED(disk_.sync_folder(folder));
  }
  for (const auto& file : files)
    if (file.name != manifest_name) TROUPE_RETURN_IF_FAILED(disk_.remove(folder + '/' + file.name));
  return disk_.remove(folder);
}

// ---- Reading

Result<std::vector<std::string>> CheckpointFiles::folders() const {
  const auto entries = disk_.list(folder_);
  if (entries.status().code() == Code::NotFound) return std::vector<std::string>{};
  if (!entries) return entries.status();
  std::vector<std::string> result;
  for (const auto& entry : *entries)
    if (entry.is_folder && number_of(entry.name) != 0) result.push_back(entry.name);
  std::ranges::sort(result, {}, [](const std::string& name) { return std::pair(number_of(name), name); });
  return result;
}

Result<bool> CheckpointFiles::has_manifest(const std::string& name) const {
  const Status found = disk_.info(path(name) + '/' + manifest_name).status();
  if (!found.ok() && found.code() != Code::NotFound) return found;
  return found.ok();
}

Result<std::vector<std::string>> CheckpointFiles::names() const {
  TROUPE_ASSIGN(const auto all, folders());
  std::vector<std::string> result;
  for (const auto& name : all) {
    TROUPE_ASSIGN(const bool committed, has_manifest(name));
    if (committed) result.push_back(name);
  }
  return result;
}

Result<Manifest> CheckpointFiles::manifest(const std::string& name) const {
  const std::string file = path(name) + '/' + manifest_name;
  if (number_of(name) == 0) return not_found("no checkpoint has the name '" + name + "'");
  const auto text = read_manifest_text(disk_, file);
  if (text.status().code() == Code::NotFound) return not_found("there is no checkpoint " + path(name));
  if (!text) return as_damage(file, text.status());
  auto manifest = read_manifest(*text);
  if (!manifest) return as_damage(file, manifest.status());
  return manifest;
}

}  // namespace troupe
