// The values of variables in files, installed as <troupe/variable_files.h>: those of checkpoints and of weights that other programs
// have written, to be assigned to variables of a session, or inspected. Failures are thrown as troupe::Error. Public header; any
// thread that may block.
//
//   const auto values = troupe::read_variables("runs/digits");
//   session.run({{restored, values.at("dense_weights")}}, {assigned});
#pragma once

#include <map>
#include <string>

#include "kernels/runtime/cancellation.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Reads the values of the variables in a checkpoint, by their names. `path` is the folder of a checkpoint, or the newest one of a
/// run, a saved model, a .safetensors file, or the prefix of a checkpoint of TensorFlow; variables of tf.train.Checkpoint have the
/// names of their attributes there, such as "layer/kernel". Variables that were saved in parts are whole. Throws NotFound if it is
/// none of these, DataLoss if files are damaged, and Cancelled if `cancellation`, which may be null, is cancelled meanwhile.
std::map<std::string, Tensor> read_variables(const std::string& path,
                                             const Cancellation* cancellation = nullptr);

/// Writes values by names to a .safetensors file, if the path ends so, to a checkpoint in a folder, if it ends in '/', else to a
/// checkpoint of TensorFlow, whose prefix the path is. Throws AlreadyExists if there is such a file, Unimplemented if the format
/// lacks a dtype, and Cancelled as read_variables() does.
void write_variables(const std::map<std::string, Tensor>& values, const std::string& path,
                     const Cancellation* cancellation = nullptr);

}  // namespace troupe
#pragma GCC visibility pop
