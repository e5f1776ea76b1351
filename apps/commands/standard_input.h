// StandardInput: the standard input as a file among those of a disk, for subcommands that read files. Data files are read from any
// place and more than once, so it is copied to a temporary file first. One thread before its files are used, any thread later.
#pragma once

#include <string>
#include <vector>

#include "messages/env/descriptor.h"
#include "messages/env/forwarding_disk.h"
#include "messages/env/real_disk.h"

namespace troupe::commands {

class StandardInput final : public ForwardingDisk {
 public:
  using ForwardingDisk::ForwardingDisk;

  /// Returns the files that a user names, of which "-" stands for the standard input: it becomes a file of this disk, which has
  /// what comes until the end of the input. Fails with InvalidArgument if it is named more than once, and if the input cannot be
  /// read, or the temporary file written.
  Result<std::vector<std::string>> among(std::vector<std::string> files);

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<Info> info(const std::string& path) override;

 private:
  Status copy();
  /// Returns the path under which the system knows the copy.
  std::string copied_to() const;

  RealDisk real_;
  Descriptor copy_;  ///< of a file without a name
};

}  // namespace troupe::commands
