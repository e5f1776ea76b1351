// CTCBeamSearchDecoder(inputs, sequence_length): of each sequence of a batch the top_paths most probable sequences of classes,
// found by a beam search that keeps beam_width of them at every step (Graves 2012, "Supervised Sequence Labelling with Recurrent
// Neural Networks", section 7.5). `inputs` [time, batch, classes] are logits; the blank is the last class. Sequence b has the first
// sequence_length[b] steps. Path i is the sparse matrix number i of the outputs [batch, longest sequence]; log_probability [batch,
// top_paths] is that of the softmax of the logits. With merge_repeated, equal neighbouring classes of a path are written once.
// Float or double. Fails with InvalidArgument for an input without classes, a sequence_length outside [0, time], and where a
// sequence has fewer paths than top_paths; with ResourceExhausted where a beam of more than 2^16 sequences would be needed. Not
// differentiable.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/nn/ctc_paths.h"

namespace troupe {
namespace {

constexpr size_t most_sequences = size_t{1} << 16;  ///< in a beam
constexpr double never = -std::numeric_limits<double>::infinity();

/// Returns log(exp(a) + exp(b)).
double log_sum(double a, double b) {
  const double most = std::max(a, b);
  return most == never ? never : most + std::log1p(std::exp(std::min(a, b) - most));
}

/// The logarithms of the probabilities that the steps so far spell the sequence of a node: in all, and those whose last step is a
/// blank or the last class.
struct Probability {
  double total = never, blank = never, label = never;
};

/// A sequence of classes, as the path from the root of a tree. A node is alive while it is in the beam.
struct BeamNode {
  BeamNode* parent = nullptr;
  int64_t label = -1;
  Probability before, now;
  std::map<int64_t, std::unique_ptr<BeamNode>> children = {};

  bool alive() const { return now.total != never; }
  /// Returns null if the sequence has not been in the beam.
  BeamNode* find_child(int64_t next) const {
    const auto found = children.find(next);
    return found == children.end() ? nullptr : found->second.get();
  }
  BeamNode& make_child(int64_t next) {
    auto& made = children[next] = std::make_unique<BeamNode>();
    made->parent = this;
    made->label = next;
    return *made;
  }
};

/// The nodes with the greatest probabilities; of equal ones the earlier. One thread.
class Beam {
 public:
  explicit Beam(size_t width) : width_(width) {}

  /// Whether a node of this probability would be kept.
  bool takes(double total) const {
    return total > never && (entries_.size() < width_ || total > entries_.front().total);
  }
  /// Adds a node; if the beam is full, the least probable one dies.
  void add(BeamNode& node) {
    entries_.push_back({&node, node.now.total, ++last_});
    std::ranges::push_heap(entries_, Entry::is_before);
    if (entries_.size() <= width_) return;
    std::ranges::pop_heap(entries_, Entry::is_before);
    entries_.back().node->now = {};
    entries_.pop_back();
  }
  /// Removes all nodes and returns them, the most probable one first.
  std::vector<BeamNode*> take() {
    std::ranges::sort_heap(entries_, Entry::is_before);
    std::vector<BeamNode*> nodes;
    for (const Entry& entry : std::exchange(entries_, {})) nodes.push_back(entry.node);
    return nodes;
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    BeamNode* node;
    double total;
    uint64_t order;  ///< in which nodes were added
    static bool is_before(const Entry& a, const Entry& b) {
      return a.total > b.total || (a.total == b.total && a.order < b.order);
    }
  };
  const size_t width_;
  std::vector<Entry> entries_;  ///< a heap, whose first node is the least probable
  uint64_t last_ = 0;
};

/// The search over one sequence. One thread.
class BeamSearch {
 public:
  BeamSearch(size_t width, int64_t classes)
      : beam_(std::min(width, most_sequences)), is_limited_(width > most_sequences), blank_(classes - 1) {
    root_.now = {0, 0, never};
    beam_.add(root_);
  }

