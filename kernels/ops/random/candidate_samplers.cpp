// Candidates for losses over many classes (sampled softmax, noise-contrastive estimation): num_sampled classes out of [0,
// range_max), drawn with probability p(class), once each if `unique` is true.
//   UniformCandidateSampler        p = 1 / range_max
//   LogUniformCandidateSampler     p = log((class + 2) / (class + 1)) / log(range_max + 1): Zipf's law for classes by frequency
//   FixedUnigramCandidateSampler   p in proportion to unigrams[class - num_reserved_ids] ^ distortion, and 0 for the reserved
//                                  classes. Of several shards each draws the classes whose number modulo num_shards is `shard`. The
//                                  unigrams are an attribute; a vocab_file is refused.
//   LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler
//                                  p in proportion to 1 + how often the class was among the true classes of earlier runs. The
//                                  kernel of the node keeps the counts: a plan that is prepared anew begins without any, and steps
//                                  at once draw in the order in which they come
//   AllCandidateSampler            the classes 0 .. num_sampled - 1
// Outputs are the classes [num_sampled], and how often the true classes [batch, num_true] and the sampled ones are expected among
// them. For unique classes of which t draws were necessary, a class is expected 1 - (1 - p)^t times; otherwise, num_sampled p
// times.
//   ComputeAccidentalHits          the sampled candidates that are true classes of a row: row, position, and the least float, which
//                                  removes the candidate from the row's logits when it is added
#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/ops/random/generator.h"

namespace troupe {
namespace {

/// The distribution of one node. Any thread; a sampler that learns is used by one run at a time, which holds its lock.
class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual std::unique_lock<std::mutex> lock() const { return {}; }
  virtual void learn(std::span<const int64_t> /*classes*/) const {}
  virtual int64_t draw(Draws& draws) const = 0;
  virtual double probability(int64_t category) const = 0;
  /// Returns how many classes can be drawn, of `range` ones.
  virtual int64_t drawable(int64_t range) const { return range; }
};

class UniformSampler final : public Sampler {
 public:
  explicit UniformSampler(int64_t range) : range_(static_cast<double>(range)) {}
  int64_t draw(Draws& draws) const override { return static_cast<int64_t>(draws.uniform() * range_); }
  double probability(int64_t) const override { return 1 / range_; }

 private:
  const double range_;
};

class LogUniformSampler final : public Sampler {
 public:
  explicit LogUniformSampler(int64_t range) : range_(range), log_(std::log1p(static_cast<double>(range))) {}
  int64_t draw(Draws& draws) const override {
    return std::min(static_cast<int64_t>(std::exp(draws.uniform() * log_)) - 1, range_ - 1);
  }
  double probability(int64_t category) const override {
    return std::log1p(1 / (static_cast<double>(category) + 1)) / log_;
  }

 private:
  const int64_t range_;
  const double log_;
};

class UnigramSampler final : public Sampler {
 public:
  struct Shard {
    int64_t number, count;
  };
  UnigramSampler(const std::vector<float>& unigrams, int64_t reserved, double distortion, Shard shard)
      : shard_(shard) {
    const auto add = [&](int64_t category, double weight) {
      if (category % shard.count == shard.number)
        sums_.push_back((sums_.empty() ? 0 : sums_.back()) + weight);
    };
    for (int64_t i = 0; i < reserved; ++i) add(i, 0);
    for (size_t i = 0; i < unigrams.size(); ++i)
      add(reserved + static_cast<int64_t>(i), std::pow(double{unigrams[i]}, distortion));
  }
  int64_t drawable(int64_t) const override {
    if (sums_.empty() || !std::isfinite(sums_.back())) return 0;
    int64_t count = 0;
    double before = 0;
    for (const double sum : sums_) {
      if (sum > before) ++count;
      before = sum;
    }
    return count;
  }

