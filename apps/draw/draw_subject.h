// What the subcommand graph draws: a TensorFlow graph, a model, or the model and the training of a run file. Read once; plain
// values. Blocks as the disk does.
#pragma once

#include <optional>

#include "actors/step/step_compiler.h"
#include "apps/cluster/planned_tasks.h"
#include "apps/draw/draw_command.h"
#include "messages/env/disk.h"

namespace troupe::draw {

struct Subject {
  std::string title;
  Graph graph;                     ///< to be drawn
  std::vector<Output> results;     ///< for whose sake it exists; none: all of it
  std::optional<Graph> to_place;   ///< the graph whose step is placed; not set: `graph`
  RunSignature step;               ///< to be drawn as it would run; empty: none
  std::vector<TaskOptions> tasks;  ///< on which the step would run
  const Graph& placed_graph() const { return to_place ? *to_place : graph; }
};

/// Fails as reading does, and with InvalidArgument or NotFound if the signature is wrong.
Result<Subject> read_subject(Disk& disk, const DrawArguments& arguments, const OpLibrary& library);

}  // namespace troupe::draw
