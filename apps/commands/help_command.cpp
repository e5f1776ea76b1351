// The subcommand help: what the program, the keys of run files, the ops and the layers are, out of the tables that define them.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "apps/commands/all_commands.h"
#include "apps/commands/command_support.h"
#include "apps/config/cluster_file.h"
#include "apps/config/diagnostics.h"
#include "apps/config/foreign_names.h"
#include "apps/config/layer_calls.h"
#include "apps/config/layer_notes.h"
#include "apps/config/run_config.h"
#include "apps/reference/command_table.h"
#include "apps/reference/json_schema.h"
#include "apps/reference/markdown.h"
#include "kernels/core/kernel.h"
#include "kernels/face/ops_document.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {
namespace {

struct HelpArguments {
  std::string topic, name;
};

constexpr std::string_view layer_path = "model.layers.";

/// Returns whether a key is the one of this path, or inside it. A part "*" of the key's path stands for any name.
bool is_within(std::string_view key, std::string_view path) {
  while (!path.empty()) {
    const std::string_view wanted = path.substr(0, path.find('.')), part = key.substr(0, key.find('.'));
    if (part != wanted && part != "*") return false;
    path.remove_prefix(std::min(wanted.size() + 1, path.size()));
    key.remove_prefix(std::min(part.size() + 1, key.size()));
    if (key.empty() && !path.empty()) return false;
  }
  return true;
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// Returns what to write instead of a name: what is known of the habits of users, or else the nearest name.
std::string advice_or_hint(const std::string& advice, const std::string& name,
                           const std::vector<std::string_view>& known) {
  return advice.empty() ? config::hint(name, known) : advice;
}

/// Returns the reference of the keys at a path and inside it.
Result<std::string> describe_keys(const std::string& path) {
  const auto schema = config::run_schema();
  std::vector<config::Key> keys;
  std::vector<std::string_view> names;
  for (const config::Key& key : schema) {
    names.push_back(key.path);
    if (is_within(key.path, path)) keys.push_back(key);
  }
  if (keys.empty())
    return invalid_argument("run files have no key '" + path + "'" +
                            advice_or_hint(config::advice_on_key(last_part(path), names), path, names));
  return config::reference(keys);
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find('|')));
    text.remove_prefix(std::min(parts.back().size() + 1, text.size()));
  }
  return parts;
}

/// Returns the names of all layers, or the call and the options of one.
Result<std::string> describe_layers(std::string name) {
  if (name.starts_with(config::layer_prefix)) name.erase(0, config::layer_prefix.size());
  const std::string all = config::layer_names();
  const auto names = parts_of(all);
  std::string text;
  if (name.empty()) {
    for (const std::string_view one : names) text.append(one) += '\n';
    return text;
  }
  if (std::ranges::find(names, name) == names.end())
    return invalid_argument("there is no layer '" + name + "'" + config::hint(name, names));
  const std::string prefix = std::string(layer_path) + name + '.';
  std::vector<config::Key> options;
  for (const config::Key& key : config::layer_keys())
    if (key.path.starts_with(prefix)) options.push_back(key);
  const config::LayerNote note = config::layer_note(name);
  text.append("nn.").append(name).append("(").append(note.inputs);
  text += (options.empty() ? ")" : ", ...)") + (" in an expression, or { type = \"" + name) +
          "\", ... } in model.layers\n";
  text.append(note.meaning) += '\n';
  return options.empty() ? text : text + '\n' + config::reference(options);
}

/// Returns the names of all constructors of ops, or what is known of one op, given by a constructor or its own name.
Result<std::string> describe_ops(const std::string& name) {
  const auto library = make_op_library();
  TROUPE_RETURN_IF_FAILED(library->status);
  std::string text;
  std::vector<std::string_view> names;
  for (const auto& [constructor, entry] : library->ops->constructors()) {
    names.push_back(constructor);
    if (constructor == name) return op_document(*entry.op, *library);
    text += constructor + '\n';
  }
  if (name.empty()) return text;
  for (const auto& [op, definition] : library->ops->ops()) {
    if (config::plain(op) == config::plain(name))
      return op_document(*definition, *library) +
             (definition->constructors.empty() ? "- Run files cannot call it: it has no function of its own\n"
                                               : "");
    names.push_back(op);
  }
  const std::vector<std::string> known(names.begin(), names.end());
  return invalid_argument("there is no op '" + name + "'" +
                          advice_or_hint(config::advice_on_function(name, known), name, names));
}

