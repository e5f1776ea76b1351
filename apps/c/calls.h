// What the implementation of the C interface shares, without actors: the handle of a tensor, the checks of what callers give, and
// the way from exceptions to codes. Not installed.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "apps/c/tensor.h"
#include "messages/values/status.h"
#include "messages/values/tensor.h"

struct troupe_tensor {
  troupe::Tensor value;
};

namespace troupe::c {

/// Keeps a failure for troupe_error_message() on this thread. Returns its code.
troupe_code keep(const Status& failure) noexcept;

/// Calls a function, and returns the code of what it throws.
template <class Function>
troupe_code guarded(Function function) noexcept {
  try {
    function();
    return TROUPE_OK;
  } catch (const Error& error) {
    return keep(error.status());
  } catch (const std::bad_alloc&) {
    return keep(resource_exhausted("the system has no memory left"));
  } catch (const std::exception& error) {
    return keep(internal(error.what()));
  } catch (...) {
    return keep(internal("an unknown exception"));
  }
}

/// Return what a pointer points to. Throw Error(InvalidArgument) if it is null.
template <class T>
T& needed(T* pointer, const char* what) {
  if (!pointer) throw Error(invalid_argument(std::string(what) + " must not be null"));
  return *pointer;
}
inline std::string text(const char* pointer, const char* what) { return &needed(pointer, what); }
/// Returns an array, which may be null if it is empty. Throws Error(InvalidArgument) if it is null otherwise, or if no memory can
/// hold so many elements.
template <class T>
std::span<T> array(T* pointer, size_t count, const char* what) {
  constexpr size_t most = size_t{1} << 56;  // processors have addresses of at most so many bits
  if (count > most)
    throw Error(invalid_argument("the number of " + std::string(what) + " is " + std::to_string(count) +
                                 ", which no memory can hold"));
  if (count > 0) (void)needed(pointer, what);
  return {pointer, count};
}
/// Returns a string of this length, which may contain zero bytes. Throws as array() does.
inline std::string bytes_of(const char* pointer, size_t length, const char* what) {
  const auto bytes = array(pointer, length, what);
  return {bytes.begin(), bytes.end()};
}
std::vector<std::string> texts(const char* const* pointers, size_t count, const char* what);
/// Stores a copy of a text, with a zero byte behind it, for troupe_bytes_destroy().
void hand_over(const std::string& text, char*& bytes, size_t& size);
/// Returns an element. Throws Error(OutOfRange) if there is none.
template <class List>
auto& element(List& list, size_t index, const char* what) {
  if (index >= list.size())
    throw Error(out_of_range("there is no " + std::string(what) + ' ' + std::to_string(index) +
                             ": their number is " + std::to_string(list.size())));
  return list[index];
}

/// Returns the options that a caller knows; those of later versions are zero. Throws Error(InvalidArgument) if `size` is not set.
template <class Options>
Options known(const Options* given) {
  Options options = {};
  options.size = sizeof(Options);
  if (!given) return options;
  if (given->size < sizeof(size_t) || given->size % alignof(Options) != 0)
    throw Error(invalid_argument("the member `size` of the options must be the size of their type, not " +
                                 std::to_string(given->size)));
  std::memcpy(&options, given, std::min(given->size, sizeof(Options)));
  return options;
}

DType dtype_of(troupe_dtype dtype);
inline troupe_dtype dtype_of(DType dtype) { return static_cast<troupe_dtype>(dtype); }
std::vector<Tensor> tensors(const troupe_tensor* const* pointers, size_t count, const char* what);
/// Stores new handles of tensors in `results`.
void hand_over(std::vector<Tensor> tensors, std::span<troupe_tensor*> results);

}  // namespace troupe::c
