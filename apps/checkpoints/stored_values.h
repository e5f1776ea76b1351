// StoredValues: the tensors of a checkpoint in any format that the program knows: its own, TensorFlow's (V2), safetensors.
// Plain values, and functions that read and write files; any thread that may block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/env/disk.h"
#include "messages/values/tensor.h"

namespace troupe::checkpoints {

struct StoredValues {
  std::string source;                    ///< the file or folder that was read
  uint64_t round = 0;                    ///< 0 for formats that have none
  std::map<std::string, Tensor> values;  ///< variables that were saved in parts are whole
};

/// Reads the folder of a checkpoint, or the newest one of a run, a saved model, a .safetensors file, or a checkpoint of
/// TensorFlow by its prefix; the variables of tf.train.Checkpoint have the names of their attributes there, such as "layer/kernel".
/// Fails with NotFound if it is none of these, and with DataLoss if files are damaged.
Result<StoredValues> read_values(Disk& disk, const std::string& path);

/// Returns whether a folder is what is left of a checkpoint that was deleted: files to which later checkpoints refer.
bool is_remainder(Disk& disk, const std::string& path);

/// Writes a .safetensors file, if the path ends so, or a checkpoint of Troupe to a folder, if it ends in '/', else one of
/// TensorFlow, whose prefix the path is. Fails with AlreadyExists if there is such a file, and with Unimplemented if the format
/// lacks a dtype.
Status write_values(Disk& disk, const StoredValues& stored, const std::string& path);

struct CheckpointInfo {
  std::string name, path;
  uint64_t round = 0;
  uint64_t bytes = 0;  ///< of its files, also of those in the folders of older ones
  size_t tensors = 0;
  std::string damage;  ///< of its manifest; empty: none
};

/// Returns the checkpoints of a run, or of a folder of checkpoints, the oldest first. Fails with NotFound if there are none.
Result<std::vector<CheckpointInfo>> list_checkpoints(Disk& disk, const std::string& path);

}  // namespace troupe::checkpoints
