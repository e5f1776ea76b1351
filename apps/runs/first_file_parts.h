// What first run files have in common. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace troupe::runs {

/// Returns a string of TOML.
std::string quoted(const std::string& text);

/// The numbers of samples by the names of their classes.
using ClassCounts = std::map<std::string, int64_t, std::less<>>;

/// Returns a line, in comments, with weights of classes for [train] if a class has far fewer samples than another one; otherwise an
/// empty text.
std::string advice_on_rare_classes(const ClassCounts& classes);

}  // namespace troupe::runs
