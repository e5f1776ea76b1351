// The ops that save tensors to checkpoint files and restore them, in steps: "SaveV2", "RestoreV2", "MergeV2Checkpoints", "Save",
// "SaveSlices", "Restore", "RestoreSlice", "DisableCopyOnRead", "GenerateVocabRemapping", "LoadAndRemapMatrix"; with checkpoints of
// TensorFlow (tests/golden/make_checkpoint.py).
#include <boost/test/unit_test.hpp>

#include <complex>
#include <filesystem>
#include <numeric>

#include "actors/runtime.h"
#include "graph/build/scope.h"
#include "messages/schemas/saver.capnp.h"
#include "messages/wire/wire.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "tests/support/simulation/simulated_node.h"
#include "tests/support/temporary_folder.h"

namespace troupe::saver_steps_test {
namespace {

using Texts = std::vector<std::string>;

Tensor texts(const Texts& values) {
  return Tensor::vector<std::string>(std::span<const std::string>(values));
}
Tensor text(const std::string& value) { return Tensor::scalar<std::string>(value); }

Tensor numbers(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), first);
  return Tensor::of<float>(shape, std::span<const float>(values));
}

/// Nodes of the ops in a graph.
struct Nodes {
  explicit Nodes(const Scope& scope) : g(scope) {}

  Output save(const std::string& prefix, const Texts& names, const Texts& slices,
              std::vector<Output> tensors) const {
    tensors.insert(tensors.begin(),
                   {g.constant(text(prefix)), g.constant(texts(names)), g.constant(texts(slices))});
    return {g.add("SaveV2", tensors), Output::control};
  }
  std::vector<Output> restore(const std::string& prefix, const Texts& names, const Texts& slices,
                              const std::vector<DType>& dtypes) const {
    const NodeId node =
        g.add("RestoreV2", {g.constant(text(prefix)), g.constant(texts(names)), g.constant(texts(slices))},
              {{"dtypes", dtypes}});
    std::vector<Output> outputs;
    for (uint32_t i = 0; i < dtypes.size(); ++i) outputs.push_back({node, i});
    return outputs;
  }
  Output merge(const Texts& prefixes, const std::string& destination, bool delete_old_dirs = true) const {
    return {g.add("MergeV2Checkpoints", {g.constant(texts(prefixes)), g.constant(text(destination))},
                  {{"delete_old_dirs", delete_old_dirs}}),
            Output::control};
  }
  Output restore_v1(const std::string& pattern, const std::string& name, DType dtype,
                    const std::string& slice = "") const {
    std::vector<Output> inputs = {g.constant(text(pattern)), g.constant(text(name))};
    if (!slice.empty()) inputs.push_back(g.constant(text(slice)));
    return g.add_one(slice.empty() ? "Restore" : "RestoreSlice", inputs, {{"dt", dtype}});
  }

  Scope g;
};

struct Fixture {
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  Status failure(Output fetch) {
    return test::failure_of([&] { session().run({fetch}); });
  }
  Status failure_of_restore(const std::string& prefix, const std::string& name, const std::string& slice = "",
                            DType dtype = f32) {
    return failure(nodes.restore(prefix, {name}, {slice}, {dtype})[0]);
  }
  Session session() { return runtime.session(graph, {.share_state = true}); }
  void copy_of_tensorflow(const std::string& checkpoint) const {
    for (const auto& entry :
         std::filesystem::directory_iterator(test::project_path("tests/golden/checkpoint")))
      if (entry.path().filename().string().starts_with(checkpoint))
        std::filesystem::copy(entry.path(), folder.path());
  }

  test::TemporaryFolder folder;
  Runtime runtime{{.threads = 2}};
  Graph graph{runtime.ops()};
  Nodes nodes{Scope(graph)};
  const Scope& g = nodes.g;
};

void check_fails(const Status& status, Code code, const std::string& what) {
  BOOST_TEST((status.code() == code && status.text().find(what) != std::string::npos),
             status.message() << " does not say: " << what);
}

