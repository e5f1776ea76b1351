#include "apps/config/mistake_places.h"

#include "apps/config/reader.h"

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

Status with_text(const Status& failure, const std::string& more) {
  return Status(failure.code(), failure.text() + more)
      .at_node(failure.op(), failure.node())
      .at_device(failure.device())
      .at_step(failure.step());
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
  if (!named) return failure;
  const std::string& path = std::get<std::string>(named->data);
  std::string more;
  if (const auto info = disk.info(path); !info)
    more = failure.code() == Code::NotFound ? nearest_beside(disk, path) : "";
  else if (info->is_folder && config.data.format != "images")
    more = "; the files of a folder are named by a pattern, '" + path + "/*'";
  return with_text(failure, more + "; named at " + place_of(config, named->place));
}

Status with_definition(const RunConfig& config, const Status& failure) {
  if (failure.node().empty()) return failure;
  const std::string node = '/' + failure.node() + '/';
  const auto belongs = [&](const auto& one) { return node.find('/' + one.name + '/') != std::string::npos; };
  const auto& graph = config.model.graph;
  if (const auto found = std::ranges::find_if(graph, belongs); found != graph.end())
    return with_text(failure, "; in '" + found->name + "' at " + place_of(config, found->expression.place));
  const auto& layers = config.model.layers;
  if (const auto found = std::ranges::find_if(layers, belongs); found != layers.end())
    return with_text(failure, "; in layer '" + found->name + "' at " + place_of(config, found->place));
  return failure;
}

}  // namespace troupe::config
