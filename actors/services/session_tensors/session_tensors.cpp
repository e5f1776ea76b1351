#include "actors/services/session_tensors/session_tensors.h"

#include <algorithm>
#include <deque>
#include <map>

#include "messages/schemas/session_tensors.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// How many sessions the actor remembers after their end, so that it keeps no tensor that arrives late.
constexpr size_t max_ended = 1024;

class SessionTensorsRole final : public Role {
 public:
  explicit SessionTensorsRole(std::string device) : device_(std::move(device)) {
    on<wire::KeepTensor>([this](const auto& message, Reply reply) { keep(message, std::move(reply)); });
    on<wire::GetTensor>([this](const auto& message, Reply reply) { get(*message, std::move(reply)); });
    on<wire::DeleteTensor>([this](const auto& message, Reply reply) {
      const auto tensors = sessions_.find(message->getSession());
      if (tensors == sessions_.end() || tensors->second.erase(message->getNumber()) == 0)
        return reply(unknown(*message));
      reply(Draft<wire::TensorDeleted>().finish());
    });
    on<wire::EndSession>([this](const auto& message, Reply) {
      sessions_.erase(message->getSession());
      ended_.push_back(message->getSession());
      if (ended_.size() > max_ended) ended_.pop_front();
    });
  }

 private:
  void keep(const Message<wire::KeepTensor>& message, Reply reply) {
    const uint64_t session = message->getSession();
    auto tensor = message.attachment(0);
    if (!tensor) return reply(tensor.status());
    if (!sessions_.contains(session) && std::ranges::find(ended_, session) != ended_.end())
      return reply(cancelled("the session has ended"));
    sessions_[session].insert_or_assign(message->getNumber(), std::move(*tensor));
    Draft<wire::TensorKept> draft;
    draft->setSession(session);
    draft->setNumber(message->getNumber());
    reply(draft.finish());
  }

  void get(wire::GetTensor::Reader request, Reply reply) const {
    const auto tensors = sessions_.find(request.getSession());
    if (tensors == sessions_.end()) return reply(unknown(request));
    const auto tensor = tensors->second.find(request.getNumber());
    if (tensor == tensors->second.end()) return reply(unknown(request));
    if (static_cast<uint32_t>(tensor->second.dtype()) != request.getType())
      return reply(invalid_argument("the handle is that of a " + tensor->second.signature() +
                                    ", but this node yields " +
                                    std::string(name(static_cast<DType>(request.getType())))));
    reply(Draft<wire::TensorGot>().finish({tensor->second}));
  }

  template <class Request>
  Status unknown(Request request) const {
    return invalid_argument("tensor " + std::to_string(request.getNumber()) +
                            " is not in the session store of " + device_ +
                            ": it was deleted, or its task has restarted");
  }

  const std::string device_;
  std::map<uint64_t, std::map<uint64_t, Tensor>> sessions_;  ///< the tensors of each session, by number
  std::deque<uint64_t> ended_;
};

}  // namespace

std::unique_ptr<Role> make_session_tensors(const std::string& device) {
  return std::make_unique<SessionTensorsRole>(device);
}

}  // namespace troupe
