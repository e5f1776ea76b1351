#include "apps/config/stages.h"

#include <algorithm>

#include "apps/config/expression.h"

namespace troupe::config {
StagePlan::StagePlan(const std::vector<Stage>& stages, bool complete, std::vector<Definition>& definitions,
                     Diagnostics& diagnostics)
    : given_(definitions.size(), false) {
  if (stages.empty()) return;
  for (size_t i = 0; i < definitions.size(); ++i) {
    index_.emplace(definitions[i].name, i);
    names_.push_back(names_in(definitions[i].expression.text));
  }
  take_members(stages, complete, definitions, diagnostics);
  follow_inputs(definitions);
  check_order(stages, definitions, diagnostics);
}

void StagePlan::take_members(const std::vector<Stage>& stages, bool complete,
                             std::vector<Definition>& definitions, Diagnostics& diagnostics) {
  std::vector<std::string_view> known;
  for (const auto& [name, index] : index_) known.push_back(name);
  for (size_t stage = 0; stage < stages.size(); ++stage)
    for (const std::string& member : stages[stage].members) {
      const auto refuse = [&](const std::string& why) {
        std::string text = "model.stages.";
        text.append(std::to_string(stage)).append(": '").append(member).append("' is ").append(why);
        diagnostics.error(stages[stage].place, std::move(text));
      };
      const auto found = index_.find(member);
      if (found == index_.end()) {
        if (complete) refuse("neither a definition nor a layer" + hint(member, known));
      } else if (given_[found->second]) {
        refuse("in stage " + std::to_string(definitions[found->second].stage) + ", too");
      } else {
        given_[found->second] = true;
        definitions[found->second].stage = static_cast<int64_t>(stage);
      }
    }
}

/// Moves the definitions that no stage names to the last stage that they use, until none has to move any more.
void StagePlan::follow_inputs(std::vector<Definition>& definitions) const {
  std::vector<std::vector<size_t>> users(definitions.size());
  std::vector<size_t> waiting;
  for (size_t i = 0; i < definitions.size(); ++i) {
    waiting.push_back(i);
    for (const std::string& name : names_[i])
      if (const auto used = index_.find(name); used != index_.end()) users[used->second].push_back(i);
  }
  while (!waiting.empty()) {
    const size_t moved = waiting.back();
    waiting.pop_back();
    for (const size_t user : users[moved]) {
      if (given_[user] || definitions[user].stage >= definitions[moved].stage) continue;
      definitions[user].stage = definitions[moved].stage;
      waiting.push_back(user);
    }
  }
}

void StagePlan::check_order(const std::vector<Stage>& stages, std::span<const Definition> definitions,
                            Diagnostics& diagnostics) const {
  for (size_t i = 0; i < definitions.size(); ++i)
    for (const std::string& name : names_[i]) {
      const auto used = index_.find(name);
      if (used == index_.end() || definitions[used->second].stage <= definitions[i].stage) continue;
      std::string text = "model.stages.";
      text.append(std::to_string(definitions[i].stage)).append(": '").append(definitions[i].name);
      text.append("' uses '").append(name).append("' of stage ");
      text.append(std::to_string(definitions[used->second].stage));
      text.append("; a stage may use only what it and the stages before it compute");
      diagnostics.error(stages[static_cast<size_t>(definitions[i].stage)].place, std::move(text));
    }
}

int64_t StagePlan::stage_of(const Definition& user, std::span<const Definition> definitions) const {
  int64_t stage = 0;
  if (index_.empty()) return stage;
  for (const std::string& name : names_in(user.expression.text))
    if (const auto used = index_.find(name); used != index_.end())
      stage = std::max(stage, definitions[used->second].stage);
  return stage;
}

int64_t StagePlan::first_use(const std::string& name, std::span<const Definition> definitions) const {
  int64_t stage = -1;
  for (size_t i = 0; i < names_.size(); ++i)
    if (names_[i].contains(name) && (stage < 0 || definitions[i].stage < stage)) stage = definitions[i].stage;
  return std::max<int64_t>(0, stage);
}

}  // namespace troupe::config