  int64_t draw(Draws& draws) const override {
    const auto found = std::ranges::upper_bound(sums_, draws.uniform() * sums_.back());
    return (found - sums_.begin()) * shard_.count + shard_.number;
  }
  double probability(int64_t category) const override {
    const auto at = static_cast<size_t>(category / shard_.count);
    if (category < 0 || category % shard_.count != shard_.number || at >= sums_.size()) return 0;
    return (sums_[at] - (at == 0 ? 0 : sums_[at - 1])) / sums_.back();
  }

 private:
  const Shard shard_;
  std::vector<double> sums_;  ///< of the weights of the classes of the shard up to each one
};

/// Counts the true classes of earlier runs. A class that was never one takes no memory. The sums of the counts are a binary indexed
/// tree (Fenwick 1994), so that drawing and counting take time in the logarithm of the number of classes that were counted.
class LearningSampler final : public Sampler {
 public:
  explicit LearningSampler(int64_t range) : range_(range), total_(range) {}

  std::unique_lock<std::mutex> lock() const override { return std::unique_lock(mutex_); }

  int64_t draw(Draws& draws) const override {
    const auto scaled = static_cast<int64_t>(draws.uniform() * static_cast<double>(total_));
    const int64_t number = std::min(scaled, total_ - 1);  // as a double, a large total may be rounded up
    return number < range_ ? number : counted_[counted_at(number - range_)];
  }

  double probability(int64_t category) const override {
    if (!is_known(category)) return 0;
    const auto found = places_.find(category);
    const int64_t count = found == places_.end() ? 0 : counts_[found->second];
    return static_cast<double>(1 + count) / static_cast<double>(total_);
  }

  void learn(std::span<const int64_t> classes) const override {
    for (const int64_t category : classes) {
      if (!is_known(category) || total_ == std::numeric_limits<int64_t>::max()) continue;
      const auto [at, is_new] = places_.try_emplace(category, counted_.size());
      if (is_new) append(category);
      ++counts_[at->second];
      ++total_;
      for (size_t i = at->second + 1; i < sums_.size(); i += lowest_bit(i)) ++sums_[i];
    }
  }

 private:
  static size_t lowest_bit(size_t i) { return i & (~i + 1); }
  bool is_known(int64_t category) const { return category >= 0 && category < range_; }

  /// Returns the place whose counts, with those before it, are the first to exceed `number`.
  size_t counted_at(int64_t number) const {
    size_t at = 0;
    for (size_t step = std::bit_floor(counted_.size()); step > 0; step /= 2)
      if (at + step < sums_.size() && sums_[at + step] <= number) {
        at += step;
        number -= sums_[at];
      }
    return at;
  }
  /// Adds a class with count 0.
  void append(int64_t category) const {
    counted_.push_back(category);
    counts_.push_back(0);
    const size_t last = sums_.size(), first = last - lowest_bit(last);
    int64_t sum = 0;
    for (size_t i = last - 1; i > first; i -= lowest_bit(i)) sum += sums_[i];
    sums_.push_back(sum);
  }

  const int64_t range_;
  mutable std::mutex mutex_;
  // Under the mutex.
  mutable std::unordered_map<int64_t, size_t> places_;  ///< of the classes that were counted, in the next two
  mutable std::vector<int64_t> counted_, counts_;
  /// sums_[i]: of as many counts up to place i - 1 as the lowest bit of i says.
  mutable std::vector<int64_t> sums_{0};
  mutable int64_t total_;  ///< range_ and all counts; nothing is counted beyond the greatest integer
};

/// Fails with InvalidArgument unless true_classes is a matrix with num_true columns.
Status check_true_classes(const KernelContext& context) {
  const Shape& shape = context.input(0).shape();
  const int64_t count = context.node().attrs.get<int64_t>("num_true");
  if (shape.rank() == 2 && shape[1] == count) return {};
  return invalid_argument("true_classes of shape " + shape.text() +
                          " must be a matrix with num_true = " + std::to_string(count) + " columns");
}

struct CandidateArguments {
  const Tensor& classes;  ///< int64 [batch, num_true]
  Tensor &sampled, &expected_true, &expected_sampled;
  Philox philox;
};

Result<CandidateArguments> check_candidates(KernelContext& context) {
  const Node& node = context.node();
  const Tensor& classes = context.input(0);
  TROUPE_RETURN_IF_FAILED(check_true_classes(context));
  const Shape sampled{node.attrs.get<int64_t>("num_sampled")};
  TROUPE_ASSIGN(Tensor* const candidates, context.output(0, sampled));
  TROUPE_ASSIGN(Tensor* const expected_true, context.output(1, classes.shape()));
  TROUPE_ASSIGN(Tensor* const expected_sampled, context.output(2, sampled));
  return CandidateArguments{classes, *candidates, *expected_true, *expected_sampled, generator_of(context)};
}

/// Draws classes from a sampler; without one, takes the first ones.
class CandidateCompute {
 public:
  CandidateCompute(std::shared_ptr<const Sampler> sampler, bool unique)
      : sampler_(std::move(sampler)), unique_(unique) {}

