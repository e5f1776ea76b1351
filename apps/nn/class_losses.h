// Losses over many classes whose weights are in parts, usually on the parameter servers. They use only the public builder and
// throw Error as it does. The layers of these names (apps/nn/layers.h) add the weights, too. Public header; one thread at a
// time per graph.
#pragma once

#include "apps/nn/class_sampling.h"
#include "apps/nn/partitioned_variable.h"

#pragma GCC visibility push(default)
namespace troupe::nn::classes {

/// The weights of classes.
struct Weights {
  PartitionedVariable weights;  ///< [classes, units]
  PartitionedVariable bias;     ///< [classes], cut into as many parts in the same way
};

/// Returns x weights^T + bias, the logits [n, classes] of x [n, units]. Each part computes its own.
Output logits(const Scope& scope, const Weights& of, Output x);

// The labels are int32 or int64, [n] or, with several for each row, [n, labels of a row]. Each of several labels of a row has the
// same share of the row's target, 1 / their number.

/// Returns the softmax cross entropy of each row of x [n, units] with its labels. Logits and gradients are computed where the
/// weights are (OSDI 2016, section 4.2; Chilimbi et al. 2014): x, the labels and three numbers for each row travel, and back the
/// gradient of x. The sums over the classes depend on how they are cut, in their last bits. Steps fail with InvalidArgument if a
/// label is no class.
Output softmax_loss(const Scope& scope, const Weights& of, Output x, Output labels);

/// Returns the cross entropy of a softmax over the labels and the drawn classes (Jean et al. 2015), for each row.
Output sampled_softmax_loss(const Scope& scope, const Weights& of, Output x, Output labels,
                            const Sampling& sampling);
/// Returns the sum of the sigmoid cross entropies of the labels and the drawn classes (Mnih and Teh 2012), for each row.
Output nce_loss(const Scope& scope, const Weights& of, Output x, Output labels, const Sampling& sampling);

}  // namespace troupe::nn::classes
#pragma GCC visibility pop
