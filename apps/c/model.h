// Trained models in C: they compute without a runtime or a session. A model does not change; any number of threads may run it at
// the same time. Public header, C11 and C++.
#pragma once

#include "apps/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_model troupe_model;

/// Options of loading. Later versions add members behind the last one; `size` says which the caller knows.
typedef struct troupe_model_options {
  size_t size;     ///< sizeof(troupe_model_options)
  size_t threads;  ///< that compute; 0: one for each core
  /// The most bytes that tensors may have beside the variables, at least 2 MiB; 0: what the machine has.
  uint64_t memory;
  /// The most elements (height times width times channels, all frames together) that an image may have which the model decodes; 0:
  /// less than 2^29.
  int64_t image_elements;
  const char* const* tags;  ///< of the graph to load, of those in a saved model; none: "serve"
  size_t tag_count;
} troupe_model_options;

/// An input or an output of a signature.
typedef struct troupe_model_tensor {
  const char* name;
  troupe_dtype dtype;
  int32_t rank;         ///< -1: unknown
  const int64_t* dims;  ///< -1: unknown; the first one is usually that of the samples
} troupe_model_tensor;

/// Loads the model in the folder of a run, of one of its checkpoints, or of a saved model, or of one that contains runs or saved
/// models with numbers as names, the newest of these. `options` may be null. Fails with NotFound if there is none, with DataLoss if
/// files are damaged, with InvalidArgument if the graph or an option is wrong, and with Unimplemented if an op needs a session.
TROUPE_C troupe_code troupe_model_load(const char* path, const troupe_model_options* options,
                                       troupe_model** model);
TROUPE_C void troupe_model_destroy(troupe_model* model);
/// Returns where the values of the variables come from: the folder of the checkpoint, or of the saved model.
TROUPE_C troupe_code troupe_model_source(const troupe_model* model, const char** source);

/// Return the number of signatures, and the name of one. A run has "serving_default", what it computes for samples, and "evaluate",
/// for labelled ones its loss, and the sums from which its metrics are computed. Fails with OutOfRange.
TROUPE_C troupe_code troupe_model_signature_count(const troupe_model* model, size_t* count);
TROUPE_C troupe_code troupe_model_signature(const troupe_model* model, size_t index, const char** name);
/// Returns what kind of function a signature is, for servers: "tensorflow/serving/predict". Here and below, a null name of a
/// signature is that of "serving_default", and NotFound says that there is no such signature.
TROUPE_C troupe_code troupe_model_method(const troupe_model* model, const char* signature,
                                         const char** method);
/// Return the number of inputs and outputs of a signature, and one of each. They are in the order of their names. Fails with
/// OutOfRange.
TROUPE_C troupe_code troupe_model_counts(const troupe_model* model, const char* signature, size_t* inputs,
                                         size_t* outputs);
TROUPE_C troupe_code troupe_model_input(const troupe_model* model, const char* signature, size_t index,
                                        troupe_model_tensor* input);
TROUPE_C troupe_code troupe_model_output(const troupe_model* model, const char* signature, size_t index,
                                         troupe_model_tensor* output);

/// Compiles a signature ahead of its first use. Fails as running a model fails that cannot be run.
TROUPE_C troupe_code troupe_model_prepare(const troupe_model* model, const char* signature);
/// Computes all outputs of a signature from its inputs, both in the order of the signature. `results` has room for all outputs; the
/// caller destroys them. Fails with InvalidArgument, naming the input, if one has the wrong type or shape or their number is wrong.
TROUPE_C troupe_code troupe_model_run(const troupe_model* model, const char* signature,
                                      const troupe_tensor* const* inputs, size_t input_count,
                                      troupe_tensor** results, size_t result_count);
/// Does the same by name: input i has the name `input_names[i]`, and `results[i]` becomes the output `output_names[i]`. Fails with
/// InvalidArgument, too, if an input is missing, unknown or given twice, or if an output is unknown.
TROUPE_C troupe_code troupe_model_run_named(const troupe_model* model, const char* signature,
                                            const char* const* input_names,
                                            const troupe_tensor* const* inputs, size_t input_count,
                                            const char* const* output_names, troupe_tensor** results,
                                            size_t result_count);

#ifdef __cplusplus
}
#endif