  Status operator()(const CandidateArguments& arguments, DeviceContext&) const {
    const auto sampled = arguments.sampled.write<int64_t>();
    const auto lock = sampler_ ? sampler_->lock() : std::unique_lock<std::mutex>();
    double draws = static_cast<double>(sampled.size());
    if (sampler_) {
      TROUPE_ASSIGN(draws, draw(sampled, arguments.philox));
    } else {
      std::iota(sampled.begin(), sampled.end(), int64_t{0});
    }
    const auto expect = [&](std::span<const int64_t> classes, std::span<float> expected) {
      for (size_t i = 0; i < classes.size(); ++i)
        expected[i] = sampler_ ? expectation(classes[i], draws, sampled.size()) : 1.0f;
    };
    expect(arguments.classes.as<int64_t>(), arguments.expected_true.write<float>());
    expect(sampled, arguments.expected_sampled.write<float>());
    if (sampler_) sampler_->learn(arguments.classes.as<int64_t>());
    return {};
  }

 private:
  /// Returns the number of draws. Fails with InvalidArgument if the classes that are left are drawn too rarely.
  Result<double> draw(std::span<int64_t> sampled, const Philox& philox) const {
    constexpr uint64_t most_repeated = uint64_t{1}
                                       << 24;  // draws of known classes in succession: about 0.5 s
    Draws draws(philox, 0);
    std::unordered_set<int64_t> seen;
    uint64_t count = 0;
    for (int64_t& category : sampled) {
      const uint64_t begin = count;
      do {
        if (count - begin == most_repeated)
          return invalid_argument("after " + std::to_string(seen.size()) +
                                  " of num_sampled = " + std::to_string(sampled.size()) +
                                  " unique classes, the others are too rare to be drawn");
        category = sampler_->draw(draws);
        ++count;
      } while (unique_ && !seen.insert(category).second);
    }
    return static_cast<double>(count);
  }

  float expectation(int64_t category, double draws, size_t sampled) const {
    const double p = sampler_->probability(category), count = static_cast<double>(sampled);
    return static_cast<float>(draws == count ? p * count : -std::expm1(draws * std::log1p(-p)));
  }

