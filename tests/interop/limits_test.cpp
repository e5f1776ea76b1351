// Files made to take time or memory, and files cut off anywhere: a Status, before much was taken.
#include <boost/test/unit_test.hpp>

#include "apps/interop/write_graph.h"
#include "tests/interop/graph_file.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::limits_test {
namespace {

void check_refused(std::string_view bytes, const std::string& message,
                   const interop::GraphLimits& limits = {}) {
  const std::string refused = refusal(bytes, limits);
  BOOST_TEST(refused.find(message) != std::string::npos, refused << " does not say: " << message);
}

/// A field that holds bytes: below 16, and fewer than 2^14 of them.
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  if (bytes.size() < 128) return out + static_cast<char>(bytes.size()) + bytes;
  return out + static_cast<char>(bytes.size() % 128 | 128) + static_cast<char>(bytes.size() / 128) + bytes;
}

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

/// x, then Neg of the one before; a node at the beginning waits for the end.
Graph chain(size_t length) {
  Graph graph(op_library()->ops);
  const NodeId end = value_or_throw(graph.add({"end", "NoOp", {}, {}, {}, {}, {}}));
  NodeId last = value_or_throw(
      graph.add({"x", "Placeholder", {{"dtype", f32}, {"shape", PartialShape{2}}}, {}, {}, {}, {}}));
  for (size_t i = 1; i < length; ++i)
    last = value_or_throw(graph.add({"layer/neg_" + std::to_string(i), "Neg", {}, {{last, 0}}, {}, {}, {}}));
  throw_if_failed(graph.add_control_input(end, last));
  return graph;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(ten_million_nodes) {
  check_refused(repeated(field(1, ""), 10'000'000), "limit nodes = 2097152 is exceeded");
  check_refused(repeated(field(1, ""), 101), "limit nodes = 100 is exceeded", {.nodes = 100});
  check_refused(field(2, repeated(field(1, repeated(field(3, ""), 51)), 2)), "limit nodes = 100 is exceeded",
                {.nodes = 100});
  check_refused(repeated(node("x", "NoOp"), 101), "limit nodes = 100 is exceeded", {.nodes = 100});
}

BOOST_AUTO_TEST_CASE(bytes_and_fields) {
  const std::string graph = interop::write_graph_def(chain(10), interop::Format::Binary);
  check_refused(graph, "limit bytes = 100 is exceeded", {.bytes = 100});
  check_refused(graph, "limit fields = 20 is exceeded", {.fields = 20});
  check_refused(repeated("#", 101), "limit text_bytes = 100 is exceeded", {.text_bytes = 100});
  // Dimensions of a shape: two bytes in the file, many in memory.
  check_refused(field(1, field(5, field(2, field(7, repeated(field(2, ""), 1000))))), "limit fields = 500",
                {.fields = 500});
}

BOOST_AUTO_TEST_CASE(outputs) {
  const std::string x = node("x", "Placeholder", "", attr("dtype", "type: DT_FLOAT"));
  check_refused(
      x + node("a", "Unpack", "x", attr("num", "i: 60")) + node("b", "Unpack", "x", attr("num", "i: 60")),
      "[Unpack] b: limit outputs = 100 is exceeded", {.outputs = 100});
}

BOOST_AUTO_TEST_CASE(nesting) {
  // list(func) of an attribute of a func of an attribute of ...
  std::string value;
  for (int i = 0; i < 1000; ++i) value = field(10, field(2, field(2, value).substr(0, 16000)));
  check_refused(field(1, field(1, "x") + field(2, "NoOp") + field(5, field(1, "a") + field(2, value))),
                "nested too deeply");
  check_refused("node { attr { value { " + repeated("func { attr { value { ", 1000), "line 1, column ");
  check_refused(repeated("\x13", 100'000), "cut off or damaged");  // groups
}

BOOST_AUTO_TEST_CASE(a_small_graph_cut_anywhere) {
  const std::string bytes = interop::write_graph_def(chain(4), interop::Format::Binary);
  for (size_t length = 1; length < bytes.size(); ++length) {
    const auto graph = read(std::string_view(bytes).substr(0, length));
    const bool no_versions = length == bytes.size() - 4;
    BOOST_TEST(graph.ok() == no_versions, "of length " << length);
    if (!graph && length > 40)
      BOOST_TEST(
          (!graph.status().node().empty() || graph.status().text().find("after node") != std::string::npos),
          graph.status().message());
  }
}

BOOST_AUTO_TEST_CASE(a_big_graph_cut_at_every_page) {
  const std::string bytes = interop::write_graph_def(chain(4000), interop::Format::Binary);
  for (size_t length = 4096; length < bytes.size(); length += 4096)
    check_refused(std::string_view(bytes).substr(0, length), " node '");
}

BOOST_AUTO_TEST_CASE(every_byte_changed) {
  const std::string bytes = interop::write_graph_def(chain(4), interop::Format::Binary);
  for (size_t i = 0; i < bytes.size(); ++i)
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(value);
      BOOST_TEST(!read(damaged).status().message().empty());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::limits_test
