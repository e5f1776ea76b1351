// OpSample: one op with inputs and attributes, and what its graph knows about the inputs. Most samples are those of the op table's
// test (tests/kernels/cases) with a few changes, so that many of them reach the compute functions; the others follow the op's
// declaration. One thread.
#pragma once

#include <optional>

#include "tests/op_fuzz/choices.h"
#include "tests/support/ops/op_case.h"

namespace troupe::fuzz {

struct OpSample {
  const OpDef* op = nullptr;
  std::vector<Tensor> inputs;
  Attributes attrs;
  /// What the graph knows of each input: its value if there is nothing, or else this of its shape.
  std::vector<std::optional<PartialShape>> known;

  /// Returns op, attributes and inputs, for people.
  std::string text() const;
};

/// Returns the argument to which input number `input` of `inputs` belongs, or null if there is none.
const ArgDef* argument_of(const OpDef& op, size_t input, size_t inputs);

/// OpSamples: the samples to start from.
class OpSamples {
 public:
  explicit OpSamples(const test::OpCases& cases);
  OpSample next(Choices& choices) const;
  size_t ops() const { return ops_.size(); }

 private:
  struct Op {
    const OpDef* def;
    std::vector<const test::OpCase*> good, bad;
  };
  void add(const OpDef& def, const test::OpCases& cases);

  std::vector<Op> ops_;
};

}  // namespace troupe::fuzz
