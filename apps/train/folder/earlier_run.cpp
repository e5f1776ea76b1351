#include "apps/train/folder/earlier_run.h"

#include <algorithm>
#include <utility>

#include "apps/config/diagnostics.h"
#include "apps/config/reader.h"

namespace troupe::train {
namespace {

config::Reader table_of(const config::RunConfig& config, const std::string& path) {
  config::Reader table(&config.document->root());
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    table = table.table(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return table;
}

/// The tables and keys on which the variables of a training depend. The learning rate is none of them.
struct StatefulKey {
  const char *table, *key;
};
constexpr StatefulKey stateful_keys[] = {{"", "model"},           {"train", "optimizer"},
                                         {"train", "average"},    {"train", "plateau"},
                                         {"train", "loss_scale"}, {"train", "replication"}};

/// Returns the beginning of a value that is long.
std::string shortened(const std::string& value) {
  constexpr size_t most = 80;
  return value.size() <= most ? value : value.substr(0, most) + " ...";
}

}  // namespace

EarlierRun::EarlierRun(Disk& disk, std::shared_ptr<const OpTable> ops, const config::RunConfig& config,
                       std::string folder)
    : config_(config), folder_(std::move(folder)), file_(folder_ + "/config.toml") {
  if (auto earlier = config::load_run_config(disk, file_, {}, std::move(ops))) earlier_ = std::move(*earlier);
}

std::optional<EarlierRun::Change> EarlierRun::first_change(const std::string& path, const config::Value& now,
                                                           const config::Value& before) {
  if (path == "train.optimizer.lr") return {};
  if (const auto* const list = now.get_if<config::List>())
    if (const auto* const former = before.get_if<config::List>(); former && former->size() == list->size()) {
      for (size_t i = 0; i < list->size(); ++i)
        if (auto change = first_change(path + '.' + std::to_string(i), (*list)[i], (*former)[i]))
          return change;
      return {};
    }
  const auto* const table = now.get_if<config::Table>();
  const auto* const former = before.get_if<config::Table>();
  if (table && former) {
    for (const config::Entry& entry : *table)
      if (const config::Value* const value = config::find(*former, entry.key))
        if (auto change = first_change(path + '.' + entry.key, entry.value, *value)) return change;
    if (table->size() == former->size()) return {};
  }
  std::string text = config::to_toml(now), other = config::to_toml(before);
  if (text == other) return {};
  return Change{path, now.place, std::move(text), std::move(other)};
}

std::optional<EarlierRun::Change> EarlierRun::change_of(const std::string& table,
                                                        const std::string& key) const {
  const config::Value* const now = table_of(config_, table).find(key);
  const config::Value* const before = table_of(*earlier_, table).find(key);
  const std::string path = table.empty() ? key : table + '.' + key;
  if (now && before) return first_change(path, *now, *before);
  if (!now && !before) return {};
  if (now) return Change{path, now->place, config::to_toml(*now), {}};
  return Change{path, {}, {}, config::to_toml(*before)};
}

std::string EarlierRun::text_of(const Change& change) const {
  const std::string where =
      change.now.empty() ? std::string() : config::Diagnostics(*config_.document).where(change.place) + ": ";
  return where + change.path + " is " + (change.now.empty() ? "not given" : shortened(change.now)) +
         ", but " + (change.before.empty() ? "not given" : shortened(change.before)) + " in " + file_;
}

std::string EarlierRun::what_to_do() const {
  return "; train without --resume, or begin with the weights that fit: model.init_from = \"" + folder_ + '"';
}

Status EarlierRun::check_held_out() const {
  const data::Options& data = config_.data;
  if (data.valid_split == 0) return {};
  auto change = earlier_->data.valid_split == 0 ? change_of("data", "valid") : std::nullopt;
  for (const char* const key : {"split", "fold", "stratify"})
    if (!change) change = change_of("data.valid", key);
  if (!change && !data.window) change = change_of("run", "seed");  // the end of a series needs no seed
  if (!change) return {};
  return invalid_argument(text_of(*change) +
                          ", so other samples would be held out, and the run has trained on some of them; "
                          "resume it with the value that it has, or train without --resume");
}

Status EarlierRun::check_encoding() const {
  for (const data::TableColumn& column : config_.data.columns) {
    const auto former = std::ranges::find(earlier_->data.columns, column.name, &data::TableColumn::name);
    if (former == earlier_->data.columns.end()) continue;
    const bool fills = column.fills_from_samples() && former->fills_from_samples();
    const char* const key = former->normalization != column.normalization ? "normalize"
                            : fills && former->missing != column.missing  ? "missing"
                                                                          : nullptr;
    const auto change = key ? change_of("data.columns." + column.name, key) : std::nullopt;
    if (change)
      return invalid_argument(text_of(*change) +
                              ", so the model would get other numbers than those it was trained with; resume "
                              "the run with the value that it has" +
                              what_to_do());
  }
  return {};
}

Status EarlierRun::check() const {
  if (!earlier_) return {};
  TROUPE_RETURN_IF_FAILED(check_held_out());
  TROUPE_RETURN_IF_FAILED(check_encoding());
  const auto change = change_of("train.optimizer", "type");
  if (!change) return {};
  return invalid_argument(text_of(*change) +
                          ", so the state of the optimizer in its checkpoints does not fit" + what_to_do());
}

Status EarlierRun::with_change(const Status& failure) const {
  if (!earlier_ || (failure.code() != Code::InvalidArgument && failure.code() != Code::NotFound))
    return failure;
  for (const auto& [table, key] : stateful_keys)
    if (const auto change = change_of(table, key))
      return invalid_argument(text_of(*change) + ", so its checkpoint does not fit (" + failure.text() + ')' +
                              what_to_do());
  return failure;
}

}  // namespace troupe::train
