// Golden cases: what passes, and what is told of one that does not.
#include "apps/golden/golden_case.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "apps/golden/compare.h"
#include "apps/golden/devices.h"
#include "apps/golden/verify.h"
#include "apps/text/escaped.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/temporary_folder.h"

namespace troupe::golden::golden_case_test {
namespace {

using test::attr;
using test::node;

const std::string t_float = attr("T", "type: DT_FLOAT");
// x, float[2];   y = x + x;   fails = MatMul(x, x) when fed
const std::string doubling = test::placeholder("x") + node("y", "Add", "x x", t_float);

struct Fixture {
  Fixture() {
    for (const auto& [name, values] :
         {std::pair("one", std::pair(1.0f, 2.0f)), {"two", {2.0f, 4.0f}}, {"three", {2.0f, 6.0f}}})
      write(std::string(name) + ".npy",
            value_or_throw(data::write_npy(Tensor::vector<float>({values.first, values.second}))));
  }
  void write(const std::string& name, const std::string& bytes) { folder.write(name, bytes); }

  /// What is told of the case, of each step that failed.
  std::vector<std::string> failures(const std::string& graph, const std::string& json) {
    write("graph.pb", graph);
    write("case.json", json);
    std::vector<std::string> failures = {"no verdict"};
    throw_if_failed(
        verify(disk, {.paths = {folder.path()}, .tasks = {}, .program = {}}, [&](const Verdict& verdict) {
          failures = verdict.failures;
          lacks = verdict.lacks;
        }));
    return failures;
  }
  /// Of a case of which one step at most fails.
  std::string failure(const std::string& graph, const std::string& json) {
    const auto told = failures(graph, json);
    BOOST_TEST(told.size() <= 1u);
    return told.empty() ? "" : told[0];
  }

  test::TemporaryFolder folder;
  RealDisk disk;
  std::string lacks;  ///< what is told of the last case
};

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

BOOST_FIXTURE_TEST_SUITE(golden_cases, Fixture)

BOOST_AUTO_TEST_CASE(a_case_that_agrees_passes) {
  BOOST_TEST(failure(doubling,
                     R"({"steps": [{"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "expect": ["two.npy"]},
                                             {"fetches": ["y:0"], "error": "InvalidArgument"}]})") == "");
}

BOOST_AUTO_TEST_CASE(another_value_is_told_with_its_index_and_errors) {
  const std::string told = failure(
      doubling, R"({"steps": [{"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "expect": ["three.npy"]}]})");
  BOOST_TEST(says(told,
                  "step 1: y:0: [1] is 4, expected 6; 1 of 2 numbers differ; the largest absolute error is "
                  "2, the largest relative error 0.333333333"),
             told);
  BOOST_TEST(failure(doubling,
                     R"({"steps": [{"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "expect": ["three.npy"],
                                              "rtol": 0.4}]})") == "");
}

BOOST_AUTO_TEST_CASE(each_step_that_fails_is_told) {
  const auto told = failures(doubling, R"({"steps": [
      {"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "expect": ["three.npy"]},
      {"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "expect": ["two.npy"]},
      {"fetches": ["y:0"], "error": "OutOfRange"},
      {"fetches": ["nothing:0"], "error": "InvalidArgument"}]})");
  BOOST_REQUIRE(told.size() == 3u);
  BOOST_TEST(told[0].starts_with("step 1: y:0: [1] is 4, expected 6"), told[0]);
  BOOST_TEST(told[1].starts_with("step 3: fails, but not with OutOfRange"), told[1]);
  BOOST_TEST(told[2].starts_with("step 4: "), told[2]);
}

BOOST_AUTO_TEST_CASE(bytes_are_escaped_for_people_and_json) {
  BOOST_TEST(escaped("plain 'text', \u00e4\u20ac") == "plain 'text', \u00e4\u20ac");
  BOOST_TEST(escaped("a\\b\n\x1b[2J\x7f") == "a\\\\b\\x0a\\x1b[2J\\x7f");
  BOOST_TEST(escaped(std::string_view("\0", 1)) == "\\x00");
  BOOST_TEST(escaped("\xff\xc3(\xe2\x82") == "\\xff\\xc3(\\xe2\\x82");
  BOOST_TEST(escaped("\xc0\x80 \xed\xa0\x80 \xf5\x80\x80\x80 \xc2\x9b") ==
             "\\xc0\\x80 \\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xc2\\x9b");
}

BOOST_AUTO_TEST_CASE(errors_are_compared_by_their_code) {
  const std::string none = failure(
      doubling,
      R"({"steps": [{"feeds": {"x:0": "one.npy"}, "fetches": ["y:0"], "error": "InvalidArgument"}]})");
  BOOST_TEST(says(none, "does not fail; expected InvalidArgument"), none);
  const std::string other = failure(doubling, R"({"steps": [{"fetches": ["y:0"], "error": "OutOfRange"}]})");
  BOOST_TEST(says(other, "fails, but not with OutOfRange: InvalidArgument"), other);
  BOOST_TEST(says(failure(doubling, R"({"steps": [{"fetches": ["y:0"], "error": "Oops"}]})"), "'Oops'"));
}

