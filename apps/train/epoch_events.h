// What the event file of a run gets at the end of an epoch, beside scalars: histograms of the weights, and images that the model
// computes. A function without state; the thread of the trainer.
#pragma once

#include "actors/step/session.h"
#include "apps/config/observe_keys.h"
#include "apps/data/sample_set.h"
#include "apps/train/folder/run_folder.h"
#include "apps/train/graphs/training_graph.h"

namespace troupe::train {

/// What the events show.
struct ShownModel {
  const config::Observe& observe;
  const Graph& graph;
  const TrainingGraph& model;
  const data::SampleSet& samples;  ///< the first of them are computed for images
};

/// Writes what `observe` asks for to the event file of the folder, if there is one. Throws Error if a step fails.
void log_events(const ShownModel& shown, Session& session, uint64_t step, RunFolder& folder);

}  // namespace troupe::train
