// OpSession: builds graphs of single ops and runs them as steps, all in one session with a memory cap, and checks what every op
// promises (the list is at check()). One thread.
#pragma once

#include <string>

#include "graph/build/scope.h"
#include "tests/op_fuzz/op_sample.h"
#include "tests/support/net/local_host.h"

namespace troupe::fuzz {

/// How far a sample came.
enum class Reached { Refused, Failed, Computed };

class OpSession {
 public:
  OpSession();

  /// Runs the sample twice: with what the graph knows and with inputs that others hold, too; then with unknown shapes and inputs
  /// that may be overwritten. Sets `broken` to what is wrong, if anything is:
  ///  - A failure has a code that tells the user what to change, a text, and the names of op and node.
  ///  - Outputs have the declared dtypes, and shapes that agree with those of the shape function.
  ///  - Both runs succeed or fail alike, with the same bits.
  ///  - No input changes that others hold, and no variable of a failed step.
  ///  - Afterwards the same session runs a good step.
  Reached check(const OpSample& sample, std::string& broken);

 private:
  struct Built;
  struct Outcome;
  Result<Built> build(const OpSample& sample, bool knows) const;
  Output source(const Scope& scope, const OpSample& sample, size_t input, bool knows) const;
  Outcome run(const OpSample& sample, std::vector<Tensor> inputs, bool knows, std::string& broken);
  Status run_step(Built& built, std::vector<Tensor>& inputs, Outcome& outcome);
  static bool same(const Outcome& a, const Outcome& b);
  std::string good_step();

  InlinePool pool_;
  CpuDevice device_;
  test::LocalRuntime runtime_;
  std::shared_ptr<const PreparedPlan> good_;
};

}  // namespace troupe::fuzz
