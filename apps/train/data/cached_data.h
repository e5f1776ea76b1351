// The cache of the samples of a run (data.cache = "file"): computed once, then read from files by this run, by later ones and
// by the workers on this machine. Functions without state.
#pragma once

#include <functional>

#include "apps/config/run_config.h"
#include "apps/data/sample_set.h"

namespace troupe::train {

/// Returns data.cache_dir or, if it is not given, DIRECTORY/NAME/cache.
std::string cache_folder(const config::RunConfig& config);

/// Returns the samples that `make` computes, from the cache if it was made of the same files with the same keys of the run file;
/// otherwise computes them and writes the cache anew. One process at a time does so, others on this machine wait for it. Fails as
/// `make` and the disk do; if the disk is full, the error says where the cache was to be.
Result<data::TrainAndValid> cached(Disk& disk, const config::RunConfig& config,
                                   const std::function<Result<data::TrainAndValid>()>& make);

}  // namespace troupe::train
