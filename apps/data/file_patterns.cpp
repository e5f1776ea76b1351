#include "apps/data/file_patterns.h"

#include <algorithm>
#include <utility>

#include "apps/data/formats/class_folders.h"
#include "messages/env/glob.h"

namespace troupe::data {
namespace {

std::string_view name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Finds the files that patterns of one key of a run file match.
class Search {
 public:
  enum class Kind : uint8_t { Files, Folders, Any };
  Search(Disk& disk, Kind kind, const char* key) : disk_(disk), kind_(kind), key_(key) {}

  Status replace(std::vector<std::string>& paths) const {
    std::vector<std::string> found;
    for (const std::string& path : paths) TROUPE_RETURN_IF_FAILED(add(path, found));
    paths = std::move(found);
    return {};
  }

 private:
  Status add(const std::string& path, std::vector<std::string>& found) const {
    if (!is_pattern(path) || disk_.info(path).ok()) {
      found.push_back(path);
      return {};
    }
    const size_t before = found.size();
    TROUPE_ASSIGN(const auto matching, matching_paths(disk_, path));
    for (const std::string& one : matching) {
      const bool is_hidden = name_of(one).starts_with('.') && !name_of(path).starts_with('.');
      const auto info = disk_.info(one);
      if (info && is_wanted(info->is_folder) && !is_hidden) found.push_back(one);
    }
    return found.size() == before ? nothing(path) : Status();
  }

  bool is_wanted(bool is_folder) const { return kind_ == Kind::Any || (kind_ == Kind::Folders) == is_folder; }

  Status nothing(const std::string& path) const {
    const std::string folder = folder_of_pattern(path), what = kind_ == Kind::Folders ? "folder" : "file";
    const std::string pattern = path.substr(folder == "." ? 0 : folder.size() + (folder == "/" ? 0 : 1));
    const bool exists = disk_.info(folder).ok();
    return not_found(std::string(key_) + ": no " + what + " matches '" + pattern + "' in the folder " +
                     folder + (exists ? "" : ", which does not exist"));
  }

  Disk& disk_;
  Kind kind_;
  const char* key_;
};

Status check_labels(const char* key, size_t labels, size_t files) {
  if (labels == 0 || labels == files) return {};
  return data_loss(std::string(key) + ": " + std::to_string(labels) + " label files match for " +
                   std::to_string(files) + " files");
}

}  // namespace

bool is_pattern(std::string_view path) { return path.find_first_of("*?[") != std::string_view::npos; }

bool has_pattern(const std::vector<std::string>& paths) { return std::ranges::any_of(paths, is_pattern); }

std::string folder_of_pattern(std::string_view pattern) {
  return folder_of(pattern.substr(0, std::min(pattern.find_first_of("*?["), pattern.size() - 1) + 1));
}

Result<Options> with_matching_files(Disk& disk, Options options) {
  const auto format = find_format(options.format);
  const auto kind = !file_kind(options.format)                 ? Search::Kind::Files
                    : format->labelled(options.format_options) ? Search::Kind::Folders
                                                               : Search::Kind::Any;
  for (const auto& [key, paths] :
       {std::pair("data.train", &options.train), std::pair("data.train_labels", &options.train_labels),
        std::pair("data.valid.files", &options.valid), std::pair("data.valid.labels", &options.valid_labels)})
    TROUPE_RETURN_IF_FAILED(Search(disk, kind, key).replace(*paths));
  TROUPE_RETURN_IF_FAILED(
      check_labels("data.train_labels", options.train_labels.size(), options.train.size()));
  TROUPE_RETURN_IF_FAILED(
      check_labels("data.valid.labels", options.valid_labels.size(), options.valid.size()));
  return options;
}

}  // namespace troupe::data
