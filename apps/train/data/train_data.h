// The data of a run: loads what the run file describes and computes its columns (data.map, data.augment, data.ragged). A
// function without state.
#pragma once

#include "apps/config/run_config.h"
#include "apps/data/load.h"

namespace troupe::train {

/// Does what data::load() does, with the columns of the run file. Fails also with InvalidArgument and a location in the run file if
/// the result of an expression has no known shape, or if data.augment changes the type or shape of a column.
Result<data::TrainAndValid> load_data(Disk& disk, const config::RunConfig& config);

/// Returns the configuration with the fingerprint of the samples to train on, if tasks are to train with them, too.
config::RunConfig with_fingerprint(config::RunConfig config, const data::SampleSet& train);

/// Returns what load_data() returns on a worker. Fails with InvalidArgument, which names the numbers of samples, if the samples to
/// train on are others than those of the process that trains, and with DataLoss if there are none.
Result<data::TrainAndValid> load_same_data(Disk& disk, const config::RunConfig& config);

}  // namespace troupe::train
