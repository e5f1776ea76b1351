// The conversion of samples to files of another format, for the subcommand data. For the main thread of the program.
#pragma once

#include <string>

#include "apps/commands/run_file.h"

namespace troupe::commands {

struct ConversionArguments {
  /// The source: a run file, whose samples to train on are converted as its model gets them, or a file of samples or a pattern of
  /// files, whose format its ending names. Keys of [data] may be set for both.
  RunFile source;
  std::string to;      ///< the file to write, whose ending names its format
  bool force = false;  ///< replaces files that are there
};

/// Converts and reports the result. Returns the exit code.
int convert(const ConversionArguments& arguments);

}  // namespace troupe::commands
