// Trained models in C: they compute without a runtime or a session. A model does not change; any number of threads may run it at
// the same time. Public header, C11 and C++.
#pragma once

#include "apps/c/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct troupe_model troupe_model;

/// An input or an output of a signature.
typedef struct troupe_model_tensor {
  const char* name;
  troupe_dtype dtype;
  int32_t rank;         ///< -1: unknown
  const int64_t* dims;  ///< -1: unknown; the first one is usually that of the samples
} troupe_model_tensor;

/// Loads the model in the folder of a run, of one of its checkpoints, or of a saved model, or of one that contains runs or saved
/// models with numbers as names, the newest of these. `threads` compute; 0: one for each core. Fails with NotFound if there is
/// none, with DataLoss if files are damaged, and with Unimplemented if an op needs a session.
TROUPE_C troupe_code troupe_model_load(const char* path, size_t threads, troupe_model** model);
TROUPE_C void troupe_model_destroy(troupe_model* model);

/// Return the number of signatures, and the name of one. A run has "serving_default", what it computes for samples, and "evaluate",
/// for labelled ones its loss, and the sums from which its metrics are computed. Fails with OutOfRange.
TROUPE_C troupe_code troupe_model_signature_count(const troupe_model* model, size_t* count);
TROUPE_C troupe_code troupe_model_signature(const troupe_model* model, size_t index, const char** name);
/// Return the number of inputs and outputs of a signature, and one of each. A null name is that of "serving_default". Fails with
/// NotFound if there is no such signature, and with OutOfRange.
TROUPE_C troupe_code troupe_model_counts(const troupe_model* model, const char* signature, size_t* inputs,
                                         size_t* outputs);
TROUPE_C troupe_code troupe_model_input(const troupe_model* model, const char* signature, size_t index,
                                        troupe_model_tensor* input);
TROUPE_C troupe_code troupe_model_output(const troupe_model* model, const char* signature, size_t index,
                                         troupe_model_tensor* output);

/// Computes all outputs of a signature from its inputs, both in the order of the signature. `results` has room for all outputs; the
/// caller destroys them. Fails with InvalidArgument, naming the input, if one has the wrong type or shape or their number is wrong.
TROUPE_C troupe_code troupe_model_run(const troupe_model* model, const char* signature,
                                      const troupe_tensor* const* inputs, size_t input_count,
                                      troupe_tensor** results, size_t result_count);

#ifdef __cplusplus
}
#endif