  const std::shared_ptr<const Sampler> sampler_;
  const bool unique_;
};

using SamplerOf = Result<std::shared_ptr<const Sampler>> (*)(const Node& node);

template <class Kind>
Result<std::shared_ptr<const Sampler>> sampler_of_range(const Node& node) {
  return std::shared_ptr<const Sampler>(std::make_shared<const Kind>(node.attrs.get<int64_t>("range_max")));
}

Result<std::shared_ptr<const Sampler>> no_sampler(const Node&) { return std::shared_ptr<const Sampler>(); }

Result<std::shared_ptr<const Sampler>> unigram_sampler(const Node& node) {
  const Attributes& attrs = node.attrs;
  const int64_t range = attrs.get<int64_t>("range_max"), reserved = attrs.get<int64_t>("num_reserved_ids");
  const UnigramSampler::Shard shard{attrs.get<int64_t>("shard"), attrs.get<int64_t>("num_shards")};
  const auto& unigrams = attrs.get<std::vector<float>>("unigrams");
  if (!attrs.get<std::string>("vocab_file").empty())
    return Status(Code::Unimplemented, "a vocab_file is not read; give its weights as unigrams");
  if (reserved != range - static_cast<int64_t>(unigrams.size()))
    return invalid_argument("range_max is " + std::to_string(range) +
                            "; it must be num_reserved_ids = " + std::to_string(reserved) + " and the " +
                            std::to_string(unigrams.size()) + " unigrams together");
  if (shard.number >= shard.count)
    return invalid_argument("shard is " + std::to_string(shard.number) +
                            "; it must be below num_shards = " + std::to_string(shard.count));
  for (const float weight : unigrams)
    if (!(weight >= 0)) return invalid_argument("the unigram " + std::to_string(weight) + " is below 0");
  auto sampler =
      std::make_shared<const UnigramSampler>(unigrams, reserved, attrs.get<float>("distortion"), shard);
  if (sampler->drawable(range) == 0) return invalid_argument("no class of the shard has a weight above 0");
  return std::shared_ptr<const Sampler>(std::move(sampler));
}

/// Fails with InvalidArgument if fewer classes can be drawn than unique ones are wanted.
Status check_unique(const Node& node, const Sampler* sampler) {
  const AttrValue* const range = node.attrs.find("range_max");
  if (!node.attrs.get<bool>("unique") || !range) return {};
  const auto sampled = node.attrs.get<int64_t>("num_sampled");
  const int64_t drawable = sampler->drawable(std::get<int64_t>(*range));
  if (sampled <= drawable) return {};
  return invalid_argument("num_sampled is " + std::to_string(sampled) + ", but only " +
                          std::to_string(drawable) + " unique classes can be drawn");
}

Status candidate_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape classes, context.with_rank(0, 2));
  const PartialShape expected{classes[0], context.attr<int64_t>("num_true")};
  TROUPE_ASSIGN(PartialShape merged, merge(classes, expected));
  const PartialShape sampled{context.attr<int64_t>("num_sampled")};
  context.set_output(0, sampled);
  context.set_output(1, std::move(merged));
  context.set_output(2, sampled);
  return {};
}

OpDefBuilder candidate_op(const char* name) {
  return random_op(name)
      .input("true_classes: int64")
      .output("sampled_candidates: int64")
      .output("true_expected_count: float")
      .output("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .shape(candidate_shape)
      .not_differentiable();
}

KernelDef candidate_kernel(const char* name, SamplerOf sampler_of) {
  return kernel_on("CPU", name, [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
    const Node& node = context.node;
    TROUPE_ASSIGN(auto sampler, sampler_of(node));
    TROUPE_RETURN_IF_FAILED(check_unique(node, sampler.get()));
    return make_kernel(check_candidates,
                       CandidateCompute(std::move(sampler), node.attrs.get<bool>("unique")));
  });
}

// ---- ComputeAccidentalHits

struct HitsArguments {
  const Tensor &classes, &candidates;
  std::vector<int32_t> rows = {};
  std::vector<int64_t> positions = {};
  Tensor *out_rows = nullptr, *out_positions = nullptr, *out_weights = nullptr;
};

Result<HitsArguments> check_hits(KernelContext& context) {
  const Tensor &classes = context.input(0), &candidates = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_true_classes(context));
  if (candidates.shape().rank() != 1)
    return invalid_argument("sampled_candidates of shape " + candidates.shape().text() + " must be a vector");
  return HitsArguments{classes, candidates};
}

void measure_hits(HitsArguments& arguments, DeviceContext&) {
  std::unordered_map<int64_t, int64_t> positions;  // of several equal candidates the last
  const auto candidates = arguments.candidates.as<int64_t>();
  for (size_t i = 0; i < candidates.size(); ++i) positions[candidates[i]] = static_cast<int64_t>(i);
  const auto classes = arguments.classes.as<int64_t>();
  const auto columns = static_cast<size_t>(arguments.classes.shape()[1]);
  for (size_t i = 0; i < classes.size(); ++i)
    if (const auto hit = positions.find(classes[i]); hit != positions.end()) {
      arguments.rows.push_back(static_cast<int32_t>(i / columns));
      arguments.positions.push_back(hit->second);
    }
}