BOOST_FIXTURE_TEST_SUITE(saver_steps, Fixture)

// variable -> save;  restore -> assign
BOOST_AUTO_TEST_CASE(variables_are_saved_and_restored) {
  const Output variable =
      g.with_name("v").add_one("VariableV2", {}, {{"dtype", f32}, {"shape", PartialShape{2, 3}}});
  const Output resource =
      g.with_name("r").add_one("VarHandleOp", {}, {{"dtype", i64}, {"shape", PartialShape{2}}});
  const Output read = g.add_one("ReadVariableOp", {resource}, {{"dtype", i64}});
  const auto assign = [&](Output value, Output other) {
    return std::vector<Output>{{g.add("Assign", {variable, value}), Output::control},
                               {g.add("AssignVariableOp", {resource, other}), Output::control}};
  };
  const auto first = assign(g.constant(numbers({2, 3})), g.constant(Tensor::vector<int64_t>({-1, 1})));
  const auto second = assign(g.constant(numbers({2, 3}, 5)), g.constant(Tensor::vector<int64_t>({7, 7})));
  const auto restored = nodes.restore(path("model"), {"v", "r"}, {"", ""}, {f32, i64});
  const auto third = assign(restored[0], restored[1]);
  const Output save = nodes.save(path("model"), {"v", "r"}, {"", ""}, {variable, read});
  const Output disable{g.add("DisableCopyOnRead", {resource}), Output::control};

  check_fails(failure(save), Code::FailedPrecondition, "v");
  Session run = session();
  run.run(first);
  run.run({save, disable});
  run.run(second);
  run.run(third);
  const auto values = run.run({variable, read});
  BOOST_TEST(identical(values[0], numbers({2, 3})));
  BOOST_TEST(identical(values[1], Tensor::vector<int64_t>({-1, 1})));
}

BOOST_AUTO_TEST_CASE(parts_are_merged_and_restored_in_other_parts) {
  Session run = session();
  run.run({nodes.save(path("temp/part0"), {"w", "words"}, {"4 2 0,1:-", ""},
                      {g.constant(numbers({1, 2})), g.constant(texts({"a", ""}))})});
  run.run({nodes.save(path("temp/part1"), {"w"}, {"4 2 1,3:-"}, {g.constant(numbers({3, 2}, 2))})});
  run.run({nodes.merge({path("temp/part0"), path("temp/part1")}, path("model"))});
  BOOST_TEST(!std::filesystem::exists(path("temp")));
  const auto values =
      run.run(nodes.restore(path("model"), {"w", "w", "words", "w"}, {"4 2 0,3:0,1", "", "", "4 2 -:-"},
                            {f32, f32, DType::String, f32}));
  BOOST_TEST(identical(values[0], Tensor::of<float>(Shape{3, 1}, {0, 2, 4})));
  BOOST_TEST(identical(values[1], numbers({4, 2})));
  BOOST_TEST(identical(values[2], texts({"a", ""})));
  BOOST_TEST(identical(values[3], numbers({4, 2})));
}

BOOST_AUTO_TEST_CASE(paths_may_be_uris) {
  Session run = session();
  run.run({nodes.save("file://" + path("model"), {"w"}, {""}, {g.constant(numbers({2}))})});
  BOOST_TEST(std::filesystem::exists(path("model.index")));
  BOOST_TEST(
      identical(run.run(nodes.restore("file://" + path("model"), {"w"}, {""}, {f32}))[0], numbers({2})));
}

BOOST_AUTO_TEST_CASE(folders_with_other_files_are_kept) {
  Session run = session();
  run.run({nodes.save(path("temp/part"), {"w"}, {""}, {g.constant(numbers({2}))})});
  folder.write("temp/other", "");
  run.run({nodes.merge({path("temp/part")}, path("model"))});
  BOOST_TEST(std::filesystem::exists(path("temp/other")));
  run.run({nodes.save(path("empty/part"), {"w"}, {""}, {g.constant(numbers({2}))})});
  run.run({nodes.merge({path("empty/part")}, path("model"), false)});
  BOOST_TEST(std::filesystem::exists(path("empty")));
}

