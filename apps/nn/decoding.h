// Decoding: the most probable sequences of a model that predicts one id after another, such as the decoder of a
// sequence-to-sequence model. Failures throw Error, as in the graph builder. One thread at a time per graph. Public header: it
// uses only std and Troupe's own types.
#pragma once

#include <functional>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// What a model predicts after an id: unnormalised log probabilities [rows, ids], and its state [rows, ...] for the next step.
struct Prediction {
  Output logits;
  std::vector<Output> state;
};
/// Predicts what follows `ids`, int32 [rows], the last ids of sequences whose states are `state`.
using PredictNext = std::function<Prediction(const Scope&, Output ids, const std::vector<Output>& state)>;

struct BeamSearch {
  int64_t width = 4;  ///< how many sequences are kept for each element of the batch; 1: greedy decoding
  int64_t start = 0;  ///< the id before the first one
  int64_t end = 1;    ///< the id that ends a sequence
  int64_t max_steps = 100;
  /// The exponent of the length by which scores are divided at the end, ((5 + length) / 6) ^ penalty (Wu et al. 2016), so that
  /// longer sequences are not at a disadvantage; 0: scores are log probabilities.
  double length_penalty = 0;
};

/// The sequences that were found, for each element of the batch in falling order of their scores.
struct Decoded {
  Output ids;      ///< int32 [batch, width, steps], without `start`; behind the end of a sequence: `end`
  Output scores;   ///< float [batch, width]
  Output lengths;  ///< int32 [batch, width]: the ids before `end`
};

/// Extends the sequences step by step until all have ended or have max_steps ids. `state` [batch, ...] is that before the first
/// step; there must be at least one tensor in it. Throws InvalidArgument if an option is out of range or the prediction has
/// another number of states.
Decoded beam_search(const Scope& scope, const std::vector<Output>& state, const PredictNext& predict,
                    const BeamSearch& options);

}  // namespace troupe::nn
#pragma GCC visibility pop
