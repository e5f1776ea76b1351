#include "messages/values/device_name.h"

#include <charconv>

namespace troupe {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool consume(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

// Reads a letter followed by letters, digits and underscores, or "*", which unsets the component.
bool consume_word(std::string_view& rest, std::string& word) {
  word.clear();
  if (consume(rest, "*")) return true;
  if (rest.empty() || !is_letter(rest[0])) return false;
  size_t length = 1;
  while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]) || rest[length] == '_'))
    ++length;
  word = rest.substr(0, length);
  rest.remove_prefix(length);
  return true;
}

// Reads decimal digits whose value fits an int, or "*", which unsets the component.
bool consume_number(std::string_view& rest, int& number) {
  number = DeviceName::unset;
  if (consume(rest, "*")) return true;
  if (rest.empty() || !is_digit(rest[0])) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc{}) return false;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return true;
}

bool consume_component(std::string_view& rest, DeviceName& name) {
  if (consume(rest, "/job:")) return consume_word(rest, name.job);
  if (consume(rest, "/replica:")) return consume_number(rest, name.replica);
  if (consume(rest, "/task:")) return consume_number(rest, name.task);
  if (consume(rest, "/device:")) {
    name.id = DeviceName::unset;
    return consume_word(rest, name.type) && (!consume(rest, ":") || consume_number(rest, name.id));
  }
  if (consume(rest, "/cpu:") || consume(rest, "/CPU:")) {
    name.type = "CPU";
    return consume_number(rest, name.id);
  }
  if (consume(rest, "/gpu:") || consume(rest, "/GPU:")) {
    name.type = "GPU";
    return consume_number(rest, name.id);
  }
  return false;
}

// Copies the value of `from` to `into` if it is set. Returns false if both are set and differ.
template <class T>
bool merge_component(T& into, const T& from, const T& unset) {
  if (from == unset) return true;
  if (into == unset) into = from;
  return into == from;
}

}  // namespace

Result<DeviceName> DeviceName::parse(std::string_view text) {
  DeviceName name;
  if (text == "/") return name;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest;
    if (!consume_component(rest, name))
      return invalid_argument(
          "'" + std::string(text) + "' is not a device name: '" + std::string(before) +
          "' starts with none of /job:NAME, /replica:N, /task:N, /device:TYPE:N, /cpu:N, /gpu:N");
  }
  return name;
}

std::string DeviceName::text() const {
  std::string out;
  if (!job.empty()) out += "/job:" + job;
  if (replica != unset) out += "/replica:" + std::to_string(replica);
  if (task != unset) out += "/task:" + std::to_string(task);
  if (type.empty() && id == unset) return out;
  out += "/device:" + (type.empty() ? "*" : type);
  if (id != unset) out += ":" + std::to_string(id);
  return out;
}

bool DeviceName::fully_specified() const {
  return !job.empty() && replica != unset && task != unset && !type.empty() && id != unset;
}

bool DeviceName::includes(const DeviceName& other) const {
  return (job.empty() || job == other.job) && (replica == unset || replica == other.replica) &&
         (task == unset || task == other.task) && (type.empty() || type == other.type) &&
         (id == unset || id == other.id);
}

DeviceName DeviceName::task_name() const {
  DeviceName name;
  name.job = job;
  name.replica = replica;
  name.task = task;
  return name;
}

Result<DeviceName> merge(const DeviceName& a, const DeviceName& b, Placement placement) {
  DeviceName merged = a;
  const auto conflict = [&](std::string_view component) {
    return invalid_argument("device names '" + a.text() + "' and '" + b.text() + "' name different " +
                            std::string(component));
  };
  if (!merge_component(merged.job, b.job, std::string{})) return conflict("jobs");
  if (!merge_component(merged.replica, b.replica, DeviceName::unset)) return conflict("replicas");
  if (!merge_component(merged.task, b.task, DeviceName::unset)) return conflict("tasks");
  if (!merge_component(merged.type, b.type, std::string{})) {
    if (placement == Placement::Strict) return conflict("device types");
    merged.type.clear();
    merged.id = DeviceName::unset;
  } else if (!merge_component(merged.id, b.id, DeviceName::unset)) {
    if (placement == Placement::Strict) return conflict("device ids");
    merged.id = DeviceName::unset;
  }
  return merged;
}

DeviceName override_with(DeviceName outer, const DeviceName& inner) {
  if (!inner.job.empty()) outer.job = inner.job;
  if (inner.replica != DeviceName::unset) outer.replica = inner.replica;
  if (inner.task != DeviceName::unset) outer.task = inner.task;
  if (!inner.type.empty()) outer.type = inner.type;
  if (inner.id != DeviceName::unset) outer.id = inner.id;
  return outer;
}

}  // namespace troupe
