#include "apps/c/tensor.h"

#include <memory>

#include "apps/c/calls.h"

namespace troupe::c {
namespace {

static_assert(TROUPE_UINT64 == static_cast<int>(DType::UInt64) &&
              TROUPE_HALF == static_cast<int>(DType::Half));

/// Memory of the caller.
struct Adopted : Buffer {
  void (*give_back)(void* data, void* context) = nullptr;
  void* context = nullptr;
};

void give_back(Buffer* buffer) {
  auto* const adopted = static_cast<Adopted*>(buffer);
  adopted->give_back(adopted->data, adopted->context);
  delete adopted;
}

Shape shape_of(DType dtype, const int64_t* dims, size_t rank) {
  if (rank > Shape::max_rank)
    throw Error(invalid_argument("a tensor has at most " + std::to_string(Shape::max_rank) +
                                 " dimensions, not " + std::to_string(rank)));
  return value_or_throw(Shape::make(array(dims, rank, "dims"), dtype));
}

void check_plain(DType dtype) {
  if (dtype == DType::String || dtype == DType::Resource || dtype == DType::Variant)
    throw Error(invalid_argument("the elements of a tensor of type " + std::string(name(dtype)) +
                                 " are not plain bytes"));
}

/// Fails if the bytes are not elements of such a tensor.
void check_elements(DType dtype, const Shape& shape, const void* data, size_t bytes) {
  const size_t expected = static_cast<size_t>(shape.elements()) * size_of(dtype);
  if (bytes != expected)
    throw Error(invalid_argument("a tensor " + std::string(name(dtype)) + shape.text() + " has " +
                                 std::to_string(expected) + " bytes, not " + std::to_string(bytes)));
  const auto elements = array(static_cast<const unsigned char*>(data), bytes, "data");
  if (dtype == DType::Bool && std::ranges::any_of(elements, [](unsigned char byte) { return byte > 1; }))
    throw Error(invalid_argument("the elements of a tensor of type bool must be 0 or 1"));
}

}  // namespace

DType dtype_of(troupe_dtype dtype) {
  if (dtype < TROUPE_FLOAT || dtype > TROUPE_UINT64)
    throw Error(invalid_argument("there is no type of elements with the number " + std::to_string(dtype)));
  return static_cast<DType>(dtype);
}

std::vector<Tensor> tensors(const troupe_tensor* const* pointers, size_t count, const char* what) {
  std::vector<Tensor> result;
  for (const troupe_tensor* const pointer : array(pointers, count, what))
    result.push_back(needed(pointer, what).value);
  return result;
}

void hand_over(std::vector<Tensor> tensors, std::span<troupe_tensor*> results) {
  std::vector<std::unique_ptr<troupe_tensor>> handles;
  for (Tensor& tensor : tensors)
    handles.push_back(std::unique_ptr<troupe_tensor>(new troupe_tensor{std::move(tensor)}));
  for (size_t i = 0; i < handles.size(); ++i) results[i] = handles[i].release();
}

}  // namespace troupe::c

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace
using troupe::DType;
using troupe::Shape;
using troupe::Tensor;

troupe_code troupe_tensor_create(troupe_dtype type, const int64_t* dims, size_t rank, const void* data,
                                 size_t bytes, troupe_tensor** tensor) {
  return guarded([&] {
    const DType dtype = dtype_of(type);
    check_plain(dtype);
    const Shape shape = shape_of(dtype, dims, rank);
    check_elements(dtype, shape, data, bytes);
    auto& result = needed(tensor, "tensor");
    Tensor value = value_or_throw(Tensor::allocate(dtype, shape));
    if (bytes > 0) std::memcpy(value.mutable_data(), data, bytes);
    result = new troupe_tensor{std::move(value)};
  });
}

troupe_code troupe_tensor_adopt(troupe_dtype type, const int64_t* dims, size_t rank, void* data, size_t bytes,
                                void (*release)(void* data, void* context), void* context,
                                troupe_tensor** tensor) {
  return guarded([&] {
    const DType dtype = dtype_of(type);
    check_plain(dtype);
    const Shape shape = shape_of(dtype, dims, rank);
    check_elements(dtype, shape, data, bytes);
    (void)needed(release, "release");
    auto& result = needed(tensor, "tensor");
    const size_t alignment = std::min<size_t>(troupe::size_of(dtype), 16);
    if (reinterpret_cast<uintptr_t>(data) % alignment != 0)
      throw troupe::Error(troupe::invalid_argument("the data of a tensor of type " +
                                                   std::string(name(dtype)) + " must be aligned to " +
                                                   std::to_string(alignment) + " bytes"));
    auto handle = std::make_unique<troupe_tensor>();
    auto* const buffer = new Adopted;
    buffer->data = static_cast<std::byte*>(data);
    buffer->bytes = bytes;
    buffer->release = give_back;
    buffer->give_back = release;
    buffer->context = context;
    handle->value = Tensor(dtype, shape, troupe::BufferRef::adopt(buffer));
    result = handle.release();
  });
}

troupe_code troupe_tensor_create_strings(const int64_t* dims, size_t rank, const char* const* strings,
                                         const size_t* lengths, size_t count, troupe_tensor** tensor) {
  return guarded([&] {
    const Shape shape = shape_of(DType::String, dims, rank);
    if (static_cast<size_t>(shape.elements()) != count)
      throw troupe::Error(troupe::invalid_argument("a tensor string" + shape.text() + " has " +
                                                   std::to_string(shape.elements()) + " elements, not " +
                                                   std::to_string(count)));
    const auto from = array(strings, count, "strings");
    auto& result = needed(tensor, "tensor");
    Tensor value = value_or_throw(Tensor::allocate(DType::String, shape));
    const auto elements = value.write<std::string>();
    for (size_t i = 0; i < count; ++i) {
      const char* const string = &needed(from[i], "strings");
      elements[i] = lengths ? bytes_of(string, lengths[i], "bytes of a string") : std::string(string);
    }
    result = new troupe_tensor{std::move(value)};
  });
}

void troupe_tensor_destroy(troupe_tensor* tensor) { delete tensor; }

troupe_code troupe_tensor_dtype(const troupe_tensor* tensor, troupe_dtype* dtype) {
  return guarded([&] { needed(dtype, "dtype") = dtype_of(needed(tensor, "tensor").value.dtype()); });
}

troupe_code troupe_tensor_shape(const troupe_tensor* tensor, const int64_t** dims, size_t* rank) {
  return guarded([&] {
    const Shape& shape = needed(tensor, "tensor").value.shape();
    auto& first = needed(dims, "dims");
    needed(rank, "rank") = shape.rank();
    first = shape.dims().data();
  });
}

troupe_code troupe_tensor_data(const troupe_tensor* tensor, const void** data, size_t* bytes) {
  return guarded([&] {
    const Tensor& value = needed(tensor, "tensor").value;
    check_plain(value.dtype());
    auto& first = needed(data, "data");
    needed(bytes, "bytes") = value.bytes();
    first = value.data();
  });
}

troupe_code troupe_tensor_string(const troupe_tensor* tensor, size_t index, const char** string,
                                 size_t* length) {
  return guarded([&] {
    const auto strings = needed(tensor, "tensor").value.as<std::string>();
    const std::string& found = element(strings, index, "string");
    auto& first = needed(string, "string");
    needed(length, "length") = found.size();
    first = found.c_str();
  });
}
