// DigitsRuns: runs the real program on examples/digits.toml. Each run has its own name in a temporary folder, which the destructor
// removes. One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "messages/env/real_disk.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::test {

struct DigitsRuns {
  using Arguments = std::vector<std::string>;

  /// Returns the arguments of a run of examples/EXAMPLE.toml with `troupe train` or another subcommand. It uses no GPUs, unless
  /// `more` sets run.gpus: what is computed on several devices differs in the last bits.
  Arguments run(const std::string& subcommand, const std::string& name, const Arguments& more,
                const std::string& example = "digits") const;
  /// Returns the arguments of a run that does not end by itself.
  Arguments endless(const std::string& subcommand, const std::string& name, const Arguments& more) const;
  /// Returns the variables of the newest checkpoint of the first run of that name.
  WholeCheckpoint weights(const std::string& name);
  /// Reports differences to Boost.Test. A run over a cluster has additional variables that count rounds; they are ignored.
  static void check_equal(const WholeCheckpoint& apart, const WholeCheckpoint& alone);
  static bool gone_within(const std::vector<pid_t>& processes, std::chrono::milliseconds timeout);

  const TemporaryFolder folder;
  RealDisk disk;
};

/// Finds the processes that this process starts from now on, and their descendants, by a variable in their environment.
class Descendants {
 public:
  Descendants();
  ~Descendants();
  Descendants(const Descendants&) = delete;
  Descendants& operator=(const Descendants&) = delete;

  std::vector<pid_t> all() const;
  size_t count() const { return all().size(); }

 private:
  const std::string variable_;
};

}  // namespace troupe::test
