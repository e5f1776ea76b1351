// Text for Markdown, and the pages on run files made of the tables that define them. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace troupe::reference {

/// Returns the text so that Markdown takes no character of it for markup.
std::string in_text(std::string_view text);
/// Does the same for a cell of a table.
std::string in_cell(std::string_view text);

/// Returns docs/reference/keys.md: the keys of run files and of cluster files.
std::string keys_markdown();
/// Returns docs/reference/layers.md: the layers and their options.
std::string layers_markdown();

}  // namespace troupe::reference
