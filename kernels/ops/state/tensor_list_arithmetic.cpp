// Arithmetic on lists of tensors and on optionals (kernels/core), which gradients of loops and branches need.
//   ZerosLike(x)      a list or optional of as many elements, zeros of the same shapes
//   AddN(inputs...)   for lists of equal length, or optionals of equally many components: a list or optional of the sums
// An element that was never set counts as zero and stays unset. Elements may be lists and optionals.
#include "kernels/ops/state/tensor_list_arithmetic.h"

#include <array>

#include "kernels/core/optional_value.h"
#include "kernels/core/tensor_list.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/loops/sum.h"

namespace troupe {
namespace {

/// Returns a scalar variant, in host memory, that holds this list or optional.
Result<Tensor> handle_of(Variant value, const DeviceContext& device) {
  TROUPE_ASSIGN(Tensor handle, Tensor::allocate(DType::Variant, Shape{}, device.host_memory()));
  handle.write<Variant>()[0] = std::move(value);
  return handle;
}

/// Returns the memory where the tensor lies.
Allocator& memory_of(const Tensor& tensor, const DeviceContext& device) {
  return tensor.memory() == MemoryKind::Device ? device.memory() : device.host_memory();
}

// ---- ZerosLike

/// Returns a tensor, list or optional like this one. Tensors that have to be filled with zeros are added to `zeros`.
Result<Tensor> like(const Tensor& tensor, const DeviceContext& device, std::vector<Tensor>& zeros) {
  if (tensor.dtype() != DType::Variant) {
    TROUPE_ASSIGN(Tensor made, Tensor::allocate(tensor.dtype(), tensor.shape(), memory_of(tensor, device)));
    zeros.push_back(made);
    return made;
  }
  if (const OptionalValue* const from = find_optional(tensor)) {
    std::vector<Tensor> components = from->components;
    for (Tensor& component : components) {
      TROUPE_ASSIGN(component, like(component, device, zeros));
    }
    return handle_of(std::make_unique<OptionalValue>(std::move(components)), device);
  }
  TROUPE_ASSIGN(const TensorList* const from, list_in(tensor));
  auto list = std::make_unique<TensorList>(*from);
  for (Tensor& element : list->elements)
    if (element.valid()) {
      TROUPE_ASSIGN(element, like(element, device, zeros));
    }
  return handle_of(std::move(list), device);
}

void compute_zeros_like(const ListZerosLikeArguments& arguments, DeviceContext& device) {
  for (Tensor zeros : arguments.zeros) fill(device.pool(), zeros);
}

// ---- AddN

using Terms = std::vector<const Tensor*>;

/// Returns the sum of one or more terms. Sums that have to be computed are added to `sums`.
Result<Tensor> sum_of(Terms terms, const DeviceContext& device, std::vector<ListElementSum>& sums);

Status check_terms(const Terms& terms) {
  const Tensor& first = *terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    if (terms[i]->shape() != first.shape())
      return invalid_argument("elements " + first.signature() + " and " + terms[i]->signature() +
                              " cannot be added: dtype and shape must be the same");
  if (is_number(first.dtype())) return {};
  return invalid_argument("elements of dtype " + std::string(name(first.dtype())) + " cannot be added");
}

Result<std::vector<const TensorList*>> lists_in(const Terms& terms) {
  std::vector<const TensorList*> lists;
  for (const Tensor* const term : terms) {
    TROUPE_ASSIGN(const TensorList* const list, list_in(*term));
    const TensorList& first = lists.empty() ? *list : *lists[0];
    if (list->dtype != first.dtype || list->size() != first.size())
      return invalid_argument("a list of " + std::to_string(first.size()) + ' ' +
                              std::string(name(first.dtype)) + " and one of " + std::to_string(list->size()) +
                              ' ' + std::string(name(list->dtype)) +
                              " cannot be added: length and dtype must be the same");
    lists.push_back(list);
  }
  return lists;
}

Result<Tensor> sum_of_lists(const Terms& terms, const DeviceContext& device,
                            std::vector<ListElementSum>& sums) {
  TROUPE_ASSIGN(const auto lists, lists_in(terms));
  auto sum = std::make_unique<TensorList>(*lists[0]);
  for (const TensorList* const list : lists) {
    TROUPE_ASSIGN(sum->element_shape, merge(sum->element_shape, list->element_shape));
  }
  for (size_t i = 0; i < sum->size(); ++i) {
    Terms elements;
    for (const TensorList* const list : lists)
      if (list->elements[i].valid()) elements.push_back(&list->elements[i]);
    if (elements.empty()) continue;
    TROUPE_ASSIGN(Tensor element, sum_of(std::move(elements), device, sums));
    sum->set(i, std::move(element));
  }
  return handle_of(std::move(sum), device);
}

Result<Tensor> sum_of_optionals(const Terms& terms, const DeviceContext& device,
                                std::vector<ListElementSum>& sums) {
  std::vector<Tensor> components;
  const size_t count = find_optional(*terms[0])->components.size();
  for (const Tensor* const term : terms) {
    const OptionalValue* const optional = find_optional(*term);
    if (!optional || optional->components.size() != count)
      return invalid_argument("an optional of " + std::to_string(count) +
                              " components can only be added to others with as many");
  }
  for (size_t i = 0; i < count; ++i) {
    Terms parts;
    for (const Tensor* const term : terms) parts.push_back(&find_optional(*term)->components[i]);
    TROUPE_ASSIGN(Tensor component, sum_of(std::move(parts), device, sums));
    components.push_back(std::move(component));
  }
  return handle_of(std::make_unique<OptionalValue>(std::move(components)), device);
}

Result<Tensor> sum_of(Terms terms, const DeviceContext& device, std::vector<ListElementSum>& sums) {
  if (terms.size() == 1) return *terms[0];
  if (find_optional(*terms[0])) return sum_of_optionals(terms, device, sums);
  if (terms[0]->dtype() == DType::Variant) return sum_of_lists(terms, device, sums);
  TROUPE_RETURN_IF_FAILED(check_terms(terms));
  TROUPE_ASSIGN(Tensor sum,
                Tensor::allocate(terms[0]->dtype(), terms[0]->shape(), memory_of(*terms[0], device)));
  sums.push_back({std::move(terms), sum});
  return sum;
}

void compute_add_n(const ListAddNArguments& arguments, DeviceContext& device) {
  for (const ListElementSum& addition : arguments.sums) add_on_host(addition, device.pool());
}

}  // namespace

void add_on_host(const ListElementSum& addition, Pool& pool) {
  const auto& [terms, result] = addition;
  Tensor sum = result;
  const Sum two(sum.dtype());
  const std::byte* so_far = terms[0]->data();
  for (size_t i = 1; i < terms.size(); ++i) {
    two.add(pool, std::array{so_far, terms[i]->data()}, sum);
    so_far = sum.data();
  }
}

Result<ListZerosLikeArguments> check_list_zeros_like(KernelContext& context) {
  ListZerosLikeArguments arguments;
  TROUPE_ASSIGN(Tensor list, like(context.input(0), context.device(), arguments.zeros));
  context.set_output(0, std::move(list));
  return arguments;
}

Result<ListAddNArguments> check_list_add_n(KernelContext& context) {
  ListAddNArguments arguments;
  Terms terms;
  for (size_t i = 0; i < context.inputs(); ++i) terms.push_back(&context.input(i));
  TROUPE_ASSIGN(Tensor sum, sum_of(std::move(terms), context.device(), arguments.sums));
  context.set_output(0, std::move(sum));
  return arguments;
}

void add_tensor_list_arithmetic(OpLibrary& library) {
  library.kernel(
      cpu_kernel("ZerosLike", check_list_zeros_like, compute_zeros_like).on("T", {DType::Variant}));
  library.kernel(cpu_kernel("AddN", check_list_add_n, compute_add_n).on("T", {DType::Variant}));
}

}  // namespace troupe
