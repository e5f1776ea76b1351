#include "actors/step/session_server.h"

#include <algorithm>
#include <map>

#include "actors/checkpoint/checkpoint.h"
#include "actors/net/devices_wire.h"
#include "actors/net/membership.h"
#include "actors/step/master.h"
#include "actors/step/session_impl.h"
#include "actors/step/session_wire.h"
#include "messages/env/random_id.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr int64_t pause = 20'000'000;  // nanoseconds until workers that cannot be asked yet are tried again

class SessionServerRole final : public Role {
 public:
  SessionServerRole(ActorNode& node, std::shared_ptr<TaskSites> task, OtherWorkers others,
                    size_t max_sessions)
      : node_(node), task_(std::move(task)), others_(std::move(others)), max_sessions_(max_sessions) {
    on<wire::OpenSession>([this](const auto& message, Reply reply) { open(*message, std::move(reply)); });
    on<wire::ResetContainers>([this](const auto& message, Reply reply) { reset(message, std::move(reply)); });
    on<wire::AskAgain>([this](const auto& message, Reply) { attempt(message->getQuestion()); });
  }

 private:
  using Workers = std::vector<Address>;
  /// A question to the worker of this task and to others, which waits until these are linked.
  struct Question {
    std::vector<std::string> tasks;  ///< the others; empty: all
    int64_t deadline = 0;
    Reply reply;  ///< of the request that the question is for
    std::function<AnyMessage(const Workers& workers)> ask;
    std::function<Result<AnyMessage>(const Workers& workers, const Answers& answers)> then;
    bool opens = false;  ///< a session
  };
  using QuestionAt = std::map<uint64_t, Question>::iterator;

  void stopping() override { node_.directory.remove(task_->address(session_server_role)); }

  // Sessions.

  void open(wire::OpenSession::Reader request, Reply reply) {
    const auto opening = std::ranges::count_if(questions_, [](const auto& one) { return one.second.opens; });
    if (static_cast<size_t>(opening) + sessions_ >= max_sessions_)
      return reply(resource_exhausted(task_->task + " has " + std::to_string(max_sessions_) +
                                      " sessions of clients already, the most that it may have"));
    const auto options = read(request);
    if (!options) return reply(options.status());
    const auto client = node_.directory.find(read(request.getClient()));
    if (!client) return reply(client.status());
    Question question{options->tasks, deadline_after(node_.env.clock, options->start_timeout),
                      std::move(reply), list_devices_request,
                      [this, client = *client, options = *options](const auto& workers, const auto& answers) {
                        return opened(client, options, workers, answers);
                      }};
    question.opens = true;
    const uint64_t number = add(std::move(question));
    watch(*client, [this, number](const Status&) {
      if (const auto at = questions_.find(number); at != questions_.end())
        end(at, cancelled("the client has ended"));
    });
    attempt(number);
  }

  Result<AnyMessage> opened(const ActorRef& client, const SessionOptions& options, const Workers& workers,
                            const Answers& answers) {
    std::vector<WorkerDevices> devices;
    for (size_t i = 0; i < workers.size(); ++i) {
      TROUPE_ASSIGN(auto listed, read(Message<wire::DevicesListed>(*answers[i])->getDevices()));
      devices.push_back({workers[i], std::move(listed)});
    }
    const uint64_t session = random_id();
    const Address master = task_->address("master", std::to_string(session));
    Draft<wire::SessionOpened> draft;
    draft->setSession(session);
    draft->setContainer(as_text(state_container(session, options)));
    write(master, draft->initMaster());
    write(checkpoint_coordinator_address(task_->address("worker")), draft->initCoordinator());
    write(devices, draft->initWorkers(static_cast<uint32_t>(devices.size())));
    ++sessions_;
    watch(spawn_master(node_, master, session, std::move(devices), options, client),
          [this](const Status&) { --sessions_; });
    return AnyMessage(draft.finish());
  }

  void reset(const Message<wire::ResetContainers>& message, Reply reply) {
    const auto patience = static_cast<int64_t>(std::min<uint64_t>(message->getPatience(), max_patience));
    attempt(add({{},
                 node_.env.clock.now() + patience,
                 std::move(reply),
                 [message](const auto&) {
                   Draft<wire::DropContainers> draft;
                   draft->setContainers(message->getContainers());
                   return AnyMessage(draft.finish());
                 },
                 [](const auto&, const auto& answers) { return AnyMessage(sum_of(answers)); }}));
  }

  static Message<wire::ContainersReset> sum_of(const Answers& answers) {
    uint64_t states = 0;
    for (const auto& answer : answers) states += Message<wire::ContainersDropped>(*answer)->getStates();
    Draft<wire::ContainersReset> draft;
    draft->setStates(states);
    return draft.finish();
  }

  // Questions to workers.

  uint64_t add(Question question) {
    questions_.emplace(++last_question_, std::move(question));
    return last_question_;
  }

  void attempt(uint64_t number) {
    const auto at = questions_.find(number);
    if (at == questions_.end()) return;
    auto workers = others_(at->second.tasks);
    if (!workers) return again(at, workers.status());
    workers->insert(workers->begin(), task_->address("worker"));
    const AnyMessage message = at->second.ask(*workers);
    std::vector<AddressedRequest> requests;
    for (const Address& worker : *workers) {
      const auto actor = node_.directory.find(worker);
      if (!actor) return again(at, actor.status());
      requests.push_back({*actor, message});
    }
    ask_all(std::move(requests), [this, number, workers = *workers](const Answers& answers) {
      answered(number, workers, answers);
    });
  }

  void answered(uint64_t number, const Workers& workers, const Answers& answers) {
    const auto at = questions_.find(number);
    if (at == questions_.end()) return;
    for (const auto& answer : answers)
      if (!answer) return again(at, answer.status());
    end(at, at->second.then(workers, answers));
  }

  /// Asks again after a pause, unless the failure is permanent or the deadline has passed.
  void again(QuestionAt at, const Status& status) {
    if (status.code() != Code::Unavailable) return end(at, status);
    const int64_t now = node_.env.clock.now();
    if (now >= at->second.deadline) return end(at, deadline_exceeded(status.text()));
    node_.env.clock.call_at(std::min(now + pause, at->second.deadline),
                            [self = self(), number = at->first, &node = node_] {
                              Draft<wire::AskAgain> draft;
                              draft->setQuestion(number);
                              node.engine.send(self, draft.finish());
                            });
  }

  void end(QuestionAt at, Result<AnyMessage> answer) {
    Reply reply = std::move(at->second.reply);
    questions_.erase(at);
    reply(std::move(answer));
  }

  ActorNode& node_;
  const std::shared_ptr<TaskSites> task_;
  const OtherWorkers others_;
  const size_t max_sessions_;
  std::map<uint64_t, Question> questions_;  ///< by number
  uint64_t last_question_ = 0;
  size_t sessions_ = 0;  ///< how many masters have not ended
};

}  // namespace

ActorRef spawn_session_server(ActorNode& node, std::shared_ptr<TaskSites> task, OtherWorkers others,
                              size_t max_sessions) {
  const Address address = task->address(session_server_role);
  auto server = node.engine.spawn(
      std::make_unique<SessionServerRole>(node, std::move(task), std::move(others), max_sessions));
  node.directory.add(address, server);
  return server;
}

}  // namespace troupe