BOOST_AUTO_TEST_CASE(files_of_the_first_format) {
  const auto save = [&](const std::string& op, const std::string& file, const Texts& names,
                        std::vector<Output> rest) {
    rest.insert(rest.begin(), {g.constant(text(file)), g.constant(texts(names))});
    return Output{g.add(op, rest), Output::control};
  };
  Session run = session();
  run.run({save("Save", path("old"), {"a", "b"}, {g.constant(numbers({2})), g.constant(texts({"x"}))})});
  run.run(
      {save("SaveSlices", path("old-0"), {"w"}, {g.constant(texts({"3 0,2"})), g.constant(numbers({2}))})});
  run.run({save("SaveSlices", path("old-1"), {"w"},
                {g.constant(texts({"3 2,1"})), g.constant(numbers({1}, 2))})});
  const auto values = run.run(
      {nodes.restore_v1(path("old"), "a", f32), nodes.restore_v1(path("old"), "b", DType::String),
       nodes.restore_v1(path("old-?"), "w", f32), nodes.restore_v1(path("old-*"), "w", f32, "3 1,2")});
  BOOST_TEST(identical(values[0], numbers({2})));
  BOOST_TEST(identical(values[1], texts({"x"})));
  BOOST_TEST(identical(values[2], numbers({3})));
  BOOST_TEST(identical(values[3], numbers({2}, 1)));
  const auto newer = run.run(nodes.restore(path("old"), {"a"}, {"2 1,1"}, {f32}));
  BOOST_TEST(identical(newer[0], numbers({1}, 1)));
  check_fails(failure(nodes.restore_v1(path("old"), "c", f32)), Code::NotFound, "\"c\" not found");
  check_fails(failure(nodes.restore_v1(path("none"), "a", f32)), Code::NotFound, path("none"));
  check_fails(failure(nodes.restore_v1(path("old"), "a", i32)), Code::InvalidArgument,
              "original dtype float");
}

BOOST_AUTO_TEST_CASE(checkpoints_of_tensorflow_are_restored) {
  copy_of_tensorflow("model");
  copy_of_tensorflow("parts");
  Session run = session();
  const auto whole =
      run.run(nodes.restore(path("model"), {"w", "names", "short", "empty", "resource"},
                            {"", "", "", "", "2 1,1"}, {f32, DType::String, DType::BFloat16, f64, f32}));
  BOOST_TEST(identical(whole[0], numbers({2, 3})));
  BOOST_TEST(identical(whole[1], Tensor::of<std::string>(Shape{2, 2}, {"a", "", "longer", "b"})));
  BOOST_TEST(identical(whole[2], Tensor::vector<BFloat16>({BFloat16(1.5f), BFloat16(-2.0f)})));
  BOOST_TEST(identical(whole[3], Tensor::of<double>(Shape{0, 4}, {})));
  BOOST_TEST(identical(whole[4], Tensor::vector<float>({2})));
  const auto parts =
      run.run(nodes.restore(path("parts"), {"rows", "middle"}, {"5 3 1,3:1,2", ""}, {f32, f32}));
  BOOST_TEST(identical(parts[0], Tensor::of<float>(Shape{3, 2}, {3, 4, 6, 7, 9, 10})));
  BOOST_TEST(identical(parts[1], numbers({2, 4, 3})));
}

