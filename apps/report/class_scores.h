// ClassScores: how well each class is recognised. Computed once from predictions; plain values.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "apps/report/comparison.h"

namespace troupe::report {

struct ClassScore {
  int64_t label = 0;      ///< the class
  int64_t labelled = 0;   ///< how many have this label
  int64_t predicted = 0;  ///< for how many this class is predicted
  int64_t right = 0;      ///< how many of both
  /// right / predicted, right / labelled, and their harmonic mean; 0 where a division by 0 would be.
  double precision() const;
  double recall() const;
  double f1() const;
};

/// How many samples with a label are predicted to be of another class.
struct Confusion {
  int64_t label = 0, predicted = 0, samples = 0;
};

struct ClassScores {
  std::vector<ClassScore> classes;                            ///< by class, from 0
  std::map<std::pair<int64_t, int64_t>, int64_t> confusions;  ///< (label, predicted) -> how many; none is 0
  int64_t total = 0, right = 0;

  double accuracy() const;
  double mean_f1() const;  ///< over the classes that are labels
  /// Returns what is taken for something else, the most frequent confusions first.
  std::vector<Confusion> mistakes() const;
};

ClassScores score(std::span<const ClassPrediction> predictions, int64_t classes);

}  // namespace troupe::report
