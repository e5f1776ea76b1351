// Converts a trained model to ONNX. A function without state; any thread.
#pragma once

#include <map>
#include <string>

#include "apps/interop/meta_graph.h"
#include "kernels/core/kernel.h"
#include "messages/values/tensor.h"

namespace troupe::onnx {

/// Returns the bytes of an ONNX model with the inputs and outputs of a signature, by their names in the signature; an output with
/// the name of an input has "_output" behind it, since ONNX tells them apart by their names alone. `values` are
/// those of the variables, by name. Fails with Unimplemented, naming node and op, if there is no rule for an op, or if ONNX cannot
/// compute what a node does.
Result<std::string> to_onnx(const interop::MetaGraph& model, const interop::Signature& signature,
                            const std::map<std::string, Tensor>& values, const OpLibrary& library);

}  // namespace troupe::onnx
