#include "actors/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace troupe {
namespace {

constexpr std::string_view middle_of_name = "-round-";

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

std::optional<CheckpointFiles::Base> CheckpointFiles::base() const {
  const auto all = names();
  if (!all || all->empty()) return {};
  auto newest = manifest(all->back());
  if (!newest) return {};
  const auto is_there = [&](const ShardFile& file) {
    const auto info = disk_.info(file.path(path(all->back())));
    return info.ok() && info->bytes == file.bytes;
  };
  if (!std::ranges::all_of(newest->files, is_there)) return {};
  return Base{all->back(), std::move(*newest)};
}

// The files of older checkpoints that a damaged manifest lists are not kept for it, because it cannot be restored. It pins nothing.
Status CheckpointFiles::remove_old(size_t keep) const {
  TROUPE_ASSIGN(const auto all, folders());
  size_t kept = 0;
  std::set<std::string> used;
  for (auto name = all.rbegin(); name != all.rend(); ++name) {
    TROUPE_ASSIGN(const bool committed, has_manifest(*name));
    if (!committed) {
      TROUPE_RETURN_IF_FAILED(remove(*name, used));
      continue;
    }
    const auto listed = manifest(*name);
    if (!listed && listed.status().code() != Code::DataLoss) return listed.status();
    const bool is_new = kept++ < std::max<size_t>(keep, 1), is_pinned = listed && listed->pinned;
    if (!is_new && !is_pinned) TROUPE_RETURN_IF_FAILED(remove(*name, used));
    if (!listed || (!is_new && !is_pinned)) continue;
    for (const ShardFile& file : listed->files) used.insert(file.path(path(*name)));
  }
  return {};
}

Status CheckpointFiles::remove(const std::string& name) const { return remove(name, {}); }

// Removes the manifest first, so that after a crash the rest of the folder is not taken for a checkpoint.
Status CheckpointFiles::remove(const std::string& name, const std::set<std::string>& used) const {
  const std::string folder = path(name);
  TROUPE_ASSIGN(const auto files, disk_.list(folder));
  if (std::ranges::find(files, manifest_name, &Disk::Entry::name) != files.end()) {
    TROUPE_RETURN_IF_FAILED(disk_.remove(folder + '/' + manifest_name));
    TROUPE_RETURN_IF_FAILED(disk_.sync_folder(folder));
  }
  bool is_empty = true;
  for (const auto& file : files) {
    const std::string path = folder + '/' + file.name;
    if (used.contains(path))
      is_empty = false;
    else if (file.name != manifest_name)
      TROUPE_RETURN_IF_FAILED(disk_.remove(path));
  }
  return is_empty ? disk_.remove(folder) : Status{};
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