/// Returns a JSON schema of run files or cluster files.
Result<std::string> describe_schema(const std::string& name) {
  if (name == "run") return reference::json_schema(config::run_schema(), "Run file of Troupe");
  if (name == "cluster") return reference::json_schema(config::cluster_schema(), "Cluster file of Troupe");
  return invalid_argument("there is no schema of '" + name + "'; there are those of run and cluster");
}

/// Returns the files of docs/reference/.
std::map<std::string, std::string> reference_files(const CLI::App& app) {
  return {{"commands.md", reference::commands_markdown(reference::command_table(app))},
          {"keys.md", reference::keys_markdown()},
          {"layers.md", reference::layers_markdown()},
          {"run.schema.json", *describe_schema("run")},
          {"cluster.schema.json", *describe_schema("cluster")}};
}

/// Writes files to a folder. Returns their paths, one on a line.
Result<std::string> write_files(const std::string& folder, const std::map<std::string, std::string>& files) {
  if (folder.empty()) return invalid_argument("name the folder for the files");
  RealDisk disk;
  TROUPE_RETURN_IF_FAILED(make_folders(disk, folder));
  std::string paths;
  for (const auto& [name, text] : files) {
    std::string path = folder;
    path.append(1, '/').append(name);
    TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
    TROUPE_RETURN_IF_FAILED(file.write(text));
    TROUPE_RETURN_IF_FAILED(file.commit());
    paths.append(path).append(1, '\n');
  }
  return paths;
}

Result<std::string> describe(const CLI::App& app, const HelpArguments& arguments) {
  const std::string& topic = arguments.topic;
  if (topic.empty()) return app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
  if (topic == "keys") return describe_keys(arguments.name);
  if (topic == "layers") return describe_layers(arguments.name);
  if (topic == "ops") return describe_ops(arguments.name);
  if (topic == "schema") return describe_schema(arguments.name);
  if (topic == "reference") return write_files(arguments.name, reference_files(app));
  if (topic == "man")
    return write_files(arguments.name, reference::man_pages(reference::command_table(app), TROUPE_VERSION));
  std::vector<std::string> names = {"keys", "layers", "ops", "schema", "reference", "man"};
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == topic) return command->help("troupe");
    names.push_back(command->get_name());
  }
  if (auto keys = describe_keys(topic)) return keys;
  if (auto layer = describe_layers(topic)) return layer;
  if (auto op = describe_ops(topic)) return op;
  const auto schema = config::run_schema();
  std::vector<std::string_view> paths;
  for (const config::Key& key : schema) {
    paths.push_back(key.path);
    if (key.path.find('*') == std::string_view::npos) names.push_back(last_part(std::string(key.path)));
  }
  return invalid_argument(
      "there is no help on '" + topic + "'" +
      advice_or_hint(config::advice_on_key(topic, paths), topic, {names.begin(), names.end()}) +
      "; `troupe help keys`, `layers` and `ops` list what run files have");
}

}  // namespace

void add_help_command(CLI::App& app, int& result) {
  const auto arguments = std::make_shared<HelpArguments>();
  auto* command =
      add_command(app, "help", "Explain a subcommand, the keys of run files, the ops, or the layers.",
                  "troupe help keys train.optimizer");
  command->add_option("topic", arguments->topic,
                      "a subcommand, or keys, ops, layers, schema, reference or man, or the name of a key, "
                      "an op or a layer; default: all "
                      "subcommands");
  command->add_option(
      "name", arguments->name,
      "a key or its beginning, an op or a layer; default: all of them. For schema: run or cluster, whose "
      "JSON schema is printed; for reference and man: the folder to which the pages are written");
  command->callback([&app, arguments, &result] {
    const auto text = describe(app, *arguments);
    if (text) std::printf("%s", text->c_str());
    result = text ? 0 : failed(text.status());
  });
}

}  // namespace troupe::commands