BOOST_AUTO_TEST_CASE(missing_ops_are_named) {
  const std::string told =
      failure(doubling + node("a", "NoSuchOp", "x") + node("b", "AnotherOne", "x"), R"({"steps": []})");
  BOOST_TEST(says(told, "AnotherOne, NoSuchOp"), told);
}

BOOST_AUTO_TEST_CASE(what_a_case_is_known_to_lack_is_told_and_no_failure) {
  const std::string lacking = doubling + node("a", "NoSuchOp", "x") + node("b", "AnotherOne", "x");
  BOOST_TEST(failure(lacking, R"({"steps": [], "missing": ["AnotherOne", "NoSuchOp"]})") == "");
  BOOST_TEST(says(lacks, "AnotherOne, NoSuchOp"));
  BOOST_TEST(says(failure(lacking, R"({"steps": [], "missing": ["NoSuchOp"]})"), "AnotherOne, NoSuchOp"));
  BOOST_TEST(
      says(failure(doubling, R"({"steps": [], "missing": ["NoSuchOp"]})"), "no op is missing any more"));
}

BOOST_AUTO_TEST_CASE(strings_and_archives_and_bfloat16_are_read) {
  write("a.npz", value_or_throw(data::write_npz(
                     {{"x", Tensor::vector<float>({1, 2})}, {"y", Tensor::vector<float>({2, 4})}})));
  BOOST_TEST(
      failure(doubling,
              R"({"steps": [{"feeds": {"x:0": "a.npz:x"}, "fetches": ["y:0"], "expect": ["a.npz:y"]}]})") ==
      "");
  write("b.npy", value_or_throw(data::write_npy(Tensor::vector<BFloat16>({BFloat16(1.0f)}))));
  const std::string cast =
      node("x", "Placeholder", "", attr("dtype", "type: DT_BFLOAT16")) +
      node("y", "Cast", "x", attr("SrcT", "type: DT_BFLOAT16") + attr("DstT", "type: DT_INT32"));
  write("c.npy", value_or_throw(data::write_npy(Tensor::vector<int32_t>({1}))));
  BOOST_TEST(
      failure(cast,
              R"({"steps": [{"feeds": {"x:0": {"array": "b.npy", "dtype": "bfloat16"}}, "fetches": ["y:0"],
                                          "expect": ["c.npy"]}]})") == "");
  const std::string same = node("x", "Placeholder", "", attr("dtype", "type: DT_STRING")) +
                           node("y", "Identity", "x", attr("T", "type: DT_STRING"));
  BOOST_TEST(
      failure(
          same,
          R"({"steps": [{"feeds": {"x:0": [["a", "\u00ff"]]}, "fetches": ["y:0"], "expect": [[["a", "\u00ff"]]]},
                                         {"feeds": {"x:0": {"dtype": "string", "values": "b"}}, "fetches": ["y:0"],
                                          "expect": [{"dtype": "string", "values": "b"}]}]})") == "");
}

BOOST_AUTO_TEST_CASE(gradients_are_added) {
  write("ones.npy", value_or_throw(data::write_npy(Tensor::vector<float>({2, 2}))));
  BOOST_TEST(failure(doubling,
                     R"({"steps": [{"feeds": {"x:0": "one.npy"}, "fetches": ["g:0"], "expect": ["ones.npy"]}],
                                   "gradients": [{"name": "g", "of": "y:0", "by": ["x:0"]}]})") == "");
}

