// The methods of optimizers, as a table: for each, the op that updates a variable, its slots and its hyperparameters. The
// optimizers (optimizer.h) and the keys of run files are made from it. Constants; any thread.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::nn {

/// A number, or a flag (0 or 1), that a method depends on.
struct Hyperparameter {
  std::string name;         ///< unique in the method, such as "decay"
  double initial = 0;       ///< the default
  std::string_view input;   ///< the input of the op that gets the value, such as "rho"; empty: none
  std::string_view option;  ///< the bool attribute of the op that the flag sets; empty: none
  std::string_view meaning;
  double low = 0, high = std::numeric_limits<double>::infinity();  ///< the smallest and the largest value
  bool below_high = false;                                         ///< excludes `high` itself
  bool is_flag = false;
};

/// A variable beside the updated one, of its shape, that holds state of the method.
struct OptimizerSlot {
  std::string_view name;
  double initial = 0;  ///< the first value of every element
  /// Whether the hyperparameter initial_accumulator gives the first value instead.
  bool is_accumulator = false;
};

struct OptimizerMethod {
  std::string name;  ///< "adam"; the names of slots begin with it
  /// "Adam" stands for the ops ApplyAdam and SparseApplyAdam. Empty: the method has a class of its own instead.
  std::string_view op;
  std::vector<OptimizerSlot> slots;
  std::vector<Hyperparameter> hyperparameters;
  std::vector<std::string> options = {};  ///< the bool attributes of the op that are always true
  bool on_rows = true;                    ///< whether there is an op for gradients that are rows
};

/// The hyperparameters that the optimizer uses itself, the weight decay unless it is an input of the op; the others are inputs or
/// attributes of the op.
inline constexpr std::string_view lazy_flag = "lazy", decoupled_decay = "weight_decay",
                                  first_accumulator = "initial_accumulator";

/// Returns all methods.
const std::vector<OptimizerMethod>& optimizer_methods();
/// Returns the method of this name. Throws InvalidArgument, which lists the methods, if there is none.
const OptimizerMethod& optimizer_method(std::string_view name);

}  // namespace troupe::nn
