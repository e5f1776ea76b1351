// EchoModel: a saved model whose outputs are its inputs, for tests of what requests and answers are.
#pragma once

#include <fstream>
#include <optional>

#include "apps/inference/model.h"
#include "apps/interop/write_graph.h"
#include "kernels/constructors.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test {

struct EchoModel {
  EchoModel() {
    interop::MetaGraph meta{.graph = Graph(op_library()->ops),
                            .tags = {"serve"},
                            .tensorflow_version = {},
                            .saver = {},
                            .collections = {}};
    const Scope g(meta.graph);
    const Output x = placeholder(g, f32, {-1, 2}, "x"), n = placeholder(g, i32, {-1}, "n"),
                 t = placeholder(g, DType::String, {-1}, "t"), b = placeholder(g, DType::Bool, {-1}, "b"),
                 h = placeholder(g, DType::Half, {-1}, "h"), v = placeholder(g, DType::BFloat16, {-1}, "v"),
                 u = placeholder(g, DType::UInt64, {-1}, "u"),
                 c = placeholder(g, DType::Complex64, {-1}, "c");
    meta.signatures["serving_default"] = {{}, {{"x", x}}, {{"x", x}}};
    meta.signatures["all"] = {
        {}, {{"x", x}, {"n", n}, {"t", t}, {"b", b}}, {{"x", x}, {"n", n}, {"t", t}, {"b", b}}};
    meta.signatures["narrow_and_large"] = {
        {}, {{"h", h}, {"v", v}, {"u", u}}, {{"h", h}, {"v", v}, {"u", u}}};
    meta.signatures["complex"] = {{}, {{"c", c}}, {{"c", c}}};
    std::ofstream(folder.path() + "/saved_model.pb", std::ios::binary) << interop::write_saved_model(meta);
    model.emplace(troupe::load(folder.path(), {.threads = 1}));
  }

  const TemporaryFolder folder;
  std::optional<Model> model;
};

}  // namespace troupe::test
