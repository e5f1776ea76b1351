// Samples of ops for the test that goes through the op table: inputs on which an op works, and inputs that it must refuse.
// Each family of ops registers its samples in tests/kernels/cases/<family>_cases.cpp; all_cases.cpp lists them. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/ops/run_op.h"

namespace troupe::test {

struct OpCase {
  std::string op;
  std::vector<Tensor> inputs;
  Attributes attrs;
};

struct BadCase {
  OpCase sample;
  Code code = Code::InvalidArgument;
  std::string text;  ///< a part of the message
};

/// An op without a kernel: the shapes that are inferred for its outputs, and the test that runs it.
struct ServedCase {
  OpCase sample;
  std::string shapes;  ///< inferred from the shapes of the inputs, for example "[2,3] []"
  std::string test;    ///< a file under tests/ that names the op
};

class OpCases {
 public:
  /// Adds a sample that works. Inputs of dtype double are differentiated,
  /// so they must not be near kinks. Every differentiable op needs one.
  void good(std::string op, std::vector<Tensor> inputs, Attributes attrs = {}) {
    good_[op].push_back({op, std::move(inputs), std::move(attrs)});
  }
  /// Adds a sample that works in every type that a kernel serves: one sample for each type of each type
  /// attribute, with the inputs of that type converted. Use values from 1 to 9, which exist in all types.
  void good_in_every_type(const std::string& op, const std::vector<Tensor>& inputs,
                          const Attributes& attrs = {});
  /// Adds a sample that is refused, when the graph is built or in the step.
  void bad(std::string op, std::vector<Tensor> inputs, Attributes attrs, std::string text,
           Code code = Code::InvalidArgument) {
    bad_[op].push_back({{op, std::move(inputs), std::move(attrs)}, code, std::move(text)});
  }
  /// Adds a sample of an op without a kernel, which an actor or the step itself carries out.
  void served(std::string op, std::vector<Tensor> inputs, Attributes attrs, std::string shapes,
              std::string test) {
    served_[op].push_back({{op, std::move(inputs), std::move(attrs)}, std::move(shapes), std::move(test)});
  }
  const std::vector<OpCase>& good(std::string_view op) const { return find(good_, op); }
  const std::vector<BadCase>& bad(std::string_view op) const { return find(bad_, op); }
  const std::vector<ServedCase>& served(std::string_view op) const { return find(served_, op); }

 private:
  template <class Case>
  static const std::vector<Case>& find(const std::map<std::string, std::vector<Case>, std::less<>>& cases,
                                       std::string_view op) {
    static const std::vector<Case> none;
    const auto at = cases.find(op);
    return at == cases.end() ? none : at->second;
  }
  std::map<std::string, std::vector<OpCase>, std::less<>> good_;
  std::map<std::string, std::vector<BadCase>, std::less<>> bad_;
  std::map<std::string, std::vector<ServedCase>, std::less<>> served_;
};

/// Checks through Boost.Test that the outputs have the same bits for whatever is known about the inputs, for one thread
/// and two, when buffers may be reused in place, and on a DelayedDevice; and that the inferred shapes are right.
void check_case(const OpCase& sample);
/// Checks the code and the text of the failure, and that the message names the op.
void check_bad_case(const BadCase& bad);
/// Checks the inferred shapes, and that the named test names the op.
void check_served_case(const ServedCase& served);

/// Returns numbers uniform in [low, high), which depend on the seed only.
Tensor random_doubles(const Shape& shape, double low, double high, uint64_t seed = 1);
/// Returns the same elements in another type. Numbers become strings of their digits.
Tensor converted(const Tensor& tensor, DType dtype);
Tensor doubles(const Shape& shape, std::initializer_list<double> values);
Tensor bools(const Shape& shape, std::initializer_list<bool> values);

}  // namespace troupe::test
