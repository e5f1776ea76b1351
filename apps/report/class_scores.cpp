#include "apps/report/class_scores.h"

#include <algorithm>

namespace troupe::report {
namespace {

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double ClassScore::precision() const { return share(right, predicted); }
double ClassScore::recall() const { return share(right, labelled); }
double ClassScore::f1() const { return share(2 * right, labelled + predicted); }

double ClassScores::accuracy() const { return share(right, total); }

double ClassScores::mean_f1() const {
  double sum = 0;
  int64_t count = 0;
  for (const ClassScore& one : classes) {
    if (one.labelled == 0) continue;
    sum += one.f1();
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::vector<Confusion> ClassScores::mistakes() const {
  std::vector<Confusion> mistakes;
  for (const auto& [pair, samples] : confusions)
    if (pair.first != pair.second) mistakes.push_back({pair.first, pair.second, samples});
  std::ranges::stable_sort(mistakes, std::ranges::greater(), &Confusion::samples);
  return mistakes;
}

ClassScores score(std::span<const ClassPrediction> predictions, int64_t classes) {
  ClassScores scores;
  scores.classes.resize(static_cast<size_t>(classes));
  for (int64_t i = 0; i < classes; ++i) scores.classes[static_cast<size_t>(i)].label = i;
  for (const ClassPrediction& one : predictions) {
    const bool is_right = one.label == one.predicted;
    ++scores.classes[static_cast<size_t>(one.label)].labelled;
    ++scores.classes[static_cast<size_t>(one.predicted)].predicted;
    scores.classes[static_cast<size_t>(one.label)].right += is_right;
    ++scores.confusions[{one.label, one.predicted}];
    ++scores.total;
    scores.right += is_right;
  }
  return scores;
}

}  // namespace troupe::report
