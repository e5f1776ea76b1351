// The export of trained models in C: parts of the graph of a session, with the values that variables have in the session, for
// troupe_model_load(), TensorFlow, and what reads ONNX. One thread at a time per graph. Public header, C11 and C++.
#pragma once

#include "apps/c/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A tensor of a graph, and the name under which callers of a model give or get it.
typedef struct troupe_named_output {
  const char* name;
  troupe_output output;
} troupe_named_output;

/// A function that an exported model offers. Later versions add members behind the last one; `size` says which the caller knows.
typedef struct troupe_exported_signature {
  size_t size;       ///< sizeof(troupe_exported_signature)
  const char* name;  ///< null: "serving_default"
  /// The inputs replace what the graph computes there, so they need not be placeholders.
  const troupe_named_output* inputs;
  size_t input_count;
  const troupe_named_output* outputs;
  size_t output_count;
  const char* method;  ///< what kind of function it is, for servers; null: "tensorflow/serving/predict"
} troupe_exported_signature;

/// Writes what the signatures need of the session's graph as a folder in TensorFlow's SavedModel format. No step may change the
/// variables meanwhile. Fails with AlreadyExists if there is a saved model in the folder, with FailedPrecondition if a variable has
/// no value, with InvalidArgument if an output needs a placeholder that is no input of its signature, or if two signatures or
/// tensors have the same name, and with Unimplemented, naming node and op, if it needs state that is no variable.
TROUPE_C troupe_code troupe_session_export_saved_model(troupe_session* session, const char* folder,
                                                       const troupe_exported_signature* const* signatures,
                                                       size_t signature_count);
/// Does the same for one signature and a file in the ONNX format, which may replace another. Fails with Unimplemented, naming node
/// and op, too, if ONNX cannot compute what a node does.
TROUPE_C troupe_code troupe_session_export_onnx(troupe_session* session, const char* file,
                                                const troupe_exported_signature* signature);

#ifdef __cplusplus
}
#endif
