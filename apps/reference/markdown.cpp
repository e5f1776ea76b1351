#include "apps/reference/markdown.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "apps/config/cluster_file.h"
#include "apps/config/layer_calls.h"
#include "apps/config/layer_notes.h"
#include "apps/config/run_config.h"

namespace troupe::reference {
namespace {

std::string escaped_for(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    if (c == '\t')
      result += "\\t";
    else
      result += c == '\n' ? ' ' : c;
  }
  return result;
}

/// Returns the rows of a table of keys, whose names begin behind `prefix`.
std::string rows_of(std::span<const config::Key> keys, size_t prefix) {
  std::string rows;
  for (const config::Key& key : keys) {
    // "PATH: what it is; default ...\n    meaning\n"
    const std::string text = config::reference({&key, 1});
    const size_t end = text.find('\n'), begin = key.path.size() + 2;
    rows += fmt::format("| `{}` | {} | {} |\n", key.path.substr(prefix),
                        in_cell(text.substr(begin, end - begin)), in_cell(key.meaning));
  }
  return rows;
}

constexpr const char* table_head = "| key | value | meaning |\n|---|---|---|\n";

}  // namespace

std::string in_text(std::string_view text) { return escaped_for(text, "*_`<>[]\\"); }
std::string in_cell(std::string_view text) { return escaped_for(text, "*_`<>[]\\|"); }

std::string keys_markdown() {
  std::string text =
      "# Keys of run files\n\nMade by `ninja reference` from the tables that check the files; `troupe help "
      "keys` says the same. "
      "`*` stands for any name. The options of layers are in `layers.md`. `run.schema.json` has the same "
      "keys for editors.\n";
  const std::vector<config::Key> schema = config::run_schema();
  std::string section;
  for (const config::Key& key : schema) {
    if (key.path.starts_with("model.layers.") && key.path.find('.', 13) != std::string_view::npos) continue;
    const std::string first(key.path.substr(0, key.path.find('.')));
    if (first != section) text += fmt::format("\n## {}\n\n{}", first, table_head);
    section = first;
    text += rows_of({&key, 1}, 0);
  }
  text += "\n# Keys of cluster files\n\n" + std::string(table_head) + rows_of(config::cluster_schema(), 0);
  return text;
}

std::string layers_markdown() {
  std::string text =
      "# Layers\n\nMade by `ninja reference` from the table of layers; `troupe help layers NAME` says the "
      "same. A layer is called in an "
      "expression, `nn.dense(x, units=10)`, or stands in `model.layers`, `{ type = \"dense\", units = 10 "
      "}`. Images are `[batch, height, width, channels]`, sequences `[batch, time, features]`; `activation` "
      "is `linear`, `gelu`, `gelu_tanh`, `swish`, `mish`, `hard_sigmoid`, `hard_swish`, or an op of one "
      "input, such as `relu`, `tanh`, `sigmoid`, `elu`, `selu` or `softmax`.\n";
  const std::vector<config::Key> keys = config::layer_keys();
  std::string names = config::layer_names();
  while (!names.empty()) {
    const std::string name = names.substr(0, names.find('|'));
    names.erase(0, name.size() + 1);
    const std::string prefix = "model.layers." + name + '.';
    std::vector<config::Key> own;
    for (const config::Key& key : keys)
      if (key.path.starts_with(prefix)) own.push_back(key);
    const config::LayerNote note = config::layer_note(name);
    text += fmt::format("\n## {0}\n\n`nn.{0}({1})`: {2}\n", name, note.inputs, note.meaning);
    if (!own.empty()) text += '\n' + (table_head + rows_of(own, prefix.size()));
  }
  return text;
}

}  // namespace troupe::reference
