#include "word2vec.h"

namespace models {

namespace nn = troupe::nn;

Output skip_gram_loss(const Network& network, Output words, Output contexts, const Word2VecOptions& options) {
  const Network model = network.at("word2vec");
  const Output vectors =
      nn::embedding(model.named("words"), words, {.rows = options.vocabulary, .units = options.units});
  return mean(network.scope(), nn::nce_loss(model, vectors, contexts,
                                            {.classes = options.vocabulary, .sampled = options.sampled}));
}

}  // namespace models