BOOST_AUTO_TEST_CASE(checkpoints_of_tensorflow_in_the_first_format_are_restored) {
  copy_of_tensorflow("old");
  Session run = session();
  const std::string old = path("old-?");
  const auto values =
      run.run({nodes.restore_v1(old, "table", f32), nodes.restore_v1(old, "table", f32, "3 4 0,2:1,2"),
               nodes.restore_v1(old, "names", DType::String), nodes.restore_v1(old, "half", DType::Half),
               nodes.restore_v1(old, "bytes", DType::Int8), nodes.restore_v1(old, "z", DType::Complex64),
               nodes.restore_v1(old, "layer/count", i64), nodes.restore_v1(old, "layer/flags", DType::Bool)});
  BOOST_TEST(identical(values[0], numbers({3, 4})));
  BOOST_TEST(identical(values[1], Tensor::of<float>(Shape{2, 2}, {1, 2, 5, 6})));
  BOOST_TEST(identical(values[2], Tensor::of<std::string>(Shape{2, 2}, {"a", "", "longer", "b"})));
  BOOST_TEST(identical(values[3], Tensor::vector<Half>({Half(1.5f), Half(-2.0f)})));
  BOOST_TEST(identical(values[4], Tensor::vector<int8_t>({-128, 127})));
  BOOST_TEST(identical(values[5], Tensor::scalar(std::complex<float>(1, -2))));
  BOOST_TEST(identical(values[6], Tensor::scalar(int64_t{1} << 40)));
  BOOST_TEST(identical(values[7], Tensor::vector<bool>({true, false, true})));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_saved) {
  const Output two = g.constant(numbers({2}));
  const auto says = [&](const Texts& names, const Texts& slices, const std::string& what) {
    check_fails(failure(nodes.save(path("m"), names, slices, std::vector<Output>(names.size(), two))),
                Code::InvalidArgument, what);
  };
  says({"a"}, {"3 0,3"}, "which has shape [3], but the tensor is float[2]");
  says({"a"}, {"3 0,4"}, "lies outside the shape [3]");
  says({"a"}, {"nonsense"}, "'nonsense'");
  says({"a", "a"}, {"", ""}, "'a' is saved twice");
  says({""}, {""}, "empty");
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_restored) {
  copy_of_tensorflow("model");
  check_fails(failure_of_restore(path("none"), "w"), Code::NotFound, path("none"));
  check_fails(failure_of_restore(path("model"), "b"), Code::NotFound,
              "Key b not found in checkpoint " + path("model"));
  check_fails(failure_of_restore(path("model"), "w", "", i32), Code::InvalidArgument, "original dtype float");
  check_fails(failure_of_restore(path("model"), "w", "2 4 -:-"), Code::InvalidArgument, "with shape [2,3]");
  const std::string data = path("model.data-00000-of-00001");
  std::filesystem::resize_file(data, 0);
  check_fails(failure_of_restore(path("model"), "w"), Code::DataLoss, data + " ends before");
  folder.write("model.index", "nothing");
  check_fails(failure_of_restore(path("model"), "w"), Code::DataLoss, path("model.index"));
}

