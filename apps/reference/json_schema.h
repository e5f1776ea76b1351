// A JSON schema (draft 7) of TOML files, made of the table of their keys, for editors. A pure function; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/config/key.h"

namespace troupe::reference {

/// Keys that depend on other keys (Rules::when) are allowed always; everything else is as the program checks it.
std::string json_schema(std::span<const config::Key> keys, std::string_view title);

}  // namespace troupe::reference
