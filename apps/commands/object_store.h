// The store of objects that the environment of this process and a run file name.
#pragma once

#include <string>

#include "messages/objects/s3_options.h"

namespace troupe::commands {

/// Returns the store with the access key in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. If `endpoint` or
/// `region` is empty, it is that of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, and of AWS_REGION or AWS_DEFAULT_REGION.
S3Options object_store(const std::string& endpoint = {}, const std::string& region = {});

}  // namespace troupe::commands
