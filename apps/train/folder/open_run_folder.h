// Opens the folder of a run: a new one, or the one to be resumed, which stays as it is until the training begins. With
// train.checkpoint.dir the checkpoints of a run lie in a store, in NAME/NNN as the folder does in its directory; then a run may be
// resumed where its folder is not, and a new run gets no number that another machine has given to one. Blocks; used by the trainer
// before its rounds.
#pragma once

#include "actors/runtime.h"
#include "apps/config/run_config.h"
#include "apps/data/dataset.h"
#include "apps/interop/meta_graph.h"
#include "apps/train/folder/run_folder.h"
#include "messages/env/disk.h"

namespace troupe::train {

/// `resume` is TrainerOptions::resume, `disk` has the store. Fails as the functions of RunFolder do, with the failure of the store,
/// or with InvalidArgument if `resume` names something else than the folder of a run or one that contains runs.
Result<RunFolder> open_run_folder(const config::RunConfig& config, const std::string& resume, Disk& disk);

/// Writes what the folder of a run has from the beginning of a training: its run file, where its checkpoints are, its model, which
/// is returned, and a file of TensorBoard. `columns` are those of the samples to train on. Fails with Unavailable if the system
/// refuses, and as runs::build_run_model() does.
Result<interop::MetaGraph> begin_run_folder(RunFolder& folder, const config::RunConfig& config,
                                            const data::Dataset& columns, const Runtime& runtime);

}  // namespace troupe::train
