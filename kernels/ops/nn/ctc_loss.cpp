// CTCLoss(inputs, labels_indices, labels_values, sequence_length): for each sequence of a batch, the negative logarithm of the
// probability of its labels under connectionist temporal classification (Graves et al. 2006), and the gradient by the inputs.
// inputs [time, batch, classes] are logits; the last class is the blank. The labels are a sparse matrix [batch, positions] without
// its shape, its positions in order. As in TensorFlow, a label that is not less than the blank ends a sequence, even one that no
// class has; what follows it must do so, too. Sequence b has the first sequence_length[b] steps; the gradient of the others is 0.
// Float or double; computed in double, with logarithms of probabilities.
//   preprocess_collapse_repeated         equal neighbouring labels count as one
//   ctc_merge_repeated                   if false, equal labels at neighbouring steps are different labels
//   ignore_longer_outputs_than_inputs    the loss and gradient of a sequence with more labels than steps are 0, else it is an error
// A sequence that its steps cannot express has an infinite loss; its gradient is then the softmax. Fails with InvalidArgument for a
// sequence without labels, for labels outside the batch or out of order, for a negative label, for a label after the end of a
// sequence, and for a sequence_length outside [0, time]. An empty batch is refused. The loss has no second derivative.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/scratch.h"
#include "kernels/loops/strided_copy.h"

namespace troupe {
namespace {

// ---- Checks

Status ctc_loss_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto inputs, context.with_rank(0, 3));
  TROUPE_ASSIGN(const auto indices, context.with_rank(1, 2));
  TROUPE_ASSIGN(const auto values, context.with_rank(2, 1));
  TROUPE_ASSIGN(const auto lengths, context.with_rank(3, 1));
  TROUPE_RETURN_IF_FAILED(merge(indices, PartialShape{values[0], 2}).status());
  TROUPE_ASSIGN(const auto batch, merge(lengths, PartialShape{inputs[1]}));
  context.set_output(0, batch);
  context.set_output(1, PartialShape{inputs[0], batch[0], inputs[2]});
  return {};
}

struct CtcLossArguments {
  const Tensor &inputs, &indices, &values, &lengths;
  Tensor &loss, &gradient;
  bool collapses, merges, ignores_longer;

  size_t time() const { return static_cast<size_t>(inputs.shape()[0]); }
  size_t batch() const { return static_cast<size_t>(inputs.shape()[1]); }
  size_t classes() const { return static_cast<size_t>(inputs.shape()[2]); }
};

Result<CtcLossArguments> check_ctc_loss(KernelContext& context) {
  const Tensor &inputs = context.input(0), &indices = context.input(1), &values = context.input(2),
               &lengths = context.input(3);
  const Shape &shape = inputs.shape(), &positions = indices.shape();
  if (shape.rank() != 3 || shape[2] < 1 || shape[2] > int64_t{INT32_MAX})
    return invalid_argument("inputs has shape " + shape.text() +
                            "; it must have shape [time, batch, classes]");
  if (shape[1] == 0) return invalid_argument("inputs of shape " + shape.text() + " is an empty batch");
  if (!(lengths.shape() == Shape::vector(shape[1])))
    return invalid_argument("sequence_length has shape " + lengths.shape().text() + "; it must have shape [" +
                            std::to_string(shape[1]) + "]");
  if (positions.rank() != 2 || positions[1] != 2 || !(values.shape() == Shape::vector(positions[0])))
    return invalid_argument("labels_indices has shape " + positions.text() + " and labels_values has shape " +
                            values.shape().text() + "; they must have shapes [labels, 2] and [labels]");
  TROUPE_ASSIGN(Tensor* const loss, context.output(0, lengths.shape()));
  TROUPE_ASSIGN(Tensor* const gradient, context.output(1, shape));
  const auto flag = [&](const char* attr) { return context.node().attrs.get<bool>(attr); };
  return CtcLossArguments{inputs,
                          indices,
                          values,
                          lengths,
                          *loss,
                          *gradient,
                          flag("preprocess_collapse_repeated"),
                          flag("ctc_merge_repeated"),
                          flag("ignore_longer_outputs_than_inputs")};
}

// ---- Labels

/// The labels of one sequence, in the order of the sparse matrix.
using Labels = std::vector<int32_t>;

std::string sequence_text(size_t b) { return "sequence " + std::to_string(b); }

/// Returns the labels of each sequence of the batch.
Result<std::vector<Labels>> labels_of(const CtcLossArguments& arguments) {
  const auto indices = arguments.indices.as<int64_t>();
  const auto values = arguments.values.as<int32_t>();
  std::vector<Labels> labels(arguments.batch());
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t b = indices[2 * i], at = indices[2 * i + 1];
    const std::string position =
        "labels_indices[" + std::to_string(i) + "] = [" + std::to_string(b) + "," + std::to_string(at) + "]";
    if (b < 0 || std::cmp_greater_equal(b, labels.size()) || at < 0)
      return invalid_argument(position + " is outside a batch of " + std::to_string(labels.size()) +
                              " sequences");
    if (i > 0 && std::pair(b, at) <= std::pair(indices[2 * i - 2], indices[2 * i - 1]))
      return invalid_argument(position + " does not come after the position before it");
    labels[static_cast<size_t>(b)].push_back(values[i]);
  }
  return labels;
}

