// Internal attributes by which a graph notes its variables (variables.h) and queue runners (queue_runner.h). Files of graphs keep
// them, and a file may set them on any node, so that whoever reads one must check what else the note needs.
#pragma once

#include <string_view>

namespace troupe {

/// On a variable, a bool: whether optimizers change it.
constexpr std::string_view trainable_attr = "_trainable";
/// On a variable, a bool, true where it is: the variable belongs to one process and is not saved.
constexpr std::string_view local_attr = "_local";
/// On the node that gives a variable its first value, a bool, true where it is. Its input 0 is the variable, input 1 the value.
constexpr std::string_view initializer_attr = "_initializer";

/// On the node that notes a queue runner: the names of its targets, and the codes of its ends as integers.
constexpr std::string_view queue_enqueue_attr = "_queue_runner_enqueue",
                           queue_close_attr = "_queue_runner_close",
                           queue_cancel_attr = "_queue_runner_cancel", queue_ends_attr = "_queue_runner_ends";

}  // namespace troupe
