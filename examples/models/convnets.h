// Image classifiers of the literature, one function each. Images are [batch, height, width, 3]; the results are logits
// [batch, classes]. The first four are the models of soumith/convnet-benchmarks (OSDI 2016, table 1), without dropout and
// normalisation, as they are measured there.
#pragma once

#include <troupe/troupe.h>

#include <optional>

namespace models {

using troupe::Output;
using troupe::nn::Network;

/// AlexNet, "One weird trick" form (Krizhevsky 2014): images of 224 x 224.
Output alexnet(const Network& network, Output images, int64_t classes = 1000);
/// OverFeat, fast form (Sermanet et al. 2014): images of 231 x 231.
Output overfeat(const Network& network, Output images, int64_t classes = 1000);
/// OxfordNet, VGG model A (Simonyan and Zisserman 2014): images of 224 x 224.
Output oxfordnet(const Network& network, Output images, int64_t classes = 1000);
/// GoogLeNet v1 (Szegedy et al. 2014): images of 224 x 224.
Output googlenet(const Network& network, Output images, int64_t classes = 1000);

/// ResNet-50 (He et al. 2015), with the stride in the 3 x 3 convolutions: images of at least 32 x 32, usually 224 x 224.
Output resnet50(const Network& network, Output images, int64_t classes = 1000);

struct Inception {
  Output logits;
  /// The logits of the head in the middle, if it is built. In training its loss is added with a weight of 0.4.
  std::optional<Output> auxiliary;
};
struct InceptionOptions {
  int64_t classes = 1000;
  double dropout = 0.2;
  bool auxiliary = true;  ///< whether the head in the middle is built
};
/// Inception-v3 (Szegedy et al. 2015): images of 299 x 299, at least 139 x 139.
Inception inception_v3(const Network& network, Output images, const InceptionOptions& options = {});

}  // namespace models
