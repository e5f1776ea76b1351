// Runs graphs of TensorFlow for session.py. Messages on standard input and output begin with their length; each request has an id,
// which its answer repeats. Every request has a thread of its own, so that a step may wait for another.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "actors/runtime.h"
#include "apps/interop/read_graph.h"

namespace troupe {
namespace {

struct In {
  std::string bytes;
  size_t at = 0;
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  std::string text() {
    const auto n = number<uint64_t>();
    std::string value = bytes.substr(at, n);
    at += n;
    return value;
  }
};

struct Out {
  std::string bytes;
  template <class T>
  void number(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number<uint64_t>(value.size());
    bytes.append(value);
  }
};

Tensor read_tensor(In& in) {
  const auto dtype = static_cast<DType>(in.number<uint8_t>());
  std::vector<int64_t> dims(in.number<uint8_t>());
  for (auto& dim : dims) dim = in.number<int64_t>();
  Tensor tensor = value_or_throw(Tensor::allocate(dtype, value_or_throw(Shape::make(dims, dtype))));
  if (dtype == DType::String) {
    for (auto& element : tensor.write<std::string>()) element = in.text();
  } else {
    const std::string data = in.text();
    if (data.size() != tensor.bytes())
      throw Error(internal("driver: the bytes that are fed do not fit the shape"));
    std::memcpy(tensor.mutable_data(), data.data(), data.size());
  }
  return tensor;
}

void write_tensor(const Tensor& tensor, Out& out) {
  if (is_local(tensor.dtype())) throw Error(unimplemented("driver: fetches a handle"));
  out.number(static_cast<uint8_t>(tensor.dtype()));
  out.number(static_cast<uint8_t>(tensor.shape().rank()));
  for (const int64_t dim : tensor.shape().dims()) out.number(dim);
  if (tensor.dtype() == DType::String)
    for (const auto& element : tensor.as<std::string>()) out.text(element);
  else
    out.text({reinterpret_cast<const char*>(tensor.data()), tensor.bytes()});
}

/// A session, and the graph that grows with that of TensorFlow's session. Its random numbers differ from those of other sessions,
/// but are the same in each run of a test: their seed is the id of the session.
class Opened {
 public:
  Opened(size_t cpus, Placement placement, uint64_t seed)
      : runtime({.threads = 1, .tasks = {{"localhost", 0, static_cast<int>(cpus)}}}), graph(runtime.ops()),
        session(runtime.session(graph, {.seed = seed, .placement = placement})) {}

  /// Makes the graph equal to this one: adds new nodes, and changes the inputs of nodes that have others now.
  void load(const std::string& def) {
    constexpr uint64_t constant_bytes = uint64_t{1} << 33;  // a test has a constant of 2 GiB
    const Graph read =
        value_or_throw(interop::read_graph_def(def, graph.ops(), {.constant_bytes = constant_bytes}));
    const std::unique_lock lock(growing, std::chrono::seconds(3));
    if (!lock) throw Error(unimplemented("driver: the graph grows while a step runs"));
    std::vector<NodeId> ids;
    auto next = static_cast<NodeId>(graph.size());
    for (const Node& node : read.nodes()) {
      const Node* const known = graph.find(node.name);
      ids.push_back(known ? known->id : next++);
    }
    std::vector<Node> known;
    for (const Node& node : read.nodes()) {
      Node moved = node;
      for (auto& input : moved.inputs) input.node = ids[input.node];
      for (auto& input : moved.control_inputs) input = ids[input];
      if (graph.find(node.name))
        known.push_back(std::move(moved));
      else
        graph.append(std::move(moved));
    }
    for (const Node& node : known) update_inputs(node);
    for (const auto& [name, node] : read.absent().nodes())
      if (!graph.absent().contains(name)) graph.note_absent(name, node);
  }

  Runtime runtime;
  Graph graph;
  Session session;
  std::shared_timed_mutex growing;
  std::mutex runs_mutex;
  std::vector<PartialRun> runs;  ///< the partial runs so far, guarded by runs_mutex

