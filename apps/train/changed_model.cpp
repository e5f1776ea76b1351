#include "apps/train/changed_model.h"

#include <algorithm>
#include <optional>

#include "apps/config/diagnostics.h"
#include "apps/config/reader.h"

namespace troupe::train {
namespace {

/// A value that differs from what it was.
struct Change {
  std::string path;
  config::SourceLocation place;
  std::string now, before;
};

std::optional<Change> first_change(const std::string& path, const config::Value& now,
                                   const config::Value& before) {
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

}  // namespace

Status with_changed_model(const Runtime& runtime, const config::RunConfig& config, const std::string& folder,
                          const Status& failure) {
  const std::string file = folder + "/config.toml";
  if (failure.code() != Code::InvalidArgument) return failure;
  const auto earlier = config::load_run_config(runtime.services().disk(), file, {}, runtime.ops());
  if (!earlier) return failure;
  const auto *const now = config::find(config.document->root(), "model"), *const before = config::find(
                                                                              earlier->document->root(),
                                                                              "model");
  const auto change = now && before ? first_change("model", *now, *before) : std::nullopt;
  if (!change) return failure;
  return invalid_argument(
      config::Diagnostics(*config.document).where(change->place) + ": " + change->path + " is " +
      change->now + ", but " + change->before + " in " + file + ", so its checkpoint does not fit (" +
      failure.text() + "); train without --resume, or begin with the weights that fit: model.init_from = \"" +
      folder + '"');
}

}  // namespace troupe::train
