// Foreign names: what users of TensorFlow, Keras, PyTorch and scikit-learn write out of habit, and what a run file has instead.
// Each function of advice returns text to append to an error, "; write mean(x, axis)", or nothing if it knows none. Functions
// without state; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::config {

/// Returns the last part of a name without '_' and capital letters: "maxpool2d" for "tf.nn.max_pool2d" and "MaxPool2D".
std::string plain(std::string_view name);

/// Advises on an unknown function, layer or name of an expression, such as "tf.reduce_mean". `known` has the functions that there
/// are: "relu", "nn.dense".
std::string advice_on_function(std::string_view name, const std::vector<std::string>& known);

/// Advises on a call that a function has refused, for the reason in `text`.
std::string advice_on_refusal(std::string_view function, std::string_view text);

/// Advises on an unknown value of a key that takes one of several words.
std::string advice_on_choice(std::string_view value, const std::vector<std::string_view>& choices);

/// Advises on an unknown key of a run file or an unknown option of a layer, such as "learning_rate". `paths` has the keys that
/// there are: a key of the same name may be in another table.
std::string advice_on_key(std::string_view key, const std::vector<std::string_view>& paths);

/// Advises on an unknown subcommand, such as "fit".
std::string advice_on_subcommand(std::string_view name);

/// Advises on an expression that cannot be read from byte `offset` on: operators and brackets of Python.
std::string advice_on_syntax(std::string_view expression, size_t offset);

/// Advises on a line that is not TOML.
std::string advice_on_line(std::string_view line);

}  // namespace troupe::config
