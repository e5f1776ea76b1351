#include "graph/passes/partition/partition.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "graph/passes/partition/spread_constants.h"
#include "graph/passes/subgraph.h"
#include "tests/graph/toy_graph.h"

namespace troupe::partition_test {
namespace {

using testing::says;
using testing::ToyGraph;

std::vector<DeviceInfo> devices_named(std::vector<std::string> names) {
  std::vector<DeviceInfo> devices;
  for (const std::string& name : names) devices.push_back({value_or_throw(DeviceName::parse(name)), 7, 0});
  return devices;
}

const std::vector<DeviceInfo>& cluster() {
  static const auto devices =
      devices_named({"/job:worker/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:GPU:0",
                     "/job:ps/replica:0/task:0/device:CPU:0"});
  return devices;
}
constexpr DeviceId a = 0, gpu = 1, b = 2;

/// Places the nodes named here on b, and all others on a.
std::vector<DeviceId> on_b(const ToyGraph& g, const std::vector<std::string>& names) {
  std::vector<DeviceId> device(g.graph().size(), a);
  for (const std::string& name : names) device[g.id(name)] = b;
  return device;
}

std::vector<Partition> split(const ToyGraph& g, std::vector<DeviceId> device) {
  return value_or_throw(partition(g.graph(), std::move(device), cluster()));
}

const Partition& part(const std::vector<Partition>& parts, DeviceId device) {
  return *std::find_if(parts.begin(), parts.end(), [&](const Partition& p) { return p.device == device; });
}

std::vector<const Node*> of_type(const Partition& partition, std::string_view type) {
  std::vector<const Node*> found;
  for (const Node& node : partition.graph.nodes())
    if (node.type() == type) found.push_back(&node);
  return found;
}

const Node& only(const Partition& partition, std::string_view type) {
  const auto found = of_type(partition, type);
  BOOST_REQUIRE_EQUAL(found.size(), 1);
  return *found[0];
}

std::string input(const Partition& partition, const std::string& node, size_t i = 0) {
  return partition.graph.name_of(partition.graph.find(node)->inputs[i]);
}

std::set<std::string> controls(const Graph& graph, const Node& node) {
  std::set<std::string> names;
  for (const NodeId control : node.control_inputs) names.insert(graph.node(control).name);
  return names;
}

using Names = std::set<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(partitions)

BOOST_AUTO_TEST_CASE(one_device_is_left_as_it_is) {
  ToyGraph g;
  g.op("y", "Neg", {g.constant("x", 1)});
  const auto parts = split(g, on_b(g, {}));
  BOOST_REQUIRE(parts.size() == 1);
  BOOST_TEST(parts[0].graph.size() == 2);
  BOOST_TEST((parts[0].origin == std::vector<NodeId>{0, 1}));
}

// x -> y, z on b, and the end of x -^-> w on b: there is one pair for the tensor and one for the control edge.
BOOST_AUTO_TEST_CASE(one_pair_serves_all_consumers) {
  ToyGraph g;
  const Output x = g.constant("x", 1), y = g.op("y", "Neg", {x});
  g.op("z", "Add", {x, y});
  g.constant("w", 2, {x.node});
  g.constant("v", 3, {x.node});
  const auto parts = split(g, on_b(g, {"y", "z", "w", "v"}));
  const Partition &from = part(parts, a), &to = part(parts, b);
  BOOST_TEST(of_type(from, "_Send").size() == 2);
  BOOST_TEST(of_type(to, "_Recv").size() == 2);

  const Node& send = *of_type(from, "_Send")[0];
  const Node& recv = *of_type(to, "_Recv")[0];
  for (const Node* end : {&send, &recv}) {
    BOOST_TEST(end->attrs.get<std::string>("tensor_name") == "edge_0_x");
    BOOST_TEST(end->attrs.get<std::string>("send_device") == "/job:worker/replica:0/task:0/device:CPU:0");
    BOOST_TEST(end->attrs.get<std::string>("recv_device") == "/job:ps/replica:0/task:0/device:CPU:0");
    BOOST_TEST(end->attrs.get<int64_t>("send_device_incarnation") == 7);
  }
  BOOST_TEST(to.graph.shape({recv.id, 0}).text() == "[]");
  BOOST_TEST(input(to, "y") == recv.name + ":0");
  BOOST_TEST(input(to, "z") == recv.name + ":0");
  BOOST_TEST(input(to, "z", 1) == "y:0");

  // The control edge becomes an empty constant after x, a Send, a Recv and an Identity.
  const Node& signal_send = *of_type(from, "_Send")[1];
  const Node& signal = from.graph.node(signal_send.inputs[0].node);
  BOOST_TEST(signal.attrs.get<Tensor>("value").elements() == 0);
  BOOST_TEST((controls(from.graph, signal) == Names{"x"}));
  const Node& identity = only(to, "Identity");
  BOOST_TEST((identity.inputs[0].node == of_type(to, "_Recv")[1]->id));
  for (const char* name : {"w", "v"})
    BOOST_TEST((controls(to.graph, *to.graph.find(name)) == Names{identity.name}));
}

BOOST_AUTO_TEST_CASE(feeds_and_fetches_keep_their_positions) {
  ToyGraph g;
  const Output x = g.placeholder("x"), y = g.placeholder("y"), z = g.op("z", "Add", {x, y});
  const Subgraph cut = value_or_throw(cut_subgraph(g.graph(), {{x, y}, {z, x.node == 0 ? z : x}, {}}));
  std::vector<DeviceId> device(cut.graph.size(), a);
  device[cut.graph.find("_arg_1_y")->id] = b;
  device[cut.graph.find("_retval_1_z")->id] = b;
  const auto parts = value_or_throw(partition(cut.graph, device, cluster()));
  const Partition &on_a = part(parts, a), &on_other = part(parts, b);
  BOOST_TEST(of_type(on_a, "_Retval").empty());
  BOOST_REQUIRE(on_a.feeds.size() == 1);
  BOOST_TEST(on_a.feeds[0].position == 0);
  BOOST_TEST(on_a.graph.name_of(on_a.feeds[0].output) == "_arg_0_x:0");
  BOOST_REQUIRE(on_a.fetches.size() == 1);
  BOOST_TEST(on_a.graph.name_of(on_a.fetches[0].output) == "z:0");
  BOOST_REQUIRE(on_other.feeds.size() == 1);
  BOOST_TEST(on_other.feeds[0].position == 1);
  BOOST_REQUIRE(on_other.fetches.size() == 1);
  BOOST_TEST(on_other.fetches[0].position == 1);
  BOOST_TEST(on_other.graph.node(on_other.fetches[0].output.node).type() == "_Recv");
}

// On a GPU: shape (on the host) -> exp (on the device), and two more; x is sent from the CPU to both memories.
BOOST_AUTO_TEST_CASE(memory_on_one_device) {
  ToyGraph g;
  const Output x = g.placeholder("x"), shape = g.op("shape", "Shape", {x}), exp = g.op("exp", "Exp", {shape});
  g.op("not_moved", "AddOnHost", {shape, shape});
  g.op("power", "Pow", {exp, shape});
  g.op("reader", "AddOnHost", {x, x});
  std::vector<DeviceId> device(g.graph().size(), gpu);
  device[x.node] = a;
  const auto parts = split(g, device);
  const Partition& on_gpu = part(parts, gpu);
  const Node& send = only(on_gpu, "_HostSend");
  BOOST_TEST(on_gpu.graph.node(send.inputs[0].node).name == "shape");
  const Node& exp_input = on_gpu.graph.node(on_gpu.graph.find("exp")->inputs[0].node);
  BOOST_TEST(exp_input.type() == "_Recv");
  BOOST_TEST((controls(on_gpu.graph, exp_input) == Names{send.name}));
  BOOST_TEST(input(on_gpu, "not_moved") == "shape:0");
  BOOST_TEST(input(on_gpu, "power", 1) == exp_input.name + ":0");
  // From the CPU there is one pair for each kind of memory.
  const auto sends = of_type(part(parts, a), "_Send");
  BOOST_TEST(sends.size() == 2);
  BOOST_TEST(
      std::ranges::count_if(sends, [](const Node* to) { return to->attrs.get<bool>("recv_on_host"); }) == 1);
  BOOST_TEST(on_gpu.graph.node(on_gpu.graph.find("reader")->inputs[0].node).type() == "_HostRecv");
  BOOST_TEST(on_gpu.graph.node(on_gpu.graph.find("shape")->inputs[0].node).type() == "_Recv");
}

// On a GPU: arithmetic with int32 is done on the host, and what passes on its input leaves it there.
BOOST_AUTO_TEST_CASE(shapes_stay_on_the_host) {
  ToyGraph g;
  const Output x = g.placeholder("x"), shape = g.op("shape", "Shape", {x}), neg = g.op("neg", "Neg", {shape});
  g.op("reader", "AddOnHost", {g.op("passed_on", "Identity", {neg}), shape});
  const auto parts = split(g, std::vector<DeviceId>(g.graph().size(), gpu));
  BOOST_TEST(parts.size() == 1u);
  for (const char* type : {"_Send", "_HostSend", "_Recv", "_HostRecv"})
    BOOST_TEST(of_type(parts[0], type).empty(), type);
}

// A source that the host needs stays there, and the device gets a copy, also of what passes it on.
BOOST_AUTO_TEST_CASE(sources_lie_where_the_host_takes_them) {
  ToyGraph g;
  const Output x = g.constant("x", 1), same = g.op("same", "Identity", {x});
  g.op("on_device", "Exp", {same});
  g.op("on_host", "AddOnHost", {same, same});
  const auto parts = split(g, std::vector<DeviceId>(g.graph().size(), gpu));
  BOOST_TEST(input(parts[0], "on_host") == "same:0");
  const Node& sent = parts[0].graph.node(only(parts[0], "_HostSend").inputs[0].node);
  BOOST_TEST(sent.name == "same");
  BOOST_TEST(input(parts[0], "on_device") == only(parts[0], "_Recv").name + ":0");
}

// On a CPU and a GPU: one goes to a node on the CPU, to two in the memory of the GPU, and to one on the GPU that takes it on the
// host.
BOOST_AUTO_TEST_CASE(each_memory_has_its_own_constants) {
  ToyGraph g;
  const Output one = g.constant("one", 1);
  g.op("here", "Neg", {one});
  g.op("there", "Neg", {one});
  g.op("also_there", "Neg", {one});
  g.op("on_host", "AddOnHost", {one, one});
  std::vector<DeviceId> device(g.graph().size(), gpu);
  device[one.node] = device[g.id("here")] = a;
  throw_if_failed(spread_constants(g.graph(), device, cluster()));
  BOOST_TEST(device.size() == g.graph().size());
  const auto constant_of = [&](const char* reader, size_t i = 0) {
    return g.graph().node(g.id(reader)).inputs[i].node;
  };
  BOOST_TEST(device[constant_of("here")] == a);
  BOOST_TEST(device[constant_of("there")] == gpu);
  BOOST_TEST(constant_of("also_there") == constant_of("there"));
  BOOST_TEST(device[constant_of("on_host")] == gpu);
  BOOST_TEST(constant_of("on_host") != constant_of("there"));
  for (const Partition& partition : split(g, device)) {
    BOOST_TEST(of_type(partition, "_Send").empty());
    BOOST_TEST(of_type(partition, "_HostSend").empty());
  }
}

// A feed is where the nodes that take it expect it, without being sent.
BOOST_AUTO_TEST_CASE(feeds_are_where_they_are_taken) {
  ToyGraph g;
  const Output x = g.placeholder("x"), y = g.placeholder("y");
  const Output neg = g.op("neg", "Neg", {x}), sum = g.op("sum", "AddOnHost", {y, y});
  const Subgraph cut = value_or_throw(cut_subgraph(g.graph(), {{x, y}, {neg, sum}, {}}));
  const std::vector<Partition> parts =
      value_or_throw(partition(cut.graph, std::vector<DeviceId>(cut.graph.size(), gpu), cluster()));
  BOOST_TEST_REQUIRE(parts.size() == 1u);
  BOOST_TEST(of_type(parts[0], "_HostSend").empty());
  BOOST_TEST(of_type(parts[0], "_Send").empty());
}

// v on b is read on a, by early and, after an update, by late. One value is pushed for all that may read at any time.
// The other is sent in answer to a request, which is made when the update and the other input of late have arrived.
BOOST_AUTO_TEST_CASE(late_reads_of_variables) {
  ToyGraph g;
  const Output v = g.variable("v"), one = g.constant("one", 1);
  g.op("early", "Neg", {v});
  g.op("also_early", "Add", {v, one});
  const Output update = g.op("update", "AssignAdd", {v, g.constant("delta", 1)});
  const Output other = g.op("other", "Neg", {one});
  g.op("late", "Add", {v, other}, {update.node});
  const auto parts = split(g, on_b(g, {"v", "update", "delta"}));
  const Partition &reader = part(parts, a), &owner = part(parts, b);
  BOOST_TEST(input(reader, "early") == input(reader, "also_early"));
  BOOST_TEST(input(reader, "late") != input(reader, "early"));
  const Node& recv = reader.graph.node(reader.graph.find("late")->inputs[0].node);
  const Node& done = only(reader, "Identity");
  BOOST_TEST((controls(reader.graph, recv) == Names{"other", done.name}));
  BOOST_TEST((controls(reader.graph, *reader.graph.find("late")) == Names{done.name}));
  const Node& announce = only(owner, "_RefSend");
  BOOST_TEST(announce.expects_ref[0]);
  BOOST_TEST(announce.attrs.get<std::string>("tensor_name") == recv.attrs.get<std::string>("tensor_name"));
  BOOST_TEST(of_type(owner, "_Send").size() == 2);  // the pushed value, and the end of the update
}

// while (x < limit) x = -x, the body's Neg on b
struct Loop {
  ToyGraph g;
  Output enter, limit, merge, less, cond, branch, neg, next, exit;

