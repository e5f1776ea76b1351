// The stages of a model (model.stages): which one each definition belongs to. Owned by what builds the model; one thread.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "apps/config/run_config.h"

namespace troupe::config {

class StagePlan {
 public:
  /// Sets Definition::stage: the stage that names the definition, otherwise the last one of what the definition uses, or 0. Weights
  /// do not count. Adds mistakes: a name in no or several places, and a definition that uses what a later stage computes. Unknown
  /// names are reported only if all definitions are `complete`.
  StagePlan(const std::vector<Stage>& stages, bool complete, std::vector<Definition>& definitions,
            Diagnostics& diagnostics);

  /// Returns the last one of the stages that the expression of `user` uses, which is none of the definitions.
  int64_t stage_of(const Definition& user, std::span<const Definition> definitions) const;
  /// Returns the first stage that uses this name; 0 if none does.
  int64_t first_use(const std::string& name, std::span<const Definition> definitions) const;

 private:
  void take_members(const std::vector<Stage>& stages, bool complete, std::vector<Definition>& definitions,
                    Diagnostics& diagnostics);
  void follow_inputs(std::vector<Definition>& definitions) const;
  void check_order(const std::vector<Stage>& stages, std::span<const Definition> definitions,
                   Diagnostics& diagnostics) const;

  std::map<std::string, size_t, std::less<>> index_;  ///< of the definitions, by name
  std::vector<std::set<std::string>> names_;          ///< that each definition uses
  std::vector<bool> given_;                           ///< whether a stage names the definition
};

}  // namespace troupe::config
