#include "apps/config/mistake_places.h"

#include <algorithm>
#include <optional>

#include "apps/config/reader.h"
#include "apps/data/formats/class_folders.h"

namespace troupe::config {
namespace {

/// Finds the longest path inside a value that occurs in a text. Checked documents have absolute paths.
void find_mentioned(const Value& value, std::string_view text, const Value*& longest) {
  if (const auto* const string = value.get_if<std::string>()) {
    const size_t least = longest ? std::get<std::string>(longest->data).size() + 1 : 2;
    if (string->starts_with('/') && string->size() >= least && text.find(*string) != std::string_view::npos)
      longest = &value;
  } else if (const auto* const list = value.get_if<List>()) {
    for (const Value& element : *list) find_mentioned(element, text, longest);
  } else if (const auto* const table = value.get_if<Table>()) {
    for (const Entry& entry : *table) find_mentioned(entry.value, text, longest);
  }
}

/// A key of a run file that a text names.
struct NamedKey {
  std::string path;
  SourceLocation place;
};

/// Returns the key of a table that a path such as "data.columns.sizes" names, or the last one on the way to it that exists; nothing
/// if the path ends with the table itself.
std::optional<NamedKey> key_at(const Table& root, std::string_view path) {
  std::optional<NamedKey> found;
  const Table* table = &root;
  for (size_t begin = 0; table && begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const auto entry = std::ranges::find_if(*table, [&](const Entry& one) { return one.key == part; });
    if (entry == table->end()) break;
    if (begin > 0) found = NamedKey{std::string(path.substr(0, end)), entry->place};
    table = entry->value.get_if<Table>();
    begin = end + 1;
  }
  return found;
}

/// Returns the first key of [data] that a text names and that stands in the run file.
std::optional<NamedKey> first_named_key(const RunConfig& config, std::string_view text) {
  constexpr std::string_view section = "data.";
  constexpr std::string_view of_keys = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  for (size_t at = text.find(section); at != std::string_view::npos; at = text.find(section, at + 1)) {
    const bool begins = at == 0 || std::string_view(" (;\"'[").find(text[at - 1]) != std::string_view::npos;
    const std::string_view path = text.substr(at, text.find_first_not_of(of_keys, at) - at);
    auto found = begins ? key_at(config.document->root(), path) : std::nullopt;
    if (found && found->place != SourceLocation()) return found;  // otherwise it has its default
  }
  return {};
}

Status with_text(const Status& failure, const std::string& more) {
  return Status(failure.code(), failure.text() + more)
      .at_node(failure.op(), failure.node())
      .at_device(failure.device())
      .at_step(failure.step());
}

/// Returns whether the node that has failed is part of a definition or a layer.
bool belongs_to(const Status& failure, const std::string& name) {
  return ('/' + failure.node() + '/').find('/' + name + '/') != std::string::npos;
}

std::string place_of(const RunConfig& config, SourceLocation place) {
  return Diagnostics(*config.document).where(place);
}

}  // namespace

Status with_file_place(Disk& disk, const RunConfig& config, const Status& failure) {
  const Value* const data = find(config.document->root(), "data");
  const Value* named = nullptr;
  for (const char* const key : {"train", "train_labels", "valid", "test", "ragged"})
    if (const Value* const files = data ? find(*data->get_if<Table>(), key) : nullptr)
      find_mentioned(*files, failure.text(), named);
  if (const auto key = first_named_key(config, failure.text()))
    return with_text(failure, "; " + key->path + " at " + place_of(config, key->place));
  if (!named) return failure;
  const std::string& path = std::get<std::string>(named->data);
  std::string more;
  if (const auto info = disk.info(path); !info)
    more = failure.code() != Code::NotFound       ? ""
           : path.find("/~") != std::string::npos ? "; '~' stands for no folder here: write the whole path"
                                                  : nearest_beside(disk, path);
  else if (info->is_folder && !data::file_kind(config.data.format))
    more = "; the files of a folder are named by a pattern, '" + path + "/*'";
  return with_text(failure, more + "; named at " + place_of(config, named->place));
}

Status with_definition(const RunConfig& config, const std::vector<Definition>& definitions,
                       const Status& failure) {
  const auto found =
      std::ranges::find_if(definitions, [&](const Definition& one) { return belongs_to(failure, one.name); });
  if (found == definitions.end()) return failure;
  return with_text(failure, "; in '" + found->name + "' at " + place_of(config, found->expression.place));
}

Status with_definition(const RunConfig& config, const Status& failure) {
  const auto& layers = config.model.layers;
  const auto found =
      std::ranges::find_if(layers, [&](const Layer& layer) { return belongs_to(failure, layer.name); });
  const bool is_of_graph = std::ranges::any_of(
      config.model.graph, [&](const Definition& one) { return belongs_to(failure, one.name); });
  if (is_of_graph || found == layers.end()) return with_definition(config, config.model.graph, failure);
  return with_text(failure, "; in layer '" + found->name + "' at " + place_of(config, found->place));
}

}  // namespace troupe::config