BOOST_AUTO_TEST_CASE(files_that_are_wrong_are_named) {
  BOOST_TEST(says(failure(doubling, "{"), "case.json"));
  BOOST_TEST(says(failure(doubling, R"({"steps": [{"fetches": ["y:0"]}]})"), "1 fetches, but 0 values"));
  BOOST_TEST(says(failure(doubling, R"({"steps": [{"feeds": {"x:0": "none.npy"}}]})"), "none.npy"));
  BOOST_TEST(says(failure("no graph", "{}"), "InvalidArgument"));
  BOOST_TEST((find_cases(disk, folder.path() + "/none").status().code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(cases_are_found_below_a_folder) {
  std::filesystem::create_directories(folder.path() + "/b/c");
  std::filesystem::create_directories(folder.path() + "/a");
  write("b/c/case.json", "{}");
  write("a/case.json", "{}");
  const std::vector<std::string> expected = {folder.path() + "/a", folder.path() + "/b/c"};
  BOOST_TEST(value_or_throw(find_cases(disk, folder.path())) == expected);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(golden_devices)

// v, a reference;   assign(v, one) on /job:poly;   free;   other on /job:ember
Graph spread() {
  const std::string v = attr("dtype", "type: DT_FLOAT") + attr("shape", "shape {}");
  return value_or_throw(
      test::read(node("v", "VariableV2", "", v) + test::constant("one", "DT_FLOAT", "float_val: 1") +
                 "node { name: 'set' op: 'Assign' input: 'v' input: 'one' device: '/job:poly/task:0' " +
                 t_float + " }" + "node { name: 'other' op: 'NoOp' device: '/job:ember/task:1/cpu:1' }"));
}

BOOST_AUTO_TEST_CASE(a_process_has_every_task_that_is_asked_for) {
  const auto tasks = value_or_throw(tasks_of(spread()));
  BOOST_TEST_REQUIRE(tasks.size() == 3u);
  BOOST_TEST(tasks[0].job == "localhost");
  BOOST_TEST(tasks[1].job == "poly");
  BOOST_TEST((tasks[2].job == "ember" && tasks[2].task == 1 && tasks[2].cpus == 1));
  BOOST_TEST(tasks[2].more_cpus == std::vector<int>{1});
}

Graph on_devices(const std::vector<std::string>& devices) {
  std::string nodes;
  for (const auto& device : devices)
    nodes += "node { name: 'n" + std::to_string(nodes.size()) + "' op: 'NoOp' device: '" + device + "' }";
  return value_or_throw(test::read(nodes));
}

BOOST_AUTO_TEST_CASE(only_the_devices_that_are_asked_for_are_made) {
  const auto tasks = value_or_throw(tasks_of(on_devices(
      {"/device:CPU:999", "/device:CPU:2147483647", "/device:CPU:999", "/job:worker/task:1000000"})));
  const Runtime runtime({.threads = 1, .tasks = tasks});
  const std::vector<std::string> expected = {"/job:localhost/replica:0/task:0/device:CPU:0",
                                             "/job:localhost/replica:0/task:0/device:CPU:999",
                                             "/job:localhost/replica:0/task:0/device:CPU:2147483647",
                                             "/job:worker/replica:0/task:1000000/device:CPU:0"};
  BOOST_TEST(runtime.devices() == expected);
}

BOOST_AUTO_TEST_CASE(more_devices_than_allowed_are_refused_by_name) {
  std::vector<std::string> devices, tasks;
  for (int i = 0; i < 64; ++i) {
    devices.push_back("/device:CPU:" + std::to_string(i));
    tasks.push_back("/job:worker/task:" + std::to_string(i));
  }
  BOOST_TEST(tasks_of(on_devices(devices)).ok());
  devices.push_back("/device:CPU:64");
  for (const auto& many : {devices, tasks}) {
    const Status status = tasks_of(on_devices(many)).status();
    BOOST_TEST((status.code() == Code::ResourceExhausted));
    BOOST_TEST(
        status.message().find(many.back() + " the graph uses more than 64 devices") != std::string::npos,
        status.message());
  }
  BOOST_TEST(tasks_of(on_devices(devices), 65).ok());
}

BOOST_AUTO_TEST_CASE(nodes_that_share_a_device_are_assigned_together) {
  Graph graph = spread();
  assign_tasks(graph, {"/job:ps/task:0", "/job:worker/task:0"});
  BOOST_TEST(graph.find("set")->device == "/job:ps/task:0");
  BOOST_TEST(graph.find("v")->device == "/job:ps/task:0");
  BOOST_TEST(graph.find("other")->device == "/job:worker/task:0");
  BOOST_TEST(!graph.find("one")->device.empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(golden_differences)

BOOST_AUTO_TEST_CASE(floats_are_compared_within_their_tolerance) {
  const Tensor expected = Tensor::vector<float>({100, NAN, INFINITY});
  BOOST_TEST(difference(Tensor::vector<float>({101, NAN, INFINITY}), expected, {0.01, 0}).empty());
  BOOST_TEST(difference(Tensor::vector<float>({101, NAN, INFINITY}), expected, {0, 1}).empty());
  BOOST_TEST(!difference(Tensor::vector<float>({101.1f, NAN, INFINITY}), expected, {0.01, 0}).empty());
  BOOST_TEST(!difference(Tensor::vector<float>({100, 0, INFINITY}), expected, {1, 1}).empty());
  BOOST_TEST(!difference(Tensor::vector<float>({100, NAN, 1e30f}), expected, {1, 1e38}).empty());
  BOOST_TEST(!difference(Tensor::vector<float>({100, NAN, -INFINITY}), expected, {1, 1e38}).empty());
}

BOOST_AUTO_TEST_CASE(everything_else_must_be_equal) {
  BOOST_TEST(says(
      difference(Tensor::of<int32_t>(Shape{1, 2}, {1, 2}), Tensor::of<int32_t>(Shape{1, 2}, {1, 3}), {1, 1}),
      "[0,1] is 2, expected 3"));
  BOOST_TEST(
      says(difference(Tensor::scalar(1.0f), Tensor::scalar(1.0), {1, 1}), "is float[], expected double[]"));
  BOOST_TEST(says(difference(Tensor::vector<float>({1}), Tensor::scalar(1.0f), {1, 1}),
                  "is float[1], expected float[]"));
  BOOST_TEST(says(difference(Tensor::scalar(std::string("a")), Tensor::scalar(std::string("b")), {}), "'a'"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::golden::golden_case_test
