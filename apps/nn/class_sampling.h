// Draws of a few classes out of many, which stand for all of them in the losses of apps/nn/class_losses.h (features.md P7). Uses
// only the public builder and throws Error as it does. Public header; one thread at a time per graph.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn::classes {

/// How likely each class is to be drawn.
enum class Distribution : uint8_t {
  LogUniform,  ///< small numbers more often, by Zipf's law: for classes that are numbered by falling frequency
  Uniform,     ///< all classes equally
  FixedUnigram,    ///< in proportion to Sampling::frequencies
  LearnedUnigram,  ///< in proportion to 1 + how often the class has been a label in the steps of this session
  All,             ///< each class once
};
/// Returns "log_uniform", "uniform", "fixed_unigram", "learned_unigram" or "all".
std::string_view name(Distribution distribution);
/// Finds a distribution by its name. Throws InvalidArgument if there is none.
Distribution distribution(std::string_view name);

/// Classes that were drawn for a whole batch.
struct Candidates {
  Output classes;  ///< int64 [drawn]
  /// float [n, labels of a row]: how often each label is expected among the drawn classes
  Output label_counts;
  Output counts;  ///< float [drawn]: how often each of them is expected
};

struct Sampling {
  int64_t classes = 64;      ///< the number of classes to draw, each of them once; with All, it has no effect
  bool without_hits = true;  ///< whether a drawn class does not count for rows whose label it is
  Distribution distribution = Distribution::LogUniform;
  std::vector<double> frequencies = {};       ///< with FixedUnigram: one for each class
  double distortion = 1;                      ///< with FixedUnigram: the exponent of the frequencies
  std::optional<Candidates> candidates = {};  ///< if set, these are used, and none are drawn
};

/// Draws classes out of `range` for labels [n, labels of a row], int64. Throws InvalidArgument if FixedUnigram has no frequency for
/// some class or too many of them.
Candidates draw(const Scope& scope, Output labels, int64_t range, const Sampling& sampling);

}  // namespace troupe::nn::classes
#pragma GCC visibility pop
