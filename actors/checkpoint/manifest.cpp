#include "actors/checkpoint/manifest.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "actors/checkpoint/flat_json.h"
#include "messages/values/crc32c.h"
#include "messages/values/json_text.h"

namespace troupe {
namespace {

constexpr std::string_view before_body = "{\"checkpoint\": ", after_body = ", \"crc32c\": \"",
                           end_of_text = "\"}\n";

std::string hexadecimal(uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", value);
  return text;
}

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
  if (!file.folder.empty()) json["folder"] = file.folder;
  return json;
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
  if (json.contains("folder")) {
    TROUPE_ASSIGN(file.folder, text_member(json, "folder"));
  }
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

}  // namespace

Status check_note(const std::string& note) {
  if (strict_json_line(note).ok()) return {};
  return invalid_argument("the note of a checkpoint must be UTF-8, which the given bytes are not");
}

Result<std::string> manifest_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const ShardFile& file : manifest.files) files.push_back(json_of(file));
  const int format = std::ranges::all_of(manifest.files, &std::string::empty, &ShardFile::folder) ? 1 : 2;
  TROUPE_ASSIGN(const std::string body, strict_json_line({{"format", format},
                                                          {"round", manifest.round},
                                                          {"note", manifest.note},
                                                          {"pinned", manifest.pinned},
                                                          {"files", std::move(files)}}));
  std::string text(before_body);
  text.append(body).append(after_body).append(hexadecimal(crc32c(body))).append(end_of_text);
  if (text.size() > largest_manifest)
    return resource_exhausted("the manifest would have " + std::to_string(text.size()) +
                              " bytes, more than the allowed " + std::to_string(largest_manifest) +
                              ": the checkpoint has too many tensors");
  return text;
}

Result<Manifest> read_manifest(std::string_view text) {
  TROUPE_ASSIGN(const auto body, body_of(text));
  TROUPE_ASSIGN(const Json json, parse_flat_json(body));
  Manifest manifest;
  TROUPE_ASSIGN(const uint64_t format, unsigned_member(json, "format"));
  if (format != 1 && format != 2)
    return data_loss("its format is " + std::to_string(format) + ", and this program knows 1 and 2");
  TROUPE_ASSIGN(manifest.round, unsigned_member(json, "round"));
  TROUPE_ASSIGN(manifest.note, text_member(json, "note"));
  const Json pinned = json.value("pinned", Json(false));
  if (!pinned.is_boolean()) return data_loss("'pinned' is neither true nor false");
  manifest.pinned = pinned.get<bool>();
  std::set<std::string> names;
  for (const Json& entry : json.value("files", Json::array())) {
    TROUPE_ASSIGN(ShardFile file, read_file_entry(entry));
    for (const auto& saved : file.tensors)
      if (!names.insert(saved.name).second) return data_loss(saved.name + " is in two files");
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

}  // namespace troupe
