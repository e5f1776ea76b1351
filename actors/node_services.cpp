#include "actors/node_services.h"

#include <algorithm>

#include "actors/runtime_impl.h"
#include "messages/values/device_name.h"

namespace troupe {
namespace {

class RuntimeServices final : public NodeServices {
 public:
  explicit RuntimeServices(Runtime::Impl& runtime)
      : runtime_(runtime), node_(*runtime.node), task_(*runtime.tasks.front()) {}

  const std::string& task() const override { return task_.task; }
  Address address(const std::string& role) const override { return task_.address(role); }

  Result<Address> address(const std::string& role, const std::string& task) const override {
    if (!runtime_.joined) return unavailable("this process has not joined a cluster");
    TROUPE_ASSIGN(const uint64_t incarnation, runtime_.membership->incarnation_of(task));
    return Address{task, incarnation, role, {}};
  }

  Status start(const std::string& role, std::unique_ptr<Role> actor) override {
    if (find_local(role)) return already_exists(task() + " already has an actor with role '" + role + "'");
    node_.directory.add(address(role), node_.engine.spawn(std::move(actor)));
    return {};
  }

  void stop(const std::string& role) override {
    if (const auto actor = find_local(role)) node_.engine.stop(*actor);
    node_.directory.remove(address(role));
  }

  Result<std::vector<Address>> addresses(const std::string& role, std::span<const std::string> tasks,
                                         std::chrono::nanoseconds timeout) const override {
    std::vector<DeviceName> wanted;
    for (const auto& task : tasks) {
      TROUPE_ASSIGN(wanted.emplace_back(), DeviceName::parse(task));
    }
    TROUPE_ASSIGN(const auto workers, runtime_.workers(timeout, tasks));
    std::vector<Address> result;
    for (const auto& [worker, devices] : workers) {
      TROUPE_ASSIGN(const DeviceName name, DeviceName::parse(worker.task));
      if (std::ranges::any_of(wanted, [&](const DeviceName& some) { return some.includes(name); }))
        result.push_back({worker.task, worker.incarnation, role, {}});
    }
    return result;
  }

  Result<ActorRef> find(const Address& address) const override { return node_.directory.find(address); }
  void send(const ActorRef& to, AnyMessage message) override { node_.engine.send(to, std::move(message)); }
  void send_after(std::chrono::nanoseconds delay, const ActorRef& to, AnyMessage message) override {
    Clock& clock = node_.env.clock;
    clock.call_at(deadline_after(clock, delay),
                  [&engine = node_.engine, to, message = std::move(message)] { engine.send(to, message); });
  }
  void call(const ActorRef& to, AnyMessage request, Answer then) override {
    node_.engine.send(to, std::move(request), Reply(std::move(then)));
  }
  Answers call_all(std::vector<AddressedRequest> requests, RequestFailed failed) override {
    return node_.engine.call_all(std::move(requests), std::move(failed));
  }
  Disk& disk() const override { return node_.env.disk; }
  Clock& clock() const override { return node_.env.clock; }
  Process& process() const override { return *runtime_.process; }

 private:
  Result<ActorRef> find_local(const std::string& role) const {
    return node_.directory.find_local(address(role));
  }

  Runtime::Impl& runtime_;
  ActorNode& node_;
  const TaskSites& task_;
};

}  // namespace

std::unique_ptr<NodeServices> make_node_services(Runtime::Impl& runtime) {
  return std::make_unique<RuntimeServices>(runtime);
}

}  // namespace troupe
