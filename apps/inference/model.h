// Model: a trained model that computes its outputs without a trainer, a session or actors. It is loaded from a folder that
// TensorFlow's SavedModel format describes ("troupe export" writes it, and so does TensorFlow), or from the folder of a run, whose
// last checkpoint it uses. A model is immutable and cheap to copy; any number of threads may run it at the same time. Failures are
// thrown as troupe::Error. Public header.
//
//   const troupe::Model model = troupe::load("runs/digits/001");
//   const auto results = model.run({{"image", images}});     // {"class", "probabilities"}
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/ops/partial_shape.h"
#include "kernels/runtime/cancellation.h"
#include "messages/values/tensor.h"

#pragma GCC visibility push(default)
namespace troupe {

class Disk;

/// A tensor that a caller gives to a model or gets from it.
struct ModelTensor {
  std::string name;
  DType dtype = DType::Invalid;
  PartialShape shape;  ///< the first dimension is usually that of the samples, which is unknown
};

/// A function of a model.
struct ModelSignature {
  std::string name;
  std::string method;  ///< what kind of function it is, for servers: "tensorflow/serving/predict"
  std::vector<ModelTensor> inputs, outputs;  ///< in the order of their names
};

struct LoadOptions {
  size_t threads = 0;  ///< the number of threads that compute; 0: one for each core
  /// The tags of the graph to load, of those in the saved model.
  std::vector<std::string> tags = {"serve"};
  /// The most bytes that its tensors may have in memory, beside its variables, at least 2 MiB; 0: what the machine has. A call that
  /// needs more fails with ResourceExhausted.
  uint64_t memory = 0;
  /// The most elements (height times width times channels, all frames together) that an image may have which the model decodes: a
  /// small file may be a huge image. 0: less than 2^29. Not negative.
  int64_t image_elements = 0;
  /// If non-null, ends the loading, which then fails with Cancelled. It is not used later.
  const Cancellation* cancellation = nullptr;
};

class Model {
 public:
  /// The names of the signatures that a run has: what the model computes for samples, and for labelled ones its loss, and the sums
  /// from which its metrics are computed.
  static constexpr std::string_view predict = "serving_default", evaluate = "evaluate";
  /// What a run has beside them if its model divides texts into words or numbers: computes the same as `predict` for rows that have
  /// been divided, as the training gets them.
  static constexpr std::string_view predict_parsed = "serving_parsed";

  const std::vector<ModelSignature>& signatures() const;
  /// Throws NotFound, naming the nearest signature, if there is none of this name.
  const ModelSignature& signature(std::string_view name = predict) const;
  /// Returns where the values of the variables come from: the folder of the checkpoint, or of the saved model.
  const std::string& source() const;

  /// Compiles a signature ahead of its first use. Throws what run() throws for a model that cannot be run.
  void prepare(std::string_view signature = predict) const;
  /// Computes all outputs of a signature from its inputs; both are in the order of the signature. Throws InvalidArgument, naming
  /// the input, if one of them has the wrong dtype or shape, or the error of an op. If an input NAME has a vector of int64 beside
  /// it that is called NAME_splits, it is ragged: row i has the elements NAME_splits[i] to NAME_splits[i + 1] - 1. Throws
  /// InvalidArgument, too, unless these splits ascend from 0 to the number of elements. Throws Cancelled if `cancellation`, which
  /// may be null, is cancelled before the call has ended. Ops that draw random numbers draw others in each call of the signature;
  /// the calls of a model that is loaded again draw the same ones in the same order.
  std::vector<Tensor> run(std::span<const Tensor> inputs, std::string_view signature = predict,
                          const Cancellation* cancellation = nullptr) const;
  /// Does the same by name. Throws InvalidArgument, too, if an input is missing or unknown.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs,
                                    std::string_view signature = predict,
                                    const Cancellation* cancellation = nullptr) const;

 private:
  friend Model load(Disk& disk, const std::string& path, const LoadOptions& options);
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

/// Loads a model. `path` is the folder of a run, of one of its checkpoints, or of a saved model, or one that contains runs or saved
/// models with numbers as names, of which the newest is loaded. Throws NotFound if there is no model or no checkpoint, DataLoss if
/// files are damaged, InvalidArgument if the graph is invalid or a variable has another shape than its value, and Unimplemented,
/// naming node and op, if an op needs a session (such as a queue).
Model load(const std::string& path, const LoadOptions& options = {});

}  // namespace troupe
#pragma GCC visibility pop
