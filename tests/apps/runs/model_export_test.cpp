// Models that a program exports from a session: what they compute is what the session computes, and what they cannot hold is said.
#include "apps/model_export.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "actors/runtime.h"
#include "apps/inference/model.h"
#include "apps/nn/initializers.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/partitioned_variable.h"
#include "graph/build/host_function.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::model_export_test {
namespace {

using Tensors = std::map<std::string, Tensor>;

struct Fixture {
  Output placeholder(const std::string& name) {
    return g.with_name(name).add_one("Placeholder", {},
                                     {{"dtype", DType::Float}, {"shape", PartialShape({unknown_dim})}});
  }
  Session started() {
    Session session = runtime.session(graph, {.seed = 1});
    session.run({initializer(g)});
    return session;
  }
  std::string model() const { return folder.path() + "/model"; }

  /// Checks that the exported model computes what the session does for an input "x".
  void check(Session& session, Output x, const std::map<std::string, Output>& outputs) {
    export_saved_model(session, graph, model(), {{"serving_default", {{{"x", x}}, outputs}}});
    const Tensor input = Tensor::vector<float>({1, -2, 3});
    const Tensors computed = troupe::load(model()).run(Tensors{{"x", input}});
    BOOST_TEST_REQUIRE(computed.size() == outputs.size());
    for (const auto& [name, output] : outputs) {
      const Tensor expected = output == x ? input : session.run({{x, input}}, {output})[0];
      BOOST_TEST(difference(computed.at(name), expected, {1e-6, 1e-6}) == "", name);
    }
  }
  Status failure(Session& session, const std::map<std::string, ExportedSignature>& signatures) {
    return failure_of([&] { export_saved_model(session, graph, model(), signatures); });
  }

