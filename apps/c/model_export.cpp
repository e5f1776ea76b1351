#include "apps/c/model_export.h"

#include "apps/c/session_handle.h"
#include "apps/inference/model.h"
#include "apps/model_export.h"

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

std::map<std::string, troupe::Output> outputs_by_name(const troupe_named_output* outputs, size_t count,
                                                      const char* what) {
  std::map<std::string, troupe::Output> named;
  for (const troupe_named_output& output : array(outputs, count, what)) {
    const std::string name = text(output.name, "the name of an output");
    if (!named.emplace(name, output_of(output.output)).second)
      throw troupe::Error(
          troupe::invalid_argument("two " + std::string(what) + " have the name '" + name + "'"));
  }
  return named;
}

troupe::ExportedSignature exported_signature(const troupe_exported_signature& given) {
  troupe::ExportedSignature signature{outputs_by_name(given.inputs, given.input_count, "inputs"),
                                      outputs_by_name(given.outputs, given.output_count, "outputs")};
  if (given.method) signature.method = given.method;
  return signature;
}

std::string name_of(const troupe_exported_signature& signature) {
  return signature.name ? signature.name : std::string(troupe::Model::predict);
}

troupe::Graph& graph_of(troupe_session* session) { return needed(session, "session").shared->graph->graph; }

}  // namespace

troupe_code troupe_session_export_saved_model(troupe_session* session, const char* folder,
                                              const troupe_exported_signature* const* signatures,
                                              size_t signature_count) {
  return guarded([&] {
    std::map<std::string, troupe::ExportedSignature> exported;
    for (const troupe_exported_signature* const given : array(signatures, signature_count, "signatures")) {
      const troupe_exported_signature signature = known(&needed(given, "a signature"));
      if (!exported.emplace(name_of(signature), exported_signature(signature)).second)
        throw troupe::Error(
            troupe::invalid_argument("two signatures have the name '" + name_of(signature) + "'"));
    }
    troupe::export_saved_model(*session_of(session), graph_of(session), text(folder, "folder"), exported);
  });
}

troupe_code troupe_session_export_onnx(troupe_session* session, const char* file,
                                       const troupe_exported_signature* signature) {
  return guarded([&] {
    const troupe::ExportedSignature exported = exported_signature(known(&needed(signature, "signature")));
    troupe::export_onnx(*session_of(session), graph_of(session), text(file, "file"), exported);
  });
}