  explicit Loop(bool with_cond = true) {
    enter = g.enter("enter", g.constant("x", 1), "loop");
    limit = g.enter("limit", g.constant("ten", 10), "loop", true);
    merge = g.loop_merge("merge", enter);
    less = g.op("less", "Less", {merge, limit});
    cond = g.op("cond", with_cond ? "LoopCond" : "Not", {less});
    branch = g.op("branch", "Switch", {merge, cond});
    neg = g.op("neg", "Neg", {{branch.node, 1}});
    next = g.op("next", "NextIteration", {neg});
    exit = g.op("exit", "Exit", {branch});
    g.close(merge, next);
  }
};

BOOST_AUTO_TEST_CASE(a_loop_on_two_devices) {
  Loop loop;
  const auto parts = split(loop.g, on_b(loop.g, {"neg"}));
  const Partition &own = part(parts, a), &other = part(parts, b);
  // b has Const -> Enter -> Merge -> Switch(predicate) -> NextIteration, and two Recvs that start in every iteration.
  const Node& merge = only(other, "Merge");
  const Node& enter = only(other, "Enter");
  BOOST_TEST(other.graph.node(enter.inputs[0].node).type() == "Const");
  BOOST_TEST(enter.attrs.get<std::string>("frame_name") == "loop");
  BOOST_TEST(enter.attrs.get<int64_t>("parallel_iterations") == 10);
  const Node& steer = only(other, "Switch");
  BOOST_TEST((steer.inputs[0] == Output{merge.id, 0}));
  const Node& predicate = other.graph.node(steer.inputs[1].node);
  BOOST_TEST(predicate.attrs.get<std::string>("tensor_name").ends_with("_cond"));
  BOOST_TEST((only(other, "NextIteration").inputs[0] == Output{steer.id, 1}));
  BOOST_TEST((merge.inputs[1] == Output{only(other, "NextIteration").id, 0}));
  const auto receivers = of_type(other, "_Recv");
  BOOST_TEST(receivers.size() == 2);
  for (const Node* recv : receivers) BOOST_TEST((controls(other.graph, *recv) == Names{merge.name}));
  // a has a loop of its own, but needs the control loop, because what it receives must be requested in every iteration.
  BOOST_TEST(of_type(own, "_Recv").size() == 1);
  BOOST_TEST(of_type(own, "Merge").size() == 2);
  for (const Partition& each : parts) {
    const FrameInfo frames = value_or_throw(assign_frames(each.graph));
    BOOST_TEST(frames.frames.size() == 2);
  }
}

// A constant used inside the loop on b enters the loop there, once, so that it is not sent in every iteration.
BOOST_AUTO_TEST_CASE(invariants_enter_where_they_are_used) {
  Loop loop;
  ToyGraph& g = loop.g;
  const Output weight = g.enter("weight", g.constant("w", 2), "loop", true);
  g.op("local_user", "Mul", {weight, {loop.branch.node, 1}});
  g.op("remote_user", "Mul", {weight, loop.neg});
  const auto parts = split(g, on_b(g, {"neg", "remote_user"}));
  const Partition& other = part(parts, b);
  BOOST_TEST(input(other, "remote_user") == "weight:0");
  const Node& sent = other.graph.node(other.graph.find("weight")->inputs[0].node);
  BOOST_TEST(sent.attrs.get<std::string>("tensor_name").ends_with("_w"));
  BOOST_TEST(sent.control_inputs.empty());
}

BOOST_AUTO_TEST_CASE(control_flow_moves_to_what_it_steers) {
  Loop loop;
  // All of these request b, but only Less, Merge and the ops of b's own need to stay there.
  const auto parts = split(loop.g, on_b(loop.g, {"branch", "exit", "enter", "next"}));
  BOOST_TEST(parts.size() == 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_cut) {
  {
    Loop loop(false);
    const Status status = partition(loop.g.graph(), on_b(loop.g, {"neg"}), cluster()).status();
    BOOST_TEST(says(status, "[Enter] enter: frame 'loop' runs on several devices but has no LoopCond"));
  }
  {
    ToyGraph g;
    g.op("assign", "Assign", {g.variable("v"), g.constant("one", 1)});
    const Status status = partition(g.graph(), on_b(g, {"v"}), cluster()).status();
    BOOST_TEST(says(status, "[Assign] assign: input 0 is a reference or handle from v on another device"));
  }
  {
    ToyGraph g;
    const Output x = g.constant("x", 1);
    g.op("sum", "Add", {g.enter("enter", x, "loop"), x});
    BOOST_TEST(says(partition(g.graph(), on_b(g, {"x"}), cluster()).status(), "different frames"));
  }
}

BOOST_AUTO_TEST_CASE(tasks_get_their_partitions_together) {
  ToyGraph g;
  g.constant("x", 1);
  g.constant("y", 1);
  g.constant("z", 1);
  const auto parts = split(g, {a, gpu, b});
  const auto tasks = group_by_task(parts, cluster());
  BOOST_TEST(tasks.size() == 2);
  BOOST_TEST(tasks.at(value_or_throw(DeviceName::parse("/job:worker/replica:0/task:0"))).size() == 2);
}

namespace {

/// Makes a random graph without loops, and chooses a random device for each node.
std::pair<ToyGraph, std::vector<DeviceId>> random_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  ToyGraph g;
  std::vector<DeviceId> device;
  for (size_t i = 0; i < 40; ++i) {
    std::vector<NodeId> control;
    while (i > 0 && below(3) == 0) control.push_back(static_cast<NodeId>(below(i)));
    std::vector<Output> inputs;
    for (size_t n = i == 0 ? 0 : below(4); n != 0; --n) inputs.push_back({static_cast<NodeId>(below(i)), 0});
    const std::string name = "n" + std::to_string(i);
    if (inputs.empty())
      g.constant(name, 1, control);
    else
      g.op(name, "AddN", inputs, control);
    device.push_back(static_cast<DeviceId>(below(3)));
  }
  return {std::move(g), std::move(device)};
}

/// Returns the nodes that send what lies in the memory of their device, or on the host.
std::vector<const Node*> senders(const Partition& partition) {
  auto found = of_type(partition, "_Send");
  std::ranges::copy(of_type(partition, "_HostSend"), std::back_inserter(found));
  return found;
}

/// Returns the output of the whole graph from which an input of a partition's node comes, possibly through a Recv.
std::string origin_of(const std::vector<Partition>& parts, const Partition& mine, Output output) {
  const Node& node = mine.graph.node(output.node);
  if (node.type() != "_Recv") return mine.graph.name_of(output);
  for (const Partition& from : parts)
    for (const Node* send : senders(from))
      if (send->attrs.get<std::string>("tensor_name") == node.attrs.get<std::string>("tensor_name"))
        return from.graph.name_of(send->inputs[0]);
  return "nobody sends " + node.name;
}

}  // namespace

// Every edge arrives, directly or by one pair per source and destination. Every Send has one Recv, on the device that it names.
BOOST_AUTO_TEST_CASE(random_graphs_keep_their_edges) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto [g, device] = random_graph(seed);
    const auto parts = split(g, device);
    std::map<std::string, int> sends, recvs;
    std::set<std::tuple<std::string, std::string>> pairs;
    for (const Partition& mine : parts) {
      const std::string own_name = cluster()[mine.device].name.text();
      for (const Node* send : senders(mine)) {
        ++sends[send->attrs.get<std::string>("tensor_name")];
        BOOST_TEST(send->attrs.get<std::string>("send_device") == own_name);
        const auto& to = send->attrs.get<std::string>("recv_device");
        BOOST_TEST(pairs.emplace(mine.graph.name_of(send->inputs[0]), to).second);
      }
      for (const Node* recv : of_type(mine, "_Recv")) {
        ++recvs[recv->attrs.get<std::string>("tensor_name")];
        BOOST_TEST(recv->attrs.get<std::string>("recv_device") == own_name);
      }
      for (const Node& node : mine.graph.nodes()) {
        for (const Output& before : node.inputs) BOOST_TEST(before.node < node.id);
        for (const NodeId before : node.control_inputs) BOOST_TEST(before < node.id);
        if (mine.origin[node.id] == no_node) continue;
        const Node& original = g.graph().node(mine.origin[node.id]);
        BOOST_TEST(device[original.id] == mine.device);
        BOOST_REQUIRE(node.inputs.size() == original.inputs.size());
        for (size_t i = 0; i < node.inputs.size(); ++i)
          BOOST_TEST(origin_of(parts, mine, node.inputs[i]) == g.graph().name_of(original.inputs[i]));
        BOOST_TEST(node.control_inputs.size() == original.control_inputs.size());
      }
    }
    BOOST_TEST((sends == recvs));
    for (const auto& [name, n] : sends) BOOST_TEST(n == 1);
  }
}

BOOST_AUTO_TEST_CASE(equal_graphs_are_cut_equally) {
  const auto [g, device] = random_graph(3);
  const auto first = split(g, device), second = split(g, device);
  for (size_t i = 0; i < first.size(); ++i)
    for (NodeId id = 0; id < first[i].graph.size(); ++id) {
      BOOST_TEST(first[i].graph.node(id).name == second[i].graph.node(id).name);
      BOOST_TEST((first[i].graph.node(id).attrs == second[i].graph.node(id).attrs));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::partition_test
