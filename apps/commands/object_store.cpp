#include "apps/commands/object_store.h"

#include <initializer_list>

#include "apps/commands/rank_options.h"

namespace troupe::commands {
namespace {

/// Sets the text to the first variable that is not empty, unless it is given.
void set_if_empty(std::string& text, std::initializer_list<const char*> variables) {
  for (const char* const variable : variables)
    if (text.empty()) text = environment_variable(variable).value_or("");
}

}  // namespace

S3Options object_store(const std::string& endpoint, const std::string& region) {
  S3Options store;
  std::string where = region;
  store.endpoint = endpoint;
  set_if_empty(store.endpoint, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  set_if_empty(where, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (!where.empty()) store.region = where;
  set_if_empty(store.key_id, {"AWS_ACCESS_KEY_ID"});
  set_if_empty(store.secret_key, {"AWS_SECRET_ACCESS_KEY"});
  set_if_empty(store.session_token, {"AWS_SESSION_TOKEN"});
  return store;
}

}  // namespace troupe::commands