 private:
  /// Gives a node of the graph the inputs of its new form.
  void update_inputs(const Node& form) {
    const NodeId id = graph.find(form.name)->id;
    const std::vector<Output> inputs = graph.node(id).inputs;
    const std::vector<NodeId> controls = graph.node(id).control_inputs;
    for (size_t i = 0; i < inputs.size() && i < form.inputs.size(); ++i)
      if (inputs[i] != form.inputs[i]) throw_if_failed(graph.replace_input(id, i, form.inputs[i]));
    for (const NodeId source : form.control_inputs)
      if (std::ranges::find(controls, source) == controls.end())
        throw_if_failed(graph.add_control_input(id, source));
  }
};

/// The standard output; what ops print there goes to the standard error output instead.
const int answers = [] {
  const int output = ::dup(STDOUT_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return output;
}();
std::mutex answering, opened_mutex;
std::map<uint64_t, std::shared_ptr<Opened>> sessions;

void write_all(const char* data, size_t n) {
  while (n > 0) {
    const ssize_t wrote = ::write(answers, data, n);
    if (wrote <= 0) std::_Exit(0);
    data += wrote;
    n -= static_cast<size_t>(wrote);
  }
}

void answer(const Out& out) {
  const std::lock_guard lock(answering);
  const uint64_t n = out.bytes.size();
  write_all(reinterpret_cast<const char*>(&n), sizeof n);
  write_all(out.bytes.data(), n);
}

std::shared_ptr<Opened> find(uint64_t session) {
  const std::lock_guard lock(opened_mutex);
  const auto at = sessions.find(session);
  if (at == sessions.end()) throw Error(cancelled("driver: the session is closed"));
  return at->second;
}

std::vector<std::pair<Output, Tensor>> read_feeds(In& in, const Graph& graph) {
  std::vector<std::pair<Output, Tensor>> feeds;
  for (auto n = in.number<uint32_t>(); n > 0; --n) {
    const Output fed = value_or_throw(graph.find_output(in.text()));
    feeds.emplace_back(fed, read_tensor(in));
  }
  return feeds;
}

std::vector<Output> read_outputs(In& in, const Graph& graph) {
  std::vector<Output> outputs;
  for (auto n = in.number<uint32_t>(); n > 0; --n)
    outputs.push_back(value_or_throw(graph.find_output(in.text())));
  return outputs;
}

void read_targets(In& in, const Graph& graph, std::vector<Output>& outputs) {
  for (auto n = in.number<uint32_t>(); n > 0; --n)
    outputs.push_back(value_or_throw(graph.find_target(in.text())));
}

Out written(const std::vector<Tensor>& tensors) {
  Out out;
  out.number(static_cast<uint32_t>(tensors.size()));
  for (const Tensor& tensor : tensors) write_tensor(tensor, out);
  return out;
}

Out run(In& in) {
  const auto opened = find(in.number<uint64_t>());
  const auto milliseconds = in.number<uint64_t>();
  const std::shared_lock lock(opened->growing);
  const auto feeds = read_feeds(in, opened->graph);
  auto fetches = read_outputs(in, opened->graph);
  read_targets(in, opened->graph, fetches);
  return written(opened->session.run(feeds, fetches, {.timeout = std::chrono::milliseconds(milliseconds)}));
}

Out set_up(In& in) {
  const auto opened = find(in.number<uint64_t>());
  const auto milliseconds = in.number<uint64_t>();
  const std::shared_lock lock(opened->growing);
  const auto feeds = read_outputs(in, opened->graph);
  auto fetches = read_outputs(in, opened->graph);
  read_targets(in, opened->graph, fetches);
  const PartialRun run =
      opened->session.partial_run_setup(feeds, fetches, {.timeout = std::chrono::milliseconds(milliseconds)});
  Out out;
  const std::lock_guard lock_runs(opened->runs_mutex);
  opened->runs.push_back(run);
  out.number(static_cast<uint64_t>(opened->runs.size()));
  return out;
}

Out proceed(In& in) {
  const auto opened = find(in.number<uint64_t>());
  const auto number = in.number<uint64_t>();
  const std::shared_lock lock(opened->growing);
  const PartialRun run = [&] {
    const std::lock_guard lock_runs(opened->runs_mutex);
    return opened->runs.at(number - 1);
  }();
  const auto feeds = read_feeds(in, opened->graph);
  return written(opened->session.partial_run(run, feeds, read_outputs(in, opened->graph)));
}

Out handle(uint8_t kind, In& in) {
  switch (kind) {
    case 'O': {
      const auto id = in.number<uint64_t>();
      const auto cpus = in.number<uint32_t>();
      const bool soft = in.number<uint8_t>() != 0;
      auto opened = std::make_shared<Opened>(cpus, soft ? Placement::Soft : Placement::Strict, id);
      const std::lock_guard lock(opened_mutex);
      sessions[id] = std::move(opened);
      return {};
    }
    case 'L': {
      const auto opened = find(in.number<uint64_t>());
      opened->load(in.text());
      return {};
    }
    case 'R': return run(in);
    case 'S': return set_up(in);
    case 'P': return proceed(in);
    default: {  // 'C'
      const auto id = in.number<uint64_t>();
      const auto opened = find(id);
      {
        const std::lock_guard lock(opened_mutex);
        sessions.erase(id);
      }
      opened->session.close(std::chrono::seconds(5));
      const std::unique_lock lock(opened->growing, std::chrono::seconds(5));
      return {};
    }
  }
}

void serve(In in) {
  const auto id = in.number<uint64_t>();
  const auto kind = in.number<uint8_t>();
  Out out;
  out.number(id);
  try {
    const Out result = handle(kind, in);
    out.number<uint8_t>(0);
    out.bytes += result.bytes;
  } catch (const Error& error) {
    const Status& status = error.status();
    out.number(static_cast<uint8_t>(status.code()));
    out.text(status.text());
    out.text(status.op());
    out.text(status.node());
    out.text(status.message());
  } catch (const std::exception& error) {
    out.number<uint8_t>(255);
    for (int i = 0; i < 4; ++i) out.text(std::string("C++ exception: ") + error.what());
  }
  answer(out);
}

bool read_all(char* data, size_t n) {
  while (n > 0) {
    const ssize_t got = ::read(0, data, n);
    if (got <= 0) return false;
    data += got;
    n -= static_cast<size_t>(got);
  }
  return true;
}

void serve_all() {
  for (uint64_t n = 0; read_all(reinterpret_cast<char*>(&n), sizeof n);) {
    In in{std::string(n, '\0')};
    if (!read_all(in.bytes.data(), n)) break;
    std::thread(serve, std::move(in)).detach();
  }
}

}  // namespace
}  // namespace troupe

int main() {
  troupe::serve_all();
  std::_Exit(0);  // without waiting for steps
}
