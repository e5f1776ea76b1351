#include "actors/services/allreduce/failures.h"

namespace troupe {

Status as_seen_by_others(const Status& cause, const std::string& member, const std::string& collective) {
  switch (cause.code()) {
    case Code::Unavailable:
    case Code::InvalidArgument:
    case Code::Aborted:
    case Code::DataLoss: return Status(cause.code(), cause.text());
    default: break;
  }
  return aborted(member + " has left '" + collective + "': " + cause.message());
}

Status lost_site(const std::string& device, const Status& reason) {
  return unavailable("the member " + device + " is lost: " + reason.text());
}

Status disagreement(const std::string& member, const std::string& what, const std::string& other,
                    const std::string& others_what) {
  return invalid_argument("the members disagree: " + member + " runs " + what + "; " + other + " runs " +
                          others_what);
}

Status attempt_has_failed(uint64_t number, uint64_t attempt) {
  return aborted("attempt " + std::to_string(attempt) + " at instance " + std::to_string(number) +
                 " has failed");
}

}  // namespace troupe
