// Files in steps: what is written is read and found, and only under the roots.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "actors/runtime.h"
#include "actors/step/session.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::files_steps_test {
namespace {

struct Fixture {
  test::TemporaryFolder folder;
  Runtime runtime{{.threads = 2, .roots = {folder.path()}}};
  Graph graph{runtime.ops()};
  Scope g{graph};

  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  Output text(const std::string& value) { return g.constant(Tensor::scalar(value)); }
  Output write(const std::string& path, const std::string& contents) {
    return {g.add("WriteFile", {text(path), text(contents)}), Output::control};
  }
  Output read(const std::string& path) { return g.add_one("ReadFile", {text(path)}); }
  Output find(const Tensor& patterns) { return g.add_one("MatchingFiles", {g.constant(patterns)}); }
  Code code(Output output) {
    Session session = runtime.session(graph);
    return test::failure_of([&] { session.run({output}); }).code();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(files_steps, Fixture)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_and_found) {
  const std::string content("a\0\n\xff", 4);
  const Output in = write(path("x/y/b.txt"), content), empty = write(path("x/y/a.txt"), "");
  const Output out = read(path("x/y/b.txt")), nothing = read(path("x/y/a.txt"));
  const Output found = find(Tensor::scalar(path("x/*/*.txt")));
  Session session = runtime.session(graph);
  BOOST_TEST(session.run({found}).at(0).elements() == 0);
  session.run({in, empty});
  session.run({in});  // replaces it
  BOOST_TEST(session.run({out}).at(0).item<std::string>() == content);
  BOOST_TEST(session.run({nothing}).at(0).item<std::string>().empty());
  const std::vector<std::string> paths = {path("x/y/a.txt"), path("x/y/b.txt")};
  BOOST_TEST(identical(session.run({found}).at(0), Tensor::vector(std::span(paths))));
}

BOOST_AUTO_TEST_CASE(the_paths_of_several_patterns_are_in_one_order) {
  const Output in = write(path("b"), ""), other = write(path("a"), "");
  const Output found = find(Tensor::vector<std::string>({path("b*"), path("?"), path("none")}));
  const Output none = find(Tensor::of<std::string>(Shape{0}, std::span<const std::string>()));
  Session session = runtime.session(graph);
  session.run({in, other});
  const std::vector<std::string> paths = {path("a"), path("b"), path("b")};
  BOOST_TEST(identical(session.run({found}).at(0), Tensor::vector(std::span(paths))));
  BOOST_TEST(session.run({none}).at(0).elements() == 0);
}

BOOST_AUTO_TEST_CASE(failures_say_why) {
  std::filesystem::create_directory(path("folder"));
  folder.write("file", "x");
  BOOST_TEST((code(read(path("none"))) == Code::NotFound));
  BOOST_TEST((code(read(path("folder"))) == Code::FailedPrecondition));
  BOOST_TEST((code(write(path("folder"), "x")) == Code::FailedPrecondition));
  BOOST_TEST((code(write(path("file/x"), "x")) == Code::FailedPrecondition));
  for (const std::string outside : {"/etc/hostname", "/troupe"}) {
    BOOST_TEST((code(read(outside)) == Code::PermissionDenied));
    BOOST_TEST((code(write(outside, "x")) == Code::PermissionDenied));
    BOOST_TEST((code(find(Tensor::scalar(outside + "*"))) == Code::PermissionDenied));
  }
  BOOST_TEST((code(read(path("folder/../file"))) == Code::PermissionDenied));
}

// The shapes are not known when the graph is built.
BOOST_AUTO_TEST_CASE(inputs_of_a_wrong_shape_are_refused) {
  const auto fed = [&] {
    return g.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", PartialShape()}});
  };
  const Output x = fed(), y = fed();
  const Tensor one = Tensor::scalar(path("a")), many = Tensor::vector<std::string>({path("a")});
  const Output out = g.add_one("ReadFile", {x}), found = g.add_one("MatchingFiles", {x});
  const Output in{g.add("WriteFile", {x, y}), Output::control};
  Session session = runtime.session(graph);
  const auto refused = [&](const std::vector<std::pair<Output, Tensor>>& feeds, Output fetch) {
    return test::failure_of([&] { session.run(feeds, {fetch}); }).code() == Code::InvalidArgument;
  };
  BOOST_TEST(refused({{x, many}}, out));
  BOOST_TEST(refused({{x, many}, {y, one}}, in));
  BOOST_TEST(refused({{x, one}, {y, many}}, in));
  BOOST_TEST(refused({{x, many.reshaped(Shape{1, 1})}}, found));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::files_steps_test