BOOST_AUTO_TEST_CASE(matrices_of_other_vocabularies) {
  Session run = session();
  run.run({nodes.save(path("model"), {"w", "v"}, {"", ""},
                      {g.constant(numbers({4, 3})), g.constant(numbers({4}))})});
  const std::string before = folder.write("old", "a\nb\r\nc\nd"), now = folder.write("new", "x\nd\nb\ny\n");
  const auto remap = [&](int64_t first, int64_t count, int64_t old_size) {
    return g.add("GenerateVocabRemapping", {g.constant(text(now)), g.constant(text(before))},
                 {{"new_vocab_offset", first}, {"num_new_vocab", count}, {"old_vocab_size", old_size}});
  };
  const NodeId all = remap(0, 4, -1);
  const auto lines = run.run({{all, 0}, {all, 1}});
  BOOST_TEST(identical(lines[0], Tensor::vector<int64_t>({-1, 3, 1, -1})));
  BOOST_TEST(identical(lines[1], Tensor::scalar<int32_t>(2)));
  BOOST_TEST(identical(run.run({{remap(1, 2, 2), 0}})[0], Tensor::vector<int64_t>({-1, 1})));
  check_fails(failure({remap(2, 3, -1), 0}), Code::InvalidArgument,
              now + " has 4 lines, fewer than 3 from line 2 on");
  check_fails(failure({remap(0, 1, 5), 0}), Code::InvalidArgument, before + " has 4 lines");
  folder.write("old", "a\n\nb");
  check_fails(failure({remap(0, 1, -1), 0}), Code::InvalidArgument, "line 1, counted from 0, is empty");
  folder.write("old", "a\nb\na");
  check_fails(failure({remap(0, 1, -1), 0}), Code::InvalidArgument, "'a' twice");

  const auto load = [&](const std::string& name, std::initializer_list<int64_t> rows, int64_t width,
                        std::initializer_list<int64_t> columns, std::initializer_list<float> initial) {
    return g.add_one(
        "LoadAndRemapMatrix",
        {g.constant(text(path("model"))), g.constant(text(name)), g.constant(Tensor::vector<int64_t>(rows)),
         g.constant(Tensor::vector<int64_t>(columns)), g.constant(Tensor::vector<float>(initial))},
        {{"num_rows", static_cast<int64_t>(rows.size())}, {"num_cols", width}});
  };
  const auto values =
      run.run({load("w", {3, -1, 1}, 3, {}, {-1, -2, -3}), load("w", {2, 3}, 2, {1, -1}, {-1, -2})});
  BOOST_TEST(identical(values[0], Tensor::of<float>(Shape{3, 3}, {9, 10, 11, -1, -2, -3, 3, 4, 5})));
  BOOST_TEST(identical(values[1], Tensor::of<float>(Shape{2, 2}, {7, -1, 10, -2})));
  const Output column = g.add_one(
      "LoadAndRemapMatrix",
      {g.constant(text(path("model"))), g.constant(text("w")), g.constant(Tensor::vector<int64_t>({-1})),
       g.constant(Tensor::vector<int64_t>({})), g.constant(numbers({3, 1}))},
      {{"num_rows", int64_t{1}}, {"num_cols", int64_t{3}}});
  BOOST_TEST(identical(run.run({column})[0], numbers({1, 3})));
  check_fails(failure(load("w", {1, 1}, 3, {}, {})), Code::Unimplemented,
              "old row 1 is to become both row 0 and 1");
  check_fails(failure(load("w", {1}, 2, {2, 2}, {})), Code::Unimplemented, "old column 2");
  check_fails(failure(load("w", {1, -1}, 3, {}, {0})), Code::InvalidArgument,
              "initializing_values has 1 elements");
  check_fails(failure(load("w", {1}, 3, {}, {0})), Code::InvalidArgument,
              "initializing_values has 1 elements");
  check_fails(failure(load("w", {4}, 3, {}, {})), Code::InvalidArgument, "has row 4");
  check_fails(failure(load("w", {0}, 1, {3}, {})), Code::InvalidArgument, "has column 3");
  check_fails(failure(load("w", {0}, 2, {}, {})), Code::InvalidArgument, "num_cols = 2");
  check_fails(failure(load("w", {0}, 3, {0}, {})), Code::InvalidArgument, "num_cols is 3");
  check_fails(failure(load("v", {0}, 4, {}, {})), Code::InvalidArgument, "float[4], but must be a matrix");
  check_fails(failure(load("u", {0}, 4, {}, {})), Code::NotFound, "Key u");
}

