// Support for checkpoints of older versions, in which the names of the optimizer's slots ("adam/w/m") began with "train/". One
// thread, that of the trainer.
#pragma once

#include <set>
#include <string>

#include "actors/runtime.h"

namespace troupe::train {

/// Restores variables that were missing in `checkpoint` from the values that it has under their former names. Returns the names of
/// the restored variables. Adds nodes to the graph. Throws Error.
std::set<std::string> restore_former_names(Runtime& runtime, Session& session, Graph& graph,
                                           const RestoredCheckpoint& checkpoint);

}  // namespace troupe::train
