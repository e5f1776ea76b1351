#include "apps/commands/object_store.h"

#include <utility>

#include "apps/commands/rank_options.h"
#include "apps/inference/model_source.h"
#include "apps/runs/trained_run.h"
#include "messages/objects/s3_disk.h"

namespace troupe::commands {
namespace {

/// Sets the text to the first variable that is not empty, unless it is given.
void set_if_empty(std::string& text, std::initializer_list<const char*> variables) {
  for (const char* const variable : variables)
    if (text.empty()) text = environment_variable(variable).value_or("");
}

/// Returns the store to which the first of the paths leads.
Result<std::unique_ptr<ObjectDisk>> store_of(Disk& disk, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.starts_with("s3://")) return make_s3_disk(object_store());
    const auto model = runs::find_model(disk, path);
    if (!model) continue;
    const auto location =
        inference::checkpoints_of_run(disk, runs::run_of_checkpoint(disk, *model).value_or(*model));
    if (location.folder.starts_with("s3://"))
      return make_s3_disk(object_store(location.endpoint, location.region));
  }
  return not_found("none of the given paths leads to a store");
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

ModelDisk::ModelDisk(const std::vector<std::string>& paths) : places_(files_, store_of(files_, paths)) {}

}  // namespace troupe::commands
