#include "apps/train/folder/hyperparameters.h"

#include "apps/config/reader.h"

namespace troupe::train {
namespace {

void add(const std::string& path, const config::Value& value, observe::Hyperparameters& found) {
  if (path == "train.checkpoint" || path == "train.fault") return;
  if (const auto* const table = value.get_if<config::Table>())
    for (const config::Entry& entry : *table) add(path + '.' + entry.key, entry.value, found);
  else if (const auto* const integer = value.get_if<int64_t>())
    found.emplace_back(path, static_cast<double>(*integer));
  else if (const auto* const number = value.get_if<double>())
    found.emplace_back(path, *number);
  else if (const auto* const truth = value.get_if<bool>())
    found.emplace_back(path, *truth);
  else if (const auto* const text = value.get_if<std::string>())
    found.emplace_back(path, *text);
}

}  // namespace

observe::Hyperparameters hyperparameters(const config::RunConfig& config) {
  observe::Hyperparameters found;
  const config::Table& root = config.document->root();
  for (const auto& [table, key] : {std::pair("data", "batch"), std::pair("run", "seed")})
    if (const config::Value* const value = config::Reader(&root).table(table).find(key))
      add(std::string(table) + '.' + key, *value, found);
  if (const config::Value* const train = config::find(root, "train")) add("train", *train, found);
  return found;
}

}  // namespace troupe::train
