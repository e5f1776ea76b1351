// What the drawings in the dot language share: the colours of devices, and quoted text. One thread.
#pragma once

#include <map>
#include <string>

namespace troupe::draw {

/// Gives each device a colour, in the order in which they are first named. After ten devices the colours repeat.
class Colours {
 public:
  const char* of(const std::string& device);
  /// The devices that were named, with their colours.
  const std::map<std::string, const char*>& devices() const { return colours_; }

 private:
  std::map<std::string, const char*> colours_;
};

/// Returns a text as a string of the dot language.
std::string quoted(const std::string& text);

}  // namespace troupe::draw