/// Returns the labels before the end of sequence b, with the blank before, between and after them. The first one is
/// labels_values[first].
Result<Labels> with_blanks(const CtcLossArguments& arguments, size_t b, size_t first, const Labels& labels) {
  const auto blank = static_cast<int32_t>(arguments.classes() - 1);
  const auto refused = [&](size_t i, const char* what) {
    return invalid_argument(
        "labels_values[" + std::to_string(first + i) + "] = " + std::to_string(labels[i]) + " of " +
        sequence_text(b) + ' ' + what + "; a label must be in [0, " + std::to_string(blank) +
        "), or at least the blank, which is " + std::to_string(blank) + ", to end the sequence");
  };
  if (labels.empty()) return invalid_argument(sequence_text(b) + " has no labels");
  Labels result{blank};
  bool ended = false;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (arguments.collapses && i > 0 && labels[i] == labels[i - 1]) continue;
    if (labels[i] < 0) return refused(i, "is negative");
    if (labels[i] < blank && ended) return refused(i, "comes after the end of the sequence");
    ended |= labels[i] >= blank;
    if (ended) continue;
    result.push_back(labels[i]);
    result.push_back(blank);
  }
  return result;
}

/// The labels of the sequences that have steps, with blanks; empty for the others.
Result<std::vector<Labels>> prepared_labels(const CtcLossArguments& arguments) {
  TROUPE_ASSIGN(std::vector<Labels> labels, labels_of(arguments));
  const auto lengths = arguments.lengths.as<int32_t>();
  size_t first = 0;  // of the labels of a sequence
  for (size_t b = 0; b < labels.size(); ++b) {
    if (lengths[b] < 0 || std::cmp_greater(lengths[b], arguments.time()))
      return invalid_argument("sequence_length[" + std::to_string(b) + "] is " + std::to_string(lengths[b]) +
                              "; it must be in [0, " + std::to_string(arguments.time()) + "]");
    TROUPE_ASSIGN(Labels expanded, with_blanks(arguments, b, first, labels[b]));
    first += labels[b].size();
    const bool is_longer = std::cmp_greater(labels[b].size(), lengths[b]);
    if (is_longer && !arguments.ignores_longer)
      return invalid_argument(sequence_text(b) + " has " + std::to_string(labels[b].size()) + " labels and " +
                              std::to_string(lengths[b]) +
                              " steps; ignore_longer_outputs_than_inputs allows more labels than steps");
    labels[b] = is_longer ? Labels{} : std::move(expanded);
  }
  return labels;
}

// ---- One sequence

constexpr double log_zero = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a == log_zero) return b;
  if (b == log_zero) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

/// Computes the loss and the gradient of one sequence of at least one step. alpha(t, u) is the logarithm of the probability that
/// the steps up to t express the labels up to u, of which the last at step t; beta(t, u) that of the steps after t to express the
/// rest.
template <class T>
class Sequence {
 public:
  Sequence(const CtcLossArguments& arguments, size_t b, const Labels& labels)
      : labels_(labels), merges_(arguments.merges),
        steps_(static_cast<size_t>(arguments.lengths.as<int32_t>()[b])), classes_(arguments.classes()),
        stride_(arguments.batch() * classes_), inputs_(arguments.inputs.as<T>().data() + b * classes_),
        gradient_(arguments.gradient.template write<T>().data() + b * classes_), logs_(steps_) {}

  size_t states() const { return labels_.size(); }
  size_t steps() const { return steps_; }

  /// `alpha` has steps() times states() elements.
  T run(double* alpha) {
    for (size_t t = 0; t < steps_; ++t) find_log_of_sum(t);
    find_alpha(alpha);
    const double* const last = alpha + (steps_ - 1) * states();
    const double total = states() == 1 ? last[0] : log_add(last[states() - 1], last[states() - 2]);
    find_gradient(alpha, total);
    return static_cast<T>(-total);
  }

 private:
  const T* row(size_t t) const { return inputs_ + t * stride_; }
  /// The logarithm of the probability of the class of state u at step t.
  double log_y(size_t t, size_t u) const {
    return static_cast<double>(row(t)[static_cast<size_t>(labels_[u])]) - logs_[t];
  }
  void find_log_of_sum(size_t t) {
    const T* const x = row(t);
    const double greatest = *std::max_element(x, x + classes_);
    double sum = 0;
    for (size_t c = 0; c < classes_; ++c) sum += std::exp(static_cast<double>(x[c]) - greatest);
    logs_[t] = greatest + std::log(sum);
  }
  bool may_stay(size_t u) const { return merges_ || u % 2 == 0; }
  /// Returns whether state u may follow state u - 2.
  bool may_skip_to(size_t u) const {
    return u % 2 == 1 && u > 1 && !(merges_ && labels_[u] == labels_[u - 2]);
  }

