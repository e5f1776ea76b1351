#include "apps/data/numbers.h"

#include "kernels/core/type_dispatch.h"

namespace troupe::data {

Result<std::vector<double>> numbers_of(const Tensor& tensor) try {
  std::vector<double> numbers;
  const bool known =
      with_type(Joined<RealTypes, TypeList<bool>>{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
        numbers.reserve(static_cast<size_t>(tensor.elements()));
        for (const T& element : tensor.as<T>()) {
          if constexpr (std::is_class_v<T>)
            numbers.push_back(static_cast<float>(element));
          else
            numbers.push_back(static_cast<double>(element));
        }
      });
  if (!known)
    return invalid_argument("a tensor of type " + std::string(name(tensor.dtype())) + " has no real numbers");
  return numbers;
} catch (const std::bad_alloc&) {
  return resource_exhausted("there is too little memory for " + tensor.signature() + " as numbers");
}

}  // namespace troupe::data
