// Opens the folder of a run: a new one, or the one to be resumed. With train.checkpoint.dir the checkpoints of a run lie in a
// store, in NAME/NNN as the folder does in its directory; then a run may be resumed where its folder is not, and a new run gets
// no number that another machine has given to one. Blocks; used by the trainer before its rounds.
#pragma once

#include "apps/config/run_config.h"
#include "apps/train/run_folder.h"
#include "messages/env/disk.h"

namespace troupe::train {

/// `resume` is TrainerOptions::resume, `disk` has the store. Fails as the functions of RunFolder do, with the failure of the store,
/// or with InvalidArgument if `resume` names a file or a checkpoint instead of the folder of a run.
Result<RunFolder> open_run_folder(const config::RunConfig& config, const std::string& resume, Disk& disk);

}  // namespace troupe::train