  void find_alpha(double* alpha) const {
    std::fill_n(alpha, states(), log_zero);
    for (size_t u = 0; u < std::min<size_t>(states(), 2); ++u) alpha[u] = log_y(0, u);
    for (size_t t = 1; t < steps_; ++t) {
      const double* const before = alpha + (t - 1) * states();
      double* const now = alpha + t * states();
      for (size_t u = 0; u < states(); ++u) {
        double sum = may_stay(u) ? before[u] : log_zero;
        if (u > 0) sum = log_add(sum, before[u - 1]);
        if (may_skip_to(u)) sum = log_add(sum, before[u - 2]);
        now[u] = sum == log_zero ? log_zero : sum + log_y(t, u);
      }
    }
  }
  /// Replaces beta(t + 1) by beta(t).
  void step_back(size_t t, std::vector<double>& beta) const {
    for (size_t u = 0; u < states(); ++u)
      if (beta[u] != log_zero) beta[u] += log_y(t + 1, u);
    for (size_t u = 0; u < states(); ++u) {  // only reads states that are not yet replaced
      double sum = may_stay(u) ? beta[u] : log_zero;
      if (u + 1 < states()) sum = log_add(sum, beta[u + 1]);
      if (u + 2 < states() && may_skip_to(u + 2)) sum = log_add(sum, beta[u + 2]);
      beta[u] = sum;
    }
  }
  /// gradient(t, c) = softmax(t, c) - the probability that the class of step t is c, given the labels.
  void find_gradient(const double* alpha, double total) {
    std::vector<double> beta(states(), log_zero), expected(classes_);
    for (size_t u = states() - std::min<size_t>(states(), 2); u < states(); ++u) beta[u] = 0;
    for (size_t t = steps_; t-- > 0;) {
      if (t + 1 < steps_) step_back(t, beta);
      std::ranges::fill(expected, 0.0);
      for (size_t u = 0; u < states() && total != log_zero; ++u)
        expected[static_cast<size_t>(labels_[u])] += std::exp(alpha[t * states() + u] + beta[u] - total);
      for (size_t c = 0; c < classes_; ++c)
        gradient_[t * stride_ + c] =
            static_cast<T>(std::exp(static_cast<double>(row(t)[c]) - logs_[t]) - expected[c]);
    }
  }

  const Labels& labels_;
  bool merges_;
  size_t steps_, classes_, stride_;
  const T* inputs_;
  T* gradient_;
  std::vector<double> logs_;  ///< the logarithm of the sum of the exponentials of each step
};

// ---- The batch

template <class T>
Result<T> loss_of(const CtcLossArguments& arguments, DeviceContext& device, size_t b, const Labels& labels) {
  if (labels.empty()) return T{0};
  Sequence<T> sequence(arguments, b, labels);
  int64_t count = 0;
  if (__builtin_mul_overflow(sequence.steps(), sequence.states(), &count))
    return invalid_argument(sequence_text(b) + " is too long");
  TROUPE_ASSIGN(Tensor alpha, scratch_vector<double>(device, count));
  return sequence.run(alpha.write<double>().data());
}

Status compute_ctc_loss(const CtcLossArguments& arguments, DeviceContext& device) {
  TROUPE_ASSIGN(const std::vector<Labels> labels, prepared_labels(arguments));
  fill(device.pool(), arguments.gradient);
  std::vector<Status> status(labels.size());
  const size_t cost = arguments.time() * arguments.classes() * 64;
  with_type(FloatTypes{}, arguments.inputs.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto loss = arguments.loss.write<T>();
    parallel_rows(device.pool(), labels.size(), cost, [&](size_t begin, size_t end) {
      for (size_t b = begin; b < end; ++b) {
        const auto result = loss_of<T>(arguments, device, b, labels[b]);
        status[b] = result.status();
        if (result) loss[b] = *result;
      }
    });
  });
  for (const Status& one : status) TROUPE_RETURN_IF_FAILED(one);
  return {};
}

/// The gradient that the op computed, times that of the loss of its sequence.
void ctc_loss_gradient(GradientContext& context) {
  if (!context.has_gradient(0)) return;
  const Scope& scope = context.scope();
  const Output own = scope.add_one("PreventGradient", {context.output(1)},
                                   {{"message", std::string("CTCLoss has no second derivative")}});
  context.set(0, mul(scope, own, expand_dims(scope, context.gradient(0), -1)));
}

}  // namespace

void add_ctc_loss(OpLibrary& library) {
  library.op(
      OpDefBuilder("CTCLoss")
          .input("inputs: T")
          .input("labels_indices: int64")
          .input("labels_values: int32")
          .input("sequence_length: int32")
          .output("loss: T")
          .output("gradient: T")
          .attr("preprocess_collapse_repeated: bool = false")
          .attr("ctc_merge_repeated: bool = true")
          .attr("ignore_longer_outputs_than_inputs: bool = false")
          .attr("T: {float, double} = float")
          .constructor("ctc_loss(inputs, labels_indices, labels_values, sequence_length, "
                       "preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs)")
          .shape(ctc_loss_shape)
          .gradient(ctc_loss_gradient));
  library.kernel(cpu_kernel("CTCLoss", check_ctc_loss, compute_ctc_loss));
}

}  // namespace troupe