  /// Takes the logits of the next step. Returns false if the beam would become too large.
  template <class T>
  bool step(std::span<const T> logits) {
    take_log_softmax(logits);
    const std::vector<BeamNode*> nodes = beam_.take();
    for (BeamNode* const node : nodes) node->before = node->now;
    for (BeamNode* const node : nodes) {
      stay(*node);
      beam_.add(*node);
    }
    for (BeamNode* const node : nodes)
      if (beam_.takes(node->before.total))
        for (int64_t c = 0; c < blank_; ++c) grow(*node, c);
    return !is_limited_ || beam_.size() < most_sequences;
  }

  /// Ends the search. Returns the sequences in the beam, the most probable one first.
  std::vector<BeamNode*> take_best() { return beam_.take(); }

 private:
  template <class T>
  void take_log_softmax(std::span<const T> logits) {
    logs_.assign(logits.begin(), logits.end());
    const double greatest = *std::ranges::max_element(logs_);
    double sum = 0;
    for (const double logit : logs_) sum += std::exp(logit - greatest);
    for (double& logit : logs_) logit -= greatest + std::log(sum);
  }
  double log_of(int64_t label) const { return logs_[static_cast<size_t>(label)]; }

  /// The sequence stays the same in this step: by a blank, by its last class again, or because that class follows its parent.
  void stay(BeamNode& node) const {
    if (node.parent) {
      if (node.parent->alive())
        node.now.label = log_sum(node.now.label, before_label(*node.parent, node.label));
      node.now.label += log_of(node.label);
    }
    node.now.blank = node.before.total + log_of(blank_);
    node.now.total = log_sum(node.now.blank, node.now.label);
  }

  /// The sequence becomes longer by a class in this step.
  void grow(BeamNode& node, int64_t label) {
    BeamNode* const known = node.find_child(label);
    if (known && known->alive()) return;
    const double total = log_of(label) + before_label(node, label);
    if (!beam_.takes(total)) {
      // As in TensorFlow: a sequence that left the beam in this step and cannot come back does not grow.
      if (known) known->before = {};
      return;
    }
    BeamNode& child = known ? *known : node.make_child(label);
    child.now = {total, never, total};
    beam_.add(child);
  }

  /// Returns the probability of the sequence of a node before another class comes: the same class again needs a blank between.
  static double before_label(const BeamNode& node, int64_t label) {
    return node.label == label ? node.before.blank : node.before.total;
  }