  TemporaryFolder folder;
  Runtime runtime;
  Graph graph{runtime.ops()};
  Scope g{graph};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(model_export, Fixture)

BOOST_AUTO_TEST_CASE(a_trained_model_computes_what_its_session_computes) {
  const Output x = placeholder("x");
  const Output w = variable(g, g.constant(Tensor::scalar<float>(0.5F)), "w");
  const Output y = mul(g.with_device("/job:localhost/task:0/device:CPU:0"), x, w);
  const Output loss = sum(g, square(g, y));
  const Output step = nn::Adam(nn::constant_rate(0.1)).minimize(g, loss);
  Session session = started();
  session.run({{x, Tensor::vector<float>({1, 2})}}, {step});
  const size_t nodes = graph.size();
  check(session, x, {{"y", y}, {"twice", add(g, y, y)}, {"x", x}, {"weight", w}});
  BOOST_TEST(graph.size() == nodes + 1);  // the sum above
  BOOST_TEST(troupe::load(model()).signature().method == "tensorflow/serving/predict");
}

BOOST_AUTO_TEST_CASE(a_cancellation_leaves_no_model) {
  const Output x = placeholder("x");
  const Output w = variable(g, g.constant(Tensor::scalar<float>(0.5F)), "w");
  const std::string onnx = folder.path() + "/model.onnx";
  Session session = started();
  Cancellation cancellation, unused;
  cancellation.cancel();
  for (const Output y : {mul(g, x, w), neg(g, x)}) {  // the latter needs no step of the session
    const ExportedSignature signature{{{"x", x}}, {{"y", y}}};
    const auto export_with = [&](const Cancellation& given) {
      const Code saved =
          failure_of([&] {
            export_saved_model(session, graph, model(), {{"serving_default", signature}}, &given);
          }).code();
      const Code written = failure_of([&] { export_onnx(session, graph, onnx, signature, &given); }).code();
      BOOST_TEST((saved == written));
      return saved;
    };
    BOOST_TEST((export_with(cancellation) == Code::Cancelled));
    BOOST_TEST(!std::filesystem::exists(model() + "/saved_model.pb"));
    BOOST_TEST(!std::filesystem::exists(onnx));
    BOOST_TEST((export_with(unused) == Code::Ok));
    BOOST_TEST(std::filesystem::exists(model() + "/saved_model.pb"));
    std::filesystem::remove_all(model());
    std::filesystem::remove(onnx);
  }
}

BOOST_AUTO_TEST_CASE(a_session_of_another_graph_is_refused) {
  const Output x = placeholder("x");
  mul(g, x, variable(g, ones(g, {}), "w"));
  Session session = started();
  Graph other(runtime.ops());
  const Scope s(other);
  const Output y = s.with_name("x").add_one("Placeholder", {}, {{"dtype", f32}});
  const ExportedSignature signature{{{"y", y}}, {{"z", neg(s, y)}}};
  const auto check_refused = [](const Status& status) {
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text() == "the session belongs to another graph than the one to export");
  };
  check_refused(failure_of([&] {
    export_saved_model(session, other, model(), {{"serving_default", signature}});
  }));
  check_refused(failure_of([&] { export_onnx(session, other, folder.path() + "/model.onnx", signature); }));
}

BOOST_AUTO_TEST_CASE(resources_and_parts_are_variables) {
  const Output x = placeholder("x");
  const Output handle = g.add_one("VarHandleOp", {},
                                  {{"dtype", DType::Float},
                                   {"shape", PartialShape::scalar()},
                                   {"shared_name", std::string("under/another")}});
  const Output read = g.add_one("ReadVariableOp", {handle}, {{"dtype", DType::Float}});
  const NodeId assign = g.add("AssignVariableOp", {handle, g.constant(Tensor::scalar<float>(4))});
  const auto table = nn::partitioned_variable(g, "table", Shape({7, 2}), nn::glorot_uniform,
                                              {nn::fixed_size(3), nn::PartitionStrategy::Mod});
  const Output rows = sum(g, nn::as_tensor(g, table));
  Session session = started();
  session.run({graph.output(assign, Output::control)});
  check(session, x, {{"sum", add(g, mul(g, x, read), rows)}});
}

BOOST_AUTO_TEST_CASE(inputs_replace_what_the_graph_computes) {
  const Output given = placeholder("given");
  const Output x = add(g, given, given);
  Session session = started();
  check(session, x, {{"square", square(g, x)}});
}

BOOST_AUTO_TEST_CASE(what_cannot_be_exported_is_said) {
  const Output x = placeholder("x"), other = placeholder("other");
  const Output w = variable(g, g.constant(Tensor::scalar<float>(0.5F)), "w");
  const Output y = mul(g, x, w), z = add(g, x, other);
  const Output queue = g.with_name("queue").add_one("FIFOQueueV2", {},
                                                    {{"component_types", std::vector<DType>{DType::Float}}});
  const Output element =
      g.add_one("QueueDequeueV2", {queue}, {{"component_types", std::vector<DType>{DType::Float}}});
  const Output table =
      g.with_name("dense_table")
          .add_one("MutableDenseHashTableV2",
                   {g.constant(Tensor::scalar<int64_t>(-1)), g.constant(Tensor::scalar<int64_t>(-2))},
                   {{"key_dtype", DType::Int64}, {"value_dtype", DType::Int64}});
  const Output found = g.add_one("LookupTableFindV2", {table, g.constant(Tensor::vector<int64_t>({1})),
                                                       g.constant(Tensor::scalar<int64_t>(0))});
  const HostCall call = call_host(g.with_name("host"),
                                  [](std::span<const Tensor> inputs) {
                                    return Result<std::vector<Tensor>>({inputs.begin(), inputs.end()});
                                  },
                                  {x}, {DType::Float});
  Session session = runtime.session(graph);
  const auto fails = [&](const ExportedSignature& signature, Code code, const std::string& text) {
    const Status status = failure(session, {{"f", signature}});
    BOOST_TEST((status.code() == code), status.text());
    BOOST_TEST(says(status.message(), text), status.text());
  };
  fails({{{"x", x}}, {{"y", y}}}, Code::FailedPrecondition, "w");
  fails({{{"x", x}}, {{"z", z}}}, Code::InvalidArgument, "other");
  fails({{{"x", x}}, {}}, Code::InvalidArgument, "'f' has no outputs");
  fails({{}, {{"e", element}}}, Code::Unimplemented, "queue");
  fails({{}, {{"found", found}}}, Code::Unimplemented, "dense_table");
  fails({{{"x", x}}, {{"h", call.outputs[0]}}}, Code::Unimplemented, "host");
  fails({{{"x", x}}, {{"none", {12345, 0}}}}, Code::InvalidArgument, "'none'");
  BOOST_TEST((failure(session, {}).code() == Code::InvalidArgument));
  session.run({initializer(g)});
  export_saved_model(session, graph, model(), {{"f", {{{"x", x}}, {{"y", y}}}}});
  fails({{{"x", x}}, {{"y", y}}}, Code::AlreadyExists, model());
}

BOOST_AUTO_TEST_CASE(onnx_has_no_rule_for_every_op) {
  const Output x = placeholder("x");
  Session session = started();
  const std::string file = folder.path() + "/new/model.onnx";
  export_onnx(session, graph, file, {{{"x", x}}, {{"square", square(g, x)}}});
  BOOST_TEST(std::filesystem::file_size(file) > 0u);
  const Output zeta = g.with_name("zeta").add_one("Zeta", {x, x});
  const Status status = failure_of([&] {
    export_onnx(session, graph, file, {{{"x", x}}, {{"zeta", zeta}}});
  });
  BOOST_TEST((status.code() == Code::Unimplemented));
  BOOST_TEST(says(status.message(), "zeta"), status.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::model_export_test
