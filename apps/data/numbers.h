// The elements of a tensor of numbers, whatever their type. A pure function; any thread.
#pragma once

#include <vector>

#include "messages/values/tensor.h"

namespace troupe::data {

/// Returns the elements as doubles; booleans are 0 and 1. Fails with InvalidArgument for types that are not real numbers, and with
/// ResourceExhausted if there is too little memory.
Result<std::vector<double>> numbers_of(const Tensor& tensor);

}  // namespace troupe::data
