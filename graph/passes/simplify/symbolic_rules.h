// The rules of SymbolicShapes: how the shapes, and the elements of shapes, that a node returns follow from its inputs. Pure
// functions.
#pragma once

#include "graph/passes/simplify/symbolic_shapes.h"

namespace troupe {

/// Returns what follows for an output of a node, which is one of `nodes`, from what is known of its inputs. A dimension that no
/// rule determines is unnamed_dim. The variable of a loop is what it is at first.
SymbolicFacts symbolic_facts(std::span<const Node> nodes, const SymbolicShapes& known, const Node& node,
                             uint32_t output);

/// Returns whether the node is the variable of a loop: a Merge of its first value, input 0, and its next one, input 1.
bool is_loop_variable(std::span<const Node> nodes, const Node& node);

}  // namespace troupe
