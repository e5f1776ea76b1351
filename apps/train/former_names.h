// Checkpoints of runs written before the optimizer's slots had the names that nn gives them ("adam/w/m") have these under "train/".
// One thread, that of the trainer.
#pragma once

#include <set>
#include <string>

#include "actors/runtime.h"

namespace troupe::train {

/// Gives variables of the graph that were missing in `checkpoint` what it has for them under their former names; which ones those
/// are. Adds its own nodes to the graph. Throws Error.
std::set<std::string> restore_former_names(Runtime& runtime, Session& session, Graph& graph,
                                           const RestoredCheckpoint& checkpoint);

}  // namespace troupe::train
