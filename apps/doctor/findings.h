// Findings: whether a machine, and the members of a cluster that are on it, have what the program needs. Functions that read
// the files of the system and try sockets; any thread that may block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::doctor {

enum class Level : uint8_t { Ok, Warn, Fail };

struct Finding {
  Level level = Level::Ok;
  std::string what;    ///< what was looked at: "processor"
  std::string state;   ///< what was found
  std::string remedy;  ///< what helps; empty if nothing is wrong
};

/// Looks at the processor, memory, limits, programs and GPUs of this machine, at the space for runs in `directory`, which need
/// not exist, and at the parts of this program that a build may lack.
std::vector<Finding> check_machine(const std::string& directory);

/// Looks at a cluster file: the certificates of all tasks whose files are here, and whether the ports of tasks on this machine
/// are free.
std::vector<Finding> check_cluster(Disk& disk, const std::string& file);

}  // namespace troupe::doctor
