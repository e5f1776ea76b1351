// Vectors of words.
#pragma once

#include <troupe/troupe.h>

namespace models {

using troupe::Output;
using troupe::nn::Network;

struct Word2VecOptions {
  int64_t vocabulary = 0;  ///< words are numbered by falling frequency
  int64_t units = 128;
  int64_t sampled = 64;  ///< words that stand for all others in each step
};
/// The skip-gram model with noise-contrastive estimation (Mikolov et al. 2013): predicts contexts [n] from words [n], int32 or
/// int64. Returns the mean loss. The vectors are the weights "word2vec/words_weights", [vocabulary, units].
Output skip_gram_loss(const Network& network, Output words, Output contexts, const Word2VecOptions& options);

}  // namespace models
