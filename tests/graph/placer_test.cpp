#include "graph/passes/place/placer.h"

#include <boost/test/unit_test.hpp>

#include "tests/graph/toy_graph.h"

namespace troupe::placer_test {
namespace {

using testing::says;
using testing::ToyGraph;

/// Two tasks with one CPU each, and two GPUs on the worker
const std::vector<DeviceInfo>& cluster() {
  static const std::vector<DeviceInfo> devices = [] {
    std::vector<DeviceInfo> result;
    for (const char* name :
         {"/job:worker/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:0/device:CPU:0",
          "/job:worker/replica:0/task:0/device:GPU:1", "/job:worker/replica:0/task:0/device:GPU:0"})
      result.push_back({value_or_throw(DeviceName::parse(name)), 1, 0});
    return result;
  }();
  return devices;
}
constexpr DeviceId worker_cpu = 0, ps_cpu = 1, gpu_1 = 2, gpu_0 = 3;

/// Print, Random and Not have kernels for CPUs only, Split for GPUs only, and Cast has none.
bool has_kernel(const Node& node, std::string_view device_type) {
  const std::string& op = node.type();
  if (op == "Cast") return false;
  if (op == "Print" || op == "Random" || op == "Not") return device_type == "CPU";
  return op != "Split" || device_type == "GPU";
}

struct Placed {
  PlacementResult result;
  const ToyGraph& g;
  DeviceId operator[](const std::string& name) const { return result.device[g.id(name)]; }
};

Placed placed(const ToyGraph& g, const PlacementOptions& options = {}) {
  return {value_or_throw(place(g.graph(), cluster(), has_kernel, options)), g};
}

Status failure(const ToyGraph& g, const PlacementOptions& options = {}) {
  return place(g.graph(), cluster(), has_kernel, options).status();
}

PlacementOptions soft() {
  PlacementOptions options;
  options.requests = Placement::Soft;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(placer)

// Devices are ordered by type (GPU before CPU), then by name. So nearly all
// nodes run on GPU:0, and those without a kernel there on the first CPU.
BOOST_AUTO_TEST_CASE(first_of_the_sorted_devices) {
  ToyGraph g;
  const Output x = g.op("x", "Neg", {g.placeholder("p")});
  g.op("print", "Print", {x});
  const Placed at = placed(g);
  BOOST_TEST(at["x"] == gpu_0);
  BOOST_TEST(at["print"] == ps_cpu);
}

BOOST_AUTO_TEST_CASE(requests_may_be_partial) {
  ToyGraph g;
  const Output p = g.placeholder("p");
  g.on("/job:worker", "a", "Neg", {p});
  g.on("/device:GPU:1", "b", "Neg", {p});
  g.on("/job:worker/cpu:0", "c", "Neg", {p});
  g.on("/job:worker", "d", "Print", {p});
  const Placed at = placed(g);
  BOOST_TEST(at["a"] == gpu_0);
  BOOST_TEST(at["b"] == gpu_1);
  BOOST_TEST(at["c"] == worker_cpu);
  BOOST_TEST(at["d"] == worker_cpu);
}

// v (on ps) -ref-> assign -ref-> add; the Neg(v) called read may run elsewhere.
BOOST_AUTO_TEST_CASE(references_keep_together) {
  ToyGraph g;
  const Output v = g.variable("v", "/job:ps"), one = g.constant("one", 1);
  const Output assign = g.op("assign", "Assign", {v, one});
  g.op("add", "AssignAdd", {assign, one});
  g.op("read", "Neg", {v});
  const Placed at = placed(g);
  BOOST_TEST(at["v"] == ps_cpu);
  BOOST_TEST(at["assign"] == ps_cpu);
  BOOST_TEST(at["add"] == ps_cpu);
  BOOST_TEST(at["read"] == gpu_0);
  BOOST_TEST(at["one"] == ps_cpu);
}

// The requests of both ends of a reference edge count. If they conflict, that of the variable wins, and there is a note.
BOOST_AUTO_TEST_CASE(a_reference_overrides_its_consumers_request) {
  ToyGraph g;
  const Output one = g.constant("one", 1), v = g.variable("v"), w = g.variable("w", "/job:worker");
  g.on("/job:ps", "assign_v", "Assign", {v, one});
  g.on("/job:ps", "assign_w", "Assign", {w, one});
  const Output u = g.variable("u", "/job:worker");
  g.on("/job:worker/device:GPU:1", "assign_u", "Assign", {u, one});
  const Placed at = placed(g);
  BOOST_TEST(at["v"] == ps_cpu);
  BOOST_TEST(at["w"] == gpu_0);
  BOOST_TEST(at["assign_w"] == gpu_0);
  BOOST_TEST(at["u"] == gpu_1);  // the more specific request
  BOOST_REQUIRE(at.result.notes.size() == 1);
  BOOST_TEST(at.result.notes[0] ==
             "[Assign] assign_w: the requested device '/job:ps' is ignored, because the variable "
             "w is on '/job:worker'");
}

BOOST_AUTO_TEST_CASE(handles_keep_together) {
  ToyGraph g;
  const Output v =
      g.add("v", {"VarHandleOp", {}, {{"dtype", f32}, {"shape", PartialShape::scalar()}}, {}, "/job:ps", {}});
  g.add("read", {"ReadVariableOp", {v}, {{"dtype", f32}}, {}, "", {}});
  BOOST_TEST(placed(g)["read"] == ps_cpu);
}

// a <-colocated- b, c <-colocated- d on the worker's CPU; e and f name a node that was pruned.
BOOST_AUTO_TEST_CASE(colocation_groups) {
  ToyGraph g;
  const Output p = g.placeholder("p");
  g.on("/job:ps", "a", "Neg", {p});
  g.add("b", {"Neg", {p}, {}, {}, "", {"a"}});
  g.add("c", {"Neg", {p}, {}, {}, "", {"d"}});
  g.on("/job:worker/cpu:0", "d", "Neg", {p});
  g.add("e", {"Neg", {p}, {}, {}, "/gpu:1", {"gone"}});
  g.add("f", {"Neg", {p}, {}, {}, "", {"gone"}});
  const Placed at = placed(g);
  BOOST_TEST(at["b"] == ps_cpu);
  BOOST_TEST(at["c"] == worker_cpu);
  BOOST_TEST(at["f"] == gpu_1);
}

// A generator whose two consumers are on ps is placed with them; one with
// consumers on ps and worker is not. Shape is placed with its input.
BOOST_AUTO_TEST_CASE(generators_join_consumers_and_metadata_its_input) {
  ToyGraph g;
  const Output generator = g.constant("generator", 1), shared = g.constant("shared", 1);
  const Output random = g.add("random", {"Random", {}, {{"dtype", f32}}, {}, "", {}});
  const Output a = g.on("/job:ps", "a", "Neg", {generator});
  g.on("/job:ps", "b", "Add", {generator, shared});
  g.on("/job:worker/gpu:1", "c", "Add", {shared, random});
  g.op("shape", "Shape", {a});
  const Placed at = placed(g);
  BOOST_TEST(at["generator"] == ps_cpu);
  BOOST_TEST(at["shared"] == gpu_0);
  BOOST_TEST(at["random"] == ps_cpu);  // it has no kernel where its consumer is
  BOOST_TEST(at["shape"] == ps_cpu);
}

BOOST_AUTO_TEST_CASE(soft_placement_keeps_job_and_task) {
  ToyGraph g;
  const Output p = g.placeholder("p");
  g.on("/job:ps/device:GPU:0", "a", "Neg", {p});
  g.on("/job:worker/device:GPU:7", "b", "Neg", {p});
  g.on("/job:worker/device:GPU:0", "print", "Print", {p});
  const Placed at = placed(g, soft());
  BOOST_TEST(at["a"] == ps_cpu);
  BOOST_TEST(at["b"] == gpu_0);
  BOOST_TEST(at["print"] == worker_cpu);
  BOOST_TEST(at.result.notes.size() == 3);
  ToyGraph elsewhere;
  elsewhere.add("a", {"Placeholder", {}, {{"dtype", f32}}, {}, "/job:evaluator", {}});
  BOOST_TEST(says(failure(elsewhere, soft()), "the requested device '/job:evaluator' does not exist"));
}

// A node that has a device keeps it, and the nodes that must share its device follow, also when requests are soft.
BOOST_AUTO_TEST_CASE(assigned_nodes_stay) {
  ToyGraph g;
  const Output v = g.variable("v"), one = g.constant("one", 1);
  g.op("assign", "Assign", {v, one});
  std::vector<DeviceId> assigned(g.graph().size(), no_device);
  assigned[v.node] = worker_cpu;
  PlacementOptions options;
  options.assigned = assigned;
  BOOST_TEST(placed(g, options)["assign"] == worker_cpu);
  g.on("/gpu:0", "again", "Assign", {v, one});
  BOOST_TEST(placed(g, options)["again"] == worker_cpu);
  options.requests = Placement::Soft;
  BOOST_TEST(placed(g, options)["v"] == worker_cpu);
}

BOOST_AUTO_TEST_CASE(the_policy_chooses_among_candidates) {
  ToyGraph g;
  g.on("/job:worker", "a", "Neg", {g.placeholder("p")});
  PlacementOptions options;
  options.policy = [&](const Graph&, std::span<const DeviceInfo>, const PlacementGroups& groups) {
    std::vector<DeviceId> last;
    for (uint32_t group = 0; group < groups.members.size(); ++group)
      last.push_back(groups.devices(group).back());
    return last;
  };
  BOOST_TEST(placed(g, options)["a"] == worker_cpu);
}

BOOST_AUTO_TEST_CASE(failures_explain) {
  const auto p_on = [](ToyGraph& g) { return g.placeholder("p"); };
  {
    ToyGraph g;
    g.on("/device:GPU:7", "a", "Neg", {p_on(g)});
    BOOST_TEST(
        failure(g).message() ==
        "InvalidArgument: [Neg] a: the requested device '/device:GPU:7' does not exist; the devices are "
        "/job:worker/replica:0/task:0/device:GPU:0, /job:worker/replica:0/task:0/device:GPU:1, "
        "/job:ps/replica:0/task:0/device:CPU:0, /job:worker/replica:0/task:0/device:CPU:0");
  }
  {
    ToyGraph g;
    g.on("/device:FPGA:0", "a", "Neg", {p_on(g)});
    BOOST_TEST(says(failure(g), "'/device:FPGA:0' does not exist"));
  }
  {
    ToyGraph g;
    g.on("/job:", "a", "Neg", {p_on(g)});
    BOOST_TEST(says(failure(g), "[Neg] a: "));
  }
  {
    ToyGraph g;
    g.on("/gpu:0", "print", "Print", {p_on(g)});
    BOOST_TEST(
        says(failure(g), "[Print] print: the op has no kernel for '/device:GPU:0'; it has kernels for CPU"));
  }
  {
    ToyGraph g;
    g.add("cast", {"Cast", {p_on(g)}, {{"DstT", f64}}, {}, "", {}});
    BOOST_TEST(says(failure(g), "[Cast] cast: the op has no kernel for any type of device here (CPU, GPU)"));
  }
  {
    ToyGraph g;
    const Output p = p_on(g);
    g.on("/job:ps", "a", "Neg", {p});
    g.add("b", {"Neg", {p}, {}, {}, "/job:worker", {"a"}});
    BOOST_TEST(says(failure(g),
                    "[Neg] b: must be on the same device as a (colocation), but a requests '/job:ps' and b "
                    "requests '/job:worker'"));
  }
  {
    ToyGraph g;
    const Output p = p_on(g);
    g.op("a", "Print", {p});
    g.add("b", {"Split", {p}, {{"N", int64_t{1}}}, {}, "", {"a"}});
    BOOST_TEST(says(failure(g),
                    "[Split] b: must be on the same device as a (colocation), but it has kernels for "
                    "GPU, and a for CPU"));
  }
  {  // a requests the GPU, for which the other node has no kernel
    ToyGraph g;
    const Output p = p_on(g);
    g.on("/gpu:0", "a", "Neg", {p});
    g.add("b", {"Print", {p}, {}, {}, "", {"a"}});
    BOOST_TEST(says(failure(g),
                    "[Print] b: the op has no kernel for '/device:GPU:0', where it must run with a; it "
                    "has kernels for CPU"));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::placer_test
