// Writes trained models in forms that other programs read. Functions without state; any thread that may block.
#pragma once

#include <string>

#include "apps/inference/model_source.h"
#include "kernels/core/kernel.h"
#include "messages/env/disk.h"

namespace troupe::runs {

/// A model with the values of its variables.
struct TrainedModel {
  inference::ModelSource source;
  std::map<std::string, Tensor> values;  ///< by the names of variables
  std::string checkpoint;                ///< the folder that the values are from
  std::string config;                    ///< the text of the run file; empty: none
};

/// Reads a model and the values of the variables that its signatures need. Fails as load() does.
Result<TrainedModel> read_trained_model(Disk& disk, const std::string& path,
                                        std::shared_ptr<const OpTable> ops);

/// Fails with AlreadyExists if there is a saved model in the folder.
Status check_no_saved_model(Disk& disk, const std::string& folder);
/// Writes a folder in TensorFlow's SavedModel format, which TensorFlow, TensorFlow Serving and load() read, with the run file.
/// Fails as check_no_saved_model() does.
Status export_saved_model(Disk& disk, const TrainedModel& model, const std::string& folder);

/// Writes what the signature Model::predict_parsed or, if there is none, Model::predict computes to a file in the ONNX format,
/// whose ops do not divide texts. Fails with NotFound if there is no such signature, and as to_onnx() does.
Status export_onnx(Disk& disk, const TrainedModel& model, const OpLibrary& library, const std::string& file);

/// Writes the values of the variables to a file in the safetensors format. Fails with Unimplemented if it does not have a dtype.
Status export_safetensors(Disk& disk, const TrainedModel& model, const std::string& file);

}  // namespace troupe::runs
