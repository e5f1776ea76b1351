// BundleWriter: writes a checkpoint in TensorFlow's format V2, with one data file. Both files appear under their names when
// they are complete and durable, the index last: a crash leaves the old checkpoint or the new data file without an index that
// knows it. One writer at a time per prefix; one thread at a time.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "messages/tensor_files/bundle_index.h"

namespace troupe {

class BundleWriter {
 public:
  /// Begins the data file. Makes the folder of the prefix if it does not exist. Writing ends with Cancelled once the flag is set.
  static Result<BundleWriter> create(Disk& disk, const std::string& prefix,
                                     const std::atomic<bool>* cancelled = nullptr);

  /// Adds a tensor in host memory. Fails with InvalidArgument if the name is empty, begins with a zero byte or was added before,
  /// and with Unimplemented for handles and variants.
  Status add(const std::string& name, const Tensor& tensor);
  /// Adds a slice of a variable; the tensor has the shape of the slice. Fails in addition with InvalidArgument if the shape or
  /// type of the variable differs from that of a slice added before.
  Status add(const std::string& name, const SliceSpec& spec, const Tensor& tensor);
  /// Completes both files. Called once, at the end.
  Status finish();

 private:
  BundleWriter(Disk& disk, std::string prefix, NewFile data, const std::atomic<bool>* cancelled)
      : disk_(&disk), prefix_(std::move(prefix)), data_(std::move(data)), cancelled_(cancelled) {}
  Result<BundleEntry> write(const Tensor& tensor);

  Disk* disk_;
  std::string prefix_;
  NewFile data_;
  const std::atomic<bool>* cancelled_;
  uint64_t written_ = 0;
  BundleIndex index_;
};

/// Makes one checkpoint of several that were saved in parts, such as those of the parameter servers: renames their data files
/// and writes an index that leads to all of them, then removes the old indexes. Fails with InvalidArgument if two of them have
/// the same variable and at least one has it whole, if they disagree about its type or shape, or if the destination is one of
/// several. A prefix without an index is such a failure, too, unless `allow_missing`, which leaves it out; one prefix must have
/// an index.
Status merge_bundles(Disk& disk, const std::vector<std::string>& prefixes, const std::string& destination,
                     bool allow_missing);

}  // namespace troupe
