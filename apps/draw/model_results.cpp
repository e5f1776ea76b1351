#include "apps/draw/model_results.h"

#include "apps/inference/model.h"

namespace troupe::draw {

std::vector<Output> model_results(const interop::MetaGraph& meta) {
  std::vector<Output> usual, all;
  for (const auto& [name, signature] : meta.signatures)
    for (const auto& [output_name, output] : signature.outputs) {
      all.push_back(output);
      if (name == Model::predict || (name == Model::evaluate && output_name == "loss"))
        usual.push_back(output);
    }
  return usual.empty() ? all : usual;
}

}  // namespace troupe::draw
