// Comparison: what a trained model predicts for labelled samples, beside their labels. Plain values, and a function that reads
// files and computes; any thread that may block.
#pragma once

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
  std::string part;                ///< "test", "valid" or "train": the samples of the run file that were used
  int64_t samples = 0;             ///< how many of them were computed
  int64_t of_samples = 0;          ///< how many there are
  std::string label;               ///< the name of the column
  std::string output;              ///< the output of the model that is compared with it
  std::string checkpoint;          ///< where the values of the variables come from
  int64_t per_sample = 1;          ///< the number of labels of a sample
  int64_t classes = 0;             ///< for classes: their number, which is above every label
  std::vector<std::string> names;  ///< of the classes; empty: they have only numbers
  std::variant<std::vector<ClassPrediction>, std::vector<NumberPrediction>> predictions;
};

/// Compares for at most `limit` samples: of data.test, else of those held out, else of those to train on. A model that yields
/// probabilities, or a whole number for a label that is one, predicts classes; one that yields a number for each number of the
/// label predicts these. Fails with InvalidArgument, saying why, if neither is so, and as reading and computing do.
Result<Comparison> compare(Disk& disk, const runs::TrainedRun& run, int64_t limit);

}  // namespace troupe::report
