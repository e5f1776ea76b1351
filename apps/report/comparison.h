// Comparison: what a trained model predicts for labelled samples, beside their labels. Plain values, and a function that computes;
// any thread that may block.
#pragma once

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "apps/runs/trained_run.h"

namespace troupe::report {

struct ClassPrediction {
  int64_t sample = 0;  ///< its number, from 0
  int64_t label = 0, predicted = 0;
  /// The probability of the label and of the predicted class; not a number if the model yields no probabilities.
  double of_label = 0, of_predicted = 0;
};

struct NumberPrediction {
  int64_t sample = 0;
  double label = 0, predicted = 0;
};

struct Comparison {
  std::string part;                ///< the name of the samples: "test", "valid", "train" or "given"
  int64_t samples = 0;             ///< how many of them were computed
  int64_t of_samples = 0;          ///< how many there are
  std::string label;               ///< the name of the column
  std::string output;              ///< the output of the model that is compared with it
  std::string checkpoint;          ///< where the values of the variables come from
  int64_t per_sample = 1;          ///< the number of labels of a sample
  int64_t classes = 0;             ///< for classes: their number, which is above every label
  std::vector<std::string> names;  ///< of the classes; empty: they have only numbers
  std::variant<std::vector<ClassPrediction>, std::vector<NumberPrediction>> predictions;

  /// Returns the name of a class, or its number if it has none.
  std::string class_name(int64_t number) const;
};

/// Compares for at most `limit` of the samples, whose name is `part`. A model that yields probabilities, or a whole number for a
/// label that is one, predicts classes; one that yields a number for each number of the label predicts these. Fails with
/// InvalidArgument, saying why, if neither is so or the model has no run file, and as reading and computing do.
Result<Comparison> compare(const runs::TrainedRun& run, const data::SampleSet& samples,
                           const std::string& part, int64_t limit = std::numeric_limits<int64_t>::max());

}  // namespace troupe::report
