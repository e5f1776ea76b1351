#include "apps/golden/golden_case.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz.h"
#include "apps/interop/read_graph.h"

namespace troupe::golden {
namespace {

using Json = nlohmann::json;
constexpr uint64_t max_case_bytes = uint64_t{1} << 30;

/// Reads the files of a case. step() throws Error, and Json::exception if case.json has other fields or types than expected.
class CaseReader {
 public:
  CaseReader(Disk& disk, std::string folder) : disk_(disk), folder_(std::move(folder)) {}

  Result<std::string> file(const std::string& name) const {
    return read_file(disk_, path(name), max_case_bytes);
  }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  Result<Json> json() const {
    TROUPE_ASSIGN(const std::string text, file("case.json"));
    try {
      return Json::parse(text);
    } catch (const Json::exception& error) {
      return invalid_argument(path("case.json") + ": " + error.what());
    }
  }

  Step step(const Json& json) {
    Step step;
    const Json feeds = json.value("feeds", Json::object()), expected = json.value("expect", Json::array());
    for (const auto& [name, value] : feeds.items()) step.feeds.emplace_back(name, array(value));
    step.targets = json.value("targets", std::vector<std::string>());
    step.fetches = json.value("fetches", std::vector<std::string>());
    for (const Json& value : expected) step.expected.push_back(array(value));
    step.relative = json.value("rtol", 0.0);
    step.absolute = json.value("atol", 0.0);
    if (json.contains("error")) step.failure = code(json.at("error"));
    if (!step.failure && step.expected.size() != step.fetches.size())
      throw Error(invalid_argument(path("case.json") + ": " + std::to_string(step.fetches.size()) +
                                   " fetches, but " + std::to_string(step.expected.size()) +
                                   " values expected"));
    return step;
  }

 private:
  Code code(const std::string& text) const {
    for (int number = 1; number <= static_cast<int>(Code::DataLoss); ++number)
      if (name(static_cast<Code>(number)) == text) return static_cast<Code>(number);
    throw Error(invalid_argument(path("case.json") + ": unknown error code '" + text + "'"));
  }

  Tensor array(const Json& json) {
    if (json.is_string()) return stored(json);
    if (json.is_array()) return strings(json);
    if (json.contains("values")) return strings(json.at("values"));
    const Tensor bits = stored(json.at("array"));
    if (const std::string dtype = json.at("dtype"); dtype != "bfloat16")
      throw Error(invalid_argument(path("case.json") + ": dtype '" + dtype + "'; allowed: bfloat16"));
    return value_or_throw(data::as_bfloat16(bits));
  }

  /// Returns the array of a file, "x.npy", or of an archive, "x.npz:name".
  Tensor stored(const std::string& where) {
    const size_t colon = where.find(':');
    if (colon == std::string::npos)
      return value_or_throw(data::read_npy(value_or_throw(file(where)), path(where)));
    const std::string archive = where.substr(0, colon), name = where.substr(colon + 1);
    auto at = archives_.find(archive);
    if (at == archives_.end())
      at = archives_
               .emplace(archive, value_or_throw(data::read_npz(value_or_throw(file(archive)), path(archive))))
               .first;
    const auto member = at->second.find(name);
    if (member == at->second.end()) throw Error(not_found(path(archive) + " has no array " + name));
    return member->second;
  }

  /// Returns a tensor of strings from nested lists or from one string. Each character stands for a byte.
  static Tensor strings(const Json& json) {
    std::vector<int64_t> dims;
    for (const Json* level = &json; level->is_array(); level = &level->at(0)) {
      dims.push_back(static_cast<int64_t>(level->size()));
      if (level->empty()) break;
    }
    std::vector<std::string> elements;
    collect(json, elements);
    const Shape shape = value_or_throw(Shape::make(dims, DType::String));
    return Tensor::of<std::string>(shape, std::span<const std::string>(elements));
  }
  static void collect(const Json& json, std::vector<std::string>& elements) {
    if (!json.is_array()) return elements.push_back(bytes_of(json.get<std::string>()));
    for (const Json& item : json) collect(item, elements);
  }
  /// Returns a byte for each character from U+0000 to U+00FF.
  static std::string bytes_of(const std::string& utf8) {
    std::string bytes;
    for (size_t i = 0; i < utf8.size(); ++i) {
      const auto first = static_cast<uint8_t>(utf8[i]);
      if (first < 0x80) {
        bytes += utf8[i];
      } else {
        if (first > 0xc3 || i + 1 == utf8.size())
          throw Error(
              invalid_argument("a character above U+00FF in '" + utf8 +
                               "'; each character stands for a byte, so U+0000 to U+00FF are allowed"));
        bytes += static_cast<char>((first & 0x03) << 6 | (static_cast<uint8_t>(utf8[++i]) & 0x3f));
      }
    }
    return bytes;
  }

  Disk& disk_;
  const std::string folder_;
  std::map<std::string, std::map<std::string, Tensor>> archives_;
};

Status collect_cases(Disk& disk, const std::string& path, std::vector<std::string>& cases) {
  TROUPE_ASSIGN(const auto entries, disk.list(path));
  if (std::ranges::find(entries, "case.json", &Disk::Entry::name) != entries.end()) {
    cases.push_back(path);
    return {};
  }
  for (const auto& entry : entries)
    if (entry.is_folder) TROUPE_RETURN_IF_FAILED(collect_cases(disk, path + "/" + entry.name, cases));
  return {};
}

}  // namespace

Result<Case> load_case(Disk& disk, const std::string& folder, std::shared_ptr<const OpTable> ops) {
  CaseReader reader(disk, folder);
  TROUPE_ASSIGN(const std::string bytes, reader.file("graph.pb"));
  TROUPE_ASSIGN(Graph graph, interop::read_graph_def(bytes, std::move(ops)));
  TROUPE_RETURN_IF_FAILED(graph.absent().why());
  TROUPE_ASSIGN(const Json json, reader.json());
  if (json.contains("missing"))
    return invalid_argument(reader.path("case.json") +
                            ": 'missing' lists ops, but no op is missing any more");
  Case result{std::move(graph), {}, {}};
  try {
    const Json gradients = json.value("gradients", Json::array());
    for (const Json& gradient : gradients)
      result.gradients.push_back({gradient.at("name"), gradient.at("of"), gradient.at("by")});
    for (const Json& step : json.at("steps")) result.steps.push_back(reader.step(step));
  } catch (const Json::exception& error) {
    return invalid_argument(reader.path("case.json") + ": " + error.what());
  } catch (const Error& error) {
    return error.status();
  }
  return result;
}

bool known_to_lack(Disk& disk, const std::string& folder, const Status& failure) {
  const auto json = CaseReader(disk, folder).json();
  if (failure.code() != Code::Unimplemented || !json || !json->contains("missing")) return false;
  std::string list;
  for (const Json& op : json->at("missing")) list += (list.empty() ? "" : ", ") + op.get<std::string>();
  return failure.text().ends_with(": " + list);
}

Result<std::vector<std::string>> find_cases(Disk& disk, const std::string& path) {
  std::vector<std::string> cases;
  TROUPE_RETURN_IF_FAILED(collect_cases(disk, path, cases));
  return cases;
}

}  // namespace troupe::golden
