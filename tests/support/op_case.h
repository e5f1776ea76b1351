// Samples of ops for the test that walks the op table: inputs on which an op works, and inputs it must refuse. Each family of ops
// registers its own in tests/kernels/<family>_cases.cpp; all_cases.cpp lists them. Test code; one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/run_op.h"

namespace troupe::test {

struct OpCase {
  std::string op;
  std::vector<Tensor> inputs;
  Attributes attrs;
};

struct BadCase {
  OpCase sample;
  Code code = Code::InvalidArgument;
  std::string text;  ///< must stand in the message
};

/// An op without a kernel: what is inferred of its outputs, and the test that runs it.
struct ServedCase {
  OpCase sample;
  std::string shapes;  ///< inferred from the shapes of the inputs: "[2,3] []"
  std::string test;    ///< a file under tests/ that names the op
};

class OpCases {
 public:
  /// Works. Inputs of dtype double are differentiated: keep them off kinks, and give every differentiable op such a sample.
  void good(std::string op, std::vector<Tensor> inputs, Attributes attrs = {}) {
    good_[op].push_back({op, std::move(inputs), std::move(attrs)});
  }
  /// Works, and so it does in every type that a kernel serves: one sample for each type of each type attribute, with the inputs
  /// of that type converted. Values 1 to 9 exist in all of them.
  void good_in_every_type(const std::string& op, const std::vector<Tensor>& inputs,
                          const Attributes& attrs = {});
  /// Is refused, when the graph is built or in the step.
  void bad(std::string op, std::vector<Tensor> inputs, Attributes attrs, std::string text,
           Code code = Code::InvalidArgument) {
    bad_[op].push_back({{op, std::move(inputs), std::move(attrs)}, code, std::move(text)});
  }
  /// Has no kernel: an actor or the step itself carries it out.
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

/// Checks through Boost.Test that the outputs are the same bits whatever is known of the inputs, for one thread and two, when
/// buffers may be reused in place, and on a DelayedDevice; and that inferred shapes describe them.
void check_case(const OpCase& sample);
/// Checks code and text of the failure, and that the message names the op.
void check_bad_case(const BadCase& bad);
/// Checks the inferred shapes, and that the test it refers to names the op.
void check_served_case(const ServedCase& served);

/// Uniform in [low, high); equal for equal seeds.
Tensor random_doubles(const Shape& shape, double low, double high, uint64_t seed = 1);
/// The same elements in another type; numbers become their digits as strings.
Tensor converted(const Tensor& tensor, DType dtype);
Tensor doubles(const Shape& shape, std::initializer_list<double> values);
Tensor bools(const Shape& shape, std::initializer_list<bool> values);

}  // namespace troupe::test
