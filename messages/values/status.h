// Status and Result<T>: how functions report failures.
// A Status is Ok, or an error code with a text and the place of the failure (op, node,
// device, step). A Result<T> is a T or a failed Status. Plain values; an Ok status costs
// one pointer. Error, the exception, is thrown only by the graph builder and by Session.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#pragma GCC visibility push(default)
namespace troupe {

/// Error codes, with the numbers that TensorFlow gives them (features.md O7).
enum class Code : uint8_t {
  Ok = 0,
  Cancelled = 1,
  Unknown = 2,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  OutOfRange = 11,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
};

/// Returns "InvalidArgument" for Code::InvalidArgument.
std::string_view name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string text);

  bool ok() const { return detail_ == nullptr; }
  Code code() const { return ok() ? Code::Ok : detail_->code; }
  const std::string& text() const;
  const std::string& op() const;      ///< the op, for example "MatMul"; empty if unknown
  const std::string& node() const;    ///< the node's name; empty if unknown
  const std::string& device() const;  ///< the full name of the device; empty if unknown
  uint64_t step() const { return ok() ? 0 : detail_->step; }

  /// Return the same failure with its place added. A place that is known already stays. No effect on an Ok status.
  Status at_node(std::string_view op, std::string_view node) &&;
  Status at_device(std::string_view device) &&;
  Status at_step(uint64_t step) &&;

  /// Returns code, place and text: "InvalidArgument: [MatMul] layer1/matmul on /device:CPU:0, step 7: inner dimensions differ".
  std::string message() const;

 private:
  struct Detail {
    Code code = Code::Ok;
    std::string text, op, node, device;
    uint64_t step = 0;
  };
  Detail& own();

  std::shared_ptr<const Detail> detail_;
};

inline Status ok_status() { return {}; }
Status cancelled(std::string text);
Status invalid_argument(std::string text);
Status deadline_exceeded(std::string text);
Status not_found(std::string text);
Status already_exists(std::string text);
Status resource_exhausted(std::string text);
Status failed_precondition(std::string text);
Status aborted(std::string text);
Status out_of_range(std::string text);
Status unimplemented(std::string text);
Status internal(std::string text);
Status unavailable(std::string text);
Status data_loss(std::string text);

/// Returns true for Aborted and Unavailable: the same call may succeed later.
bool retry_may_help(Code code);

/// A value of type T, or the failed Status that says why there is none.
template <class T>
// std::variant throws only if an earlier exception left it without a value.
class [[nodiscard]] Result {  // NOLINT(bugprone-exception-escape)
 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT: converts a T
  Result(Status failure) : state_(std::in_place_index<0>, std::move(failure)) {
    assert(!std::get<0>(state_).ok());
  }

  bool ok() const { return state_.index() == 1; }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status{} : std::get<0>(state_); }

  T& value() & { return *std::get_if<1>(&state_); }
  const T& value() const& { return *std::get_if<1>(&state_); }
  T&& value() && { return std::move(*std::get_if<1>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> state_;
};

/// The exception for a failed Status. Only the graph builder and Session throw it.
class Error : public std::runtime_error {
 public:
  explicit Error(Status status) : std::runtime_error(status.message()), status_(std::move(status)) {}
  const Status& status() const { return status_; }
  /// Returns the exit code of a program that ends with this failure: 2 for usage or config, 3 for data, 1 for any other.
  int exit_code() const;

 private:
  Status status_;
};

/// Returns the value, or throws Error.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Error(result.status());
  return std::move(result).value();
}
inline void throw_if_failed(Status status) {
  if (!status.ok()) throw Error(std::move(status));
}

/// Returns from the enclosing function if `expression`, a Status, is a failure.
#define TROUPE_RETURN_IF_FAILED(expression)                                     \
  do {                                                                          \
    if (::troupe::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

/// Assigns the value of a Result, or returns its failure from the enclosing function: TROUPE_ASSIGN(auto shape, Shape::make(dims)).
#define TROUPE_ASSIGN(lhs, expression) TROUPE_ASSIGN_IMPL_(lhs, expression, __LINE__)
#define TROUPE_ASSIGN_IMPL_(lhs, expression, line) TROUPE_ASSIGN_AT_(lhs, expression, line)
#define TROUPE_ASSIGN_AT_(lhs, expression, line)          \
  auto result_##line = (expression);                      \
  if (!result_##line.ok()) return result_##line.status(); \
  lhs = std::move(result_##line).value()

}  // namespace troupe
#pragma GCC visibility pop