BOOST_AUTO_TEST_CASE(files_outside_the_roots_are_refused) {
  std::filesystem::create_directory(path("inside"));
  Runtime bounded({.threads = 1, .roots = {path("inside")}});
  Session run = bounded.session(graph);
  const auto refused = [&](Output fetch) { return test::failure_of([&] { run.run({fetch}); }); };
  const Output two = g.constant(numbers({2}));
  check_fails(refused(nodes.save(path("m"), {"a"}, {""}, {two})), Code::PermissionDenied, folder.path());
  check_fails(refused(nodes.save(path("inside/../m"), {"a"}, {""}, {two})), Code::PermissionDenied, "..");
  check_fails(refused(nodes.restore(path("m"), {"a"}, {""}, {f32})[0]), Code::PermissionDenied, path("m"));
  check_fails(refused(nodes.restore_v1(path("m*"), "a", f32)), Code::PermissionDenied, folder.path());
  check_fails(refused(nodes.merge({path("m")}, path("n"))), Code::PermissionDenied, path("m"));
  run.run({nodes.save(path("inside/m"), {"a"}, {""}, {two})});
  BOOST_TEST(identical(run.run(nodes.restore(path("inside/m"), {"a"}, {""}, {f32}))[0], numbers({2})));
}

BOOST_AUTO_TEST_SUITE_END()

// Two tasks in a simulation: each saves to the same disk through its own actor.

struct Simulated {
  static std::string saver_of(const TaskSites& task) { return task.sites[0]->device->name().text(); }

  test::Simulation simulation{0};
  SimulatedDisk disk{0};
  test::SimulatedNode node{simulation, disk, 2};
  Graph graph{node.actors.library->ops};
};

BOOST_FIXTURE_TEST_SUITE(savers, Simulated)

BOOST_AUTO_TEST_CASE(two_tasks_save_parts_of_one_checkpoint) {
  const Nodes first(Scope(graph).with_device("/job:test/task:0")),
      second(Scope(graph).with_device("/job:test/task:1"));
  Session session = node.session(graph);
  session.run({first.save("/temp/part0", {"w"}, {"3 0,1"}, {first.g.constant(numbers({1}))}),
               second.save("/temp/part1", {"w"}, {"3 1,2"}, {second.g.constant(numbers({2}, 1))})});
  session.run({first.merge({"/temp/part0", "/temp/part1"}, "/model")});
  BOOST_TEST(identical(session.run(second.restore("/model", {"w"}, {""}, {f32}))[0], numbers({3})));
}

BOOST_AUTO_TEST_CASE(requests_of_a_step_that_ends_are_cancelled) {
  const ActorRef saver = node.find(node.tasks[0]->address("saver", saver_of(*node.tasks[0])));
  const auto save = [&](uint64_t ordinal, const std::string& prefix) {
    Draft<wire::SaveTensors> draft;
    set_step(draft->initStep(), 1, ordinal);
    draft->setFormat(wire::CheckpointFormat::V2);
    draft->setPath(as_data(prefix));
    auto list = draft->initTensors(1);
    list[0].setName(as_data("w"));
    return node.ask(saver, draft.finish({numbers({4})}));
  };
  const auto first = save(1, "/a"), second = save(2, "/b");
  Draft<wire::CancelFiles> cancel;
  set_step(cancel->initStep(), 1, 2);
  node.actors.engine.send(saver, cancel.finish());
  simulation.run_until([&] { return first->has_value() && second->has_value(); });
  BOOST_TEST((**first).status().message() == "Ok");
  BOOST_TEST(((**second).status().code() == Code::Cancelled), (**second).status().message());
  BOOST_TEST(disk.info("/a.index").ok());
  BOOST_TEST(!disk.info("/b.index").ok());
}

BOOST_AUTO_TEST_CASE(a_lost_saver_is_replaced) {
  const Address address = node.tasks[0]->address("saver", saver_of(*node.tasks[0]));
  const ActorRef lost = node.find(address);
  const Nodes nodes(Scope(graph).with_device("/job:test/task:0"));
  Session session = node.session(graph);
  node.actors.engine.stop(lost, internal("lost"));
  const bool is_replaced = simulation.run_until([&] {
    const auto found = node.actors.directory.find(address);
    return found.ok() && *found != lost;
  });
  BOOST_TEST_REQUIRE(is_replaced);
  session.run({nodes.save("/model", {"w"}, {""}, {nodes.g.constant(numbers({2}))})});
  BOOST_TEST(disk.info("/model.index").ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::saver_steps_test