Status allocate_hits(HitsArguments& arguments, KernelContext& context) {
  const Shape shape{static_cast<int64_t>(arguments.rows.size())};
  TROUPE_ASSIGN(arguments.out_rows, context.output(0, shape));
  TROUPE_ASSIGN(arguments.out_positions, context.output(1, shape));
  TROUPE_ASSIGN(arguments.out_weights, context.output(2, shape));
  return {};
}

void compute_hits(const HitsArguments& arguments, DeviceContext&) {
  std::ranges::copy(arguments.rows, arguments.out_rows->write<int32_t>().begin());
  std::ranges::copy(arguments.positions, arguments.out_positions->write<int64_t>().begin());
  std::ranges::fill(arguments.out_weights->write<float>(), -FLT_MAX);
}

Status hits_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape classes, context.with_rank(0, 2));
  TROUPE_RETURN_IF_FAILED(
      merge(classes, PartialShape{unknown_dim, context.attr<int64_t>("num_true")}).status());
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 1).status());
  for (size_t i = 0; i < 3; ++i) context.set_output(i, PartialShape::of_rank(1));
  return {};
}

}  // namespace

void add_candidate_samplers(OpLibrary& library) {
  library.op(candidate_op("UniformCandidateSampler")
                 .attr("range_max: int >= 1")
                 .constructor("uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, "
                              "range_max, seed, seed2)"));
  library.kernel(candidate_kernel("UniformCandidateSampler", sampler_of_range<UniformSampler>));
  library.op(candidate_op("LogUniformCandidateSampler")
                 .attr("range_max: int >= 1")
                 .constructor("log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, "
                              "range_max, seed, seed2)"));
  library.kernel(candidate_kernel("LogUniformCandidateSampler", sampler_of_range<LogUniformSampler>));
  for (const auto& [name, constructor] :
       {std::pair{"LearnedUnigramCandidateSampler", "learned_unigram_candidate_sampler"},
        std::pair{"ThreadUnsafeUnigramCandidateSampler", "thread_unsafe_unigram_candidate_sampler"}}) {
    library.op(candidate_op(name)
                   .attr("range_max: int >= 1")
                   .constructor(std::string(constructor) +
                                "(true_classes, num_true, num_sampled, unique, range_max, seed, seed2)"));
    library.kernel(candidate_kernel(name, sampler_of_range<LearningSampler>));
  }
  library.op(
      candidate_op("FixedUnigramCandidateSampler")
          .attr("range_max: int >= 1")
          .attr("vocab_file: string = ''")
          .attr("distortion: float = 1")
          .attr("num_reserved_ids: int >= 0 = 0")
          .attr("num_shards: int >= 1 = 1")
          .attr("shard: int >= 0 = 0")
          .attr("unigrams: list(float) = []")
          .constructor(
              "fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, "
              "unigrams, distortion, num_reserved_ids, num_shards, shard, seed, seed2)"));
  library.kernel(candidate_kernel("FixedUnigramCandidateSampler", unigram_sampler));
  library.op(
      candidate_op("AllCandidateSampler")
          .constructor("all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed, seed2)"));
  library.kernel(candidate_kernel("AllCandidateSampler", no_sampler));
  library.op(OpDefBuilder("ComputeAccidentalHits")
                 .input("true_classes: int64")
                 .input("sampled_candidates: int64")
                 .output("indices: int32")
                 .output("ids: int64")
                 .output("weights: float")
                 .attr("num_true: int")
                 .attr("seed: int = 0")
                 .attr("seed2: int = 0")
                 .constructor("compute_accidental_hits(true_classes, sampled_candidates, num_true)")
                 .shape(hits_shape)
                 .not_differentiable());
  library.kernel(
      measured_cpu_kernel("ComputeAccidentalHits", check_hits, measure_hits, allocate_hits, compute_hits));
}

}  // namespace troupe
