// RoundCoordinator: begins and ends a synchronous training of a runtime that has all tasks (messages/schemas/rounds.capnp), as the
// client of a training does. One thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "actors/node_services.h"
#include "actors/runtime.h"
#include "messages/schemas/rounds.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::test {

class RoundCoordinator {
 public:
  struct Options {
    std::vector<std::string> tasks = {"/job:ps"};  ///< of the variables
    uint64_t training = 1;
    uint32_t shards = 1, required = 1, pushes = 1;
    bool backups = false;
  };
  /// Throws Error.
  RoundCoordinator(Runtime& runtime, const Options& options)
      : runtime_(runtime), training_(options.training) {
    auto& services = runtime.services();
    auto roles = value_or_throw(services.addresses("rounds", options.tasks, std::chrono::seconds(1)));
    for (Address& role : roles) role.key = role.task + "/device:CPU:0";
    coordinator_ = value_or_throw(services.find(roles.front()));
    Draft<wire::BeginRounds> draft;
    draft->setTraining(training_);
    write(services.address("worker"), draft->initClient());
    auto replicas = draft->initReplicas(static_cast<uint32_t>(roles.size()));
    for (uint32_t i = 0; i < roles.size(); ++i) {
      roles[i].role = "replicas";
      write(roles[i], replicas[i]);
    }
    draft->setShards(options.shards);
    draft->setRequired(options.required);
    draft->setBackups(options.backups);
    draft->setPushes(options.pushes);
    ask(draft.finish());
  }

  void require(uint32_t shards) const {
    Draft<wire::RequireShards> draft;
    draft->setTraining(training_);
    draft->setRequired(shards);
    ask(draft.finish());
  }
  Message<wire::RoundsEnded> end() const {
    Draft<wire::EndRounds> draft;
    draft->setTraining(training_);
    return Message<wire::RoundsEnded>(ask(draft.finish()));
  }

 private:
  AnyMessage ask(AnyMessage request) const {
    return value_or_throw(runtime_.services().call_all({{coordinator_, std::move(request)}})[0]);
  }
  Runtime& runtime_;
  const uint64_t training_;
  ActorRef coordinator_;
};

}  // namespace troupe::test