  BeamNode root_;
  Beam beam_;
  const bool is_limited_;  ///< whether the beam is smaller than was asked for
  const int64_t blank_;
  std::vector<double> logs_;  ///< of the softmax of this step
};

/// Returns the classes on the path from the root to a node.
std::vector<int64_t> classes_of(const BeamNode& node, bool merges) {
  std::vector<int64_t> classes;
  for (const BeamNode* at = &node; at->parent; at = at->parent)
    if (!merges || classes.empty() || at->label != classes.back()) classes.push_back(at->label);
  std::ranges::reverse(classes);
  return classes;
}

struct BeamArguments {
  const Tensor &inputs, &lengths;
  Tensor& log_probability;
  size_t width;
  bool merges;
  std::vector<DecodedPath> paths;  ///< their sequences are set by the measurement
};

Status check_width(const Node& node) {
  const int64_t width = node.attrs.get<int64_t>("beam_width"), paths = node.attrs.get<int64_t>("top_paths");
  if (paths <= width) return {};
  return invalid_argument("top_paths is " + std::to_string(paths) +
                          "; it must be at most beam_width, which is " + std::to_string(width));
}

Status beam_search_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(check_width(context.node()));
  TROUPE_ASSIGN(const auto batch, decoder_batch(context));
  const auto paths = context.attr<int64_t>("top_paths");
  for (size_t i = 0; i < static_cast<size_t>(paths); ++i) {
    context.set_output(i, PartialShape{unknown_dim, 2});
    context.set_output(i + static_cast<size_t>(paths), PartialShape{unknown_dim});
    context.set_output(i + 2 * static_cast<size_t>(paths), PartialShape{2});
  }
  context.set_output(3 * static_cast<size_t>(paths), PartialShape{batch[0], paths});
  return {};
}

Result<BeamArguments> check_beam_search(KernelContext& context) {
  const Attributes& attrs = context.node().attrs;
  TROUPE_RETURN_IF_FAILED(check_decoder_inputs(context));
  const Tensor& inputs = context.input(0);
  const auto paths = attrs.get<int64_t>("top_paths");
  TROUPE_ASSIGN(Tensor* const log_probability,
                context.output(3 * static_cast<size_t>(paths), Shape{inputs.shape()[1], paths}));
  return BeamArguments{inputs,
                       context.input(1),
                       *log_probability,
                       static_cast<size_t>(attrs.get<int64_t>("beam_width")),
                       attrs.get<bool>("merge_repeated"),
                       std::vector<DecodedPath>(static_cast<size_t>(paths))};
}

enum class Found : uint8_t { All, TooFewPaths, TooManySequences };

/// Decodes sequence b.
template <class T>
Found search(BeamArguments& arguments, size_t b, int32_t steps) {
  const auto batch = static_cast<size_t>(arguments.inputs.shape()[1]);
  const auto classes = static_cast<size_t>(arguments.inputs.shape()[2]);
  const auto logits = arguments.inputs.as<T>();
  BeamSearch search(arguments.width, static_cast<int64_t>(classes));
  for (size_t t = 0; t < static_cast<size_t>(steps); ++t)
    if (!search.step(logits.subspan((t * batch + b) * classes, classes))) return Found::TooManySequences;
  const auto best = search.take_best();
  if (best.size() < arguments.paths.size()) return Found::TooFewPaths;
  for (size_t i = 0; i < arguments.paths.size(); ++i) {
    arguments.paths[i].sequences[b] = classes_of(*best[i], arguments.merges);
    arguments.log_probability.write<T>()[b * arguments.paths.size() + i] = static_cast<T>(best[i]->now.total);
  }
  return Found::All;
}

Status measure_beam_search(BeamArguments& arguments, DeviceContext& device) {
  TROUPE_RETURN_IF_FAILED(check_lengths(arguments.inputs, arguments.lengths));
  const auto lengths = arguments.lengths.as<int32_t>();
  for (DecodedPath& path : arguments.paths) path.sequences.assign(lengths.size(), {});
  std::vector<Found> found(lengths.size(), Found::All);
  const size_t width = std::min(arguments.width, most_sequences);
  const size_t cost = width * arguments.inputs.bytes() / std::max<size_t>(lengths.size(), 1);
  with_type(FloatTypes{}, arguments.inputs.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_rows(device.pool(), lengths.size(), cost, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b) found[b] = search<T>(arguments, b, lengths[b]);
    });
  });
  const auto failed = std::ranges::find_if(found, [](Found one) { return one != Found::All; });
  if (failed == found.end()) return {};
  const std::string sequence = "sequence " + std::to_string(failed - found.begin());
  if (*failed == Found::TooFewPaths)
    return invalid_argument(sequence +
                            " has fewer paths than top_paths = " + std::to_string(arguments.paths.size()));
  return resource_exhausted(sequence + " needs a beam of more than " + std::to_string(most_sequences) +
                            " sequences, which beam_width = " + std::to_string(arguments.width) +
                            " allows; a smaller beam_width is needed");
}

Status allocate_paths(BeamArguments& arguments, KernelContext& context) {
  for (size_t i = 0; i < arguments.paths.size(); ++i)
    TROUPE_RETURN_IF_FAILED(allocate_path(arguments.paths[i], context, i, arguments.paths.size()));
  return {};
}

void write_paths(const BeamArguments& arguments, DeviceContext&) {
  std::ranges::for_each(arguments.paths, write_path);
}

}  // namespace

void add_ctc_beam_search(OpLibrary& library) {
  library.op(OpDefBuilder("CTCBeamSearchDecoder")
                 .input("inputs: T")
                 .input("sequence_length: int32")
                 .output("decoded_indices: top_paths * int64")
                 .output("decoded_values: top_paths * int64")
                 .output("decoded_shape: top_paths * int64")
                 .output("log_probability: T")
                 .attr("beam_width: int >= 1")
                 .attr("top_paths: int >= 1")
                 .attr("merge_repeated: bool = true")
                 .attr("T: {float, double} = float")
                 .shape(beam_search_shape)
                 .not_differentiable());
  library.kernel(measured_cpu_kernel("CTCBeamSearchDecoder", check_beam_search, measure_beam_search,
                                     allocate_paths, write_paths));
}

}  // namespace troupe
