// XML text: finds elements in the answers of a store of objects, which are small and have no attributes that matter here. An
// answer may be damaged or hostile: what is not found is absent. No I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Returns the contents of all elements with this tag, in order, as they are written.
std::vector<std::string_view> xml_elements(std::string_view text, std::string_view tag);
/// Returns the text of the first element with this tag, with its entities decoded; nothing if there is none.
std::optional<std::string> xml_value(std::string_view text, std::string_view tag);

}  // namespace troupe
