#include "apps/train/rounds/servers.h"

#include <algorithm>

#include "actors/services/mirror/mirror.h"
#include "actors/services/mirror/mirror_source.h"
#include "apps/train/graphs/replication_tasks.h"
#include "messages/env/process.h"
#include "messages/schemas/mirror.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

/// The device on which the variables of a task lie.
constexpr const char* device_of_variables = "/device:CPU:0";

bool is_worker(const std::string& task) { return task.starts_with("/job:worker/"); }

template <class T>
AnyMessage about(uint64_t mirror) {
  Draft<T> draft;
  draft->setMirror(mirror);
  return draft.finish();
}

AnyMessage end_message(uint64_t mirror, bool adopted) {
  Draft<wire::EndMirror> draft;
  draft->setMirror(mirror);
  draft->setAdopted(adopted);
  return draft.finish();
}

/// The jobs whose tasks may own variables.
constexpr const char* jobs_with_variables[] = {"ps", "worker"};

std::vector<std::string> task_names(const config::RunConfig& config, const char* job) {
  std::vector<std::string> names;
  if (const auto tasks = config.cluster.tasks.find(job); tasks != config.cluster.tasks.end())
    for (int64_t task = 0; task < tasks->second; ++task) names.push_back(task_name(job, task));
  return names;
}

/// Returns the address of the actor with this role beside the variables of a task. Fails if the task is not linked.
Result<Address> address_beside_variables(NodeServices& services, const std::string& role,
                                         const std::string& task) {
  TROUPE_ASSIGN(Address address, services.address(role, task));
  address.key = task + device_of_variables;
  return address;
}

/// Tells all linked tasks the number of an attempt. Returns the latest one that they know.
uint64_t claim(Runtime& runtime, const config::RunConfig& config, uint64_t attempt) {
  const auto owners = owners_of_variables(config);
  Draft<wire::ClaimVariables> draft;
  draft->setAttempt(attempt);
  const AnyMessage message = draft.finish();
  std::vector<AddressedRequest> requests;
  std::vector<bool> is_owner;
  for (const char* job : jobs_with_variables)
    for (const std::string& task : task_names(config, job)) {
      const bool owns = std::ranges::count(owners, task) > 0;
      const auto role = address_beside_variables(runtime.services(), mirror_role, task);
      const auto actor = role ? runtime.services().find(*role) : role.status();
      if (actor) {
        requests.push_back({*actor, message});
        is_owner.push_back(owns);
      } else if (owns) {
        throw Error(Status(actor.status()).at_device(task));
      }
    }
  uint64_t latest = attempt;
  const Answers answers = runtime.services().call_all(std::move(requests));
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i])
      latest = std::max(latest, Message<wire::VariablesClaimed>(*answers[i])->getAttempt());
    else if (is_owner[i])
      throw Error(answers[i].status());
  }
  return latest;
}

}  // namespace

uint64_t claim_variables(Runtime& runtime, const config::RunConfig& config) {
  value_or_throw(runtime.services().addresses(mirror_role, owners_of_variables(config),
                                              config.train.fault.start_timeout));
  const uint64_t attempt = latest_attempt(runtime, config) + 1;
  claim(runtime, config, attempt);
  return attempt;
}

uint64_t latest_attempt(Runtime& runtime, const config::RunConfig& config) {
  return claim(runtime, config, 0);
}

Servers::~Servers() { end_mirrors(); }

void Servers::end_mirrors() {
  for (const auto& [owner, mirror] : std::exchange(mirrors_, {})) end_mirror(owner, mirror.number);
}

std::vector<Address> Servers::roles(const std::string& role) {
  auto addresses = value_or_throw(
      runtime_.services().addresses(role, owners_of_variables(config_), config_.train.fault.start_timeout));
  for (Address& address : addresses) {
    address.key = address.task + device_of_variables;
    incarnations_.try_emplace(address.task, address.incarnation);
  }
  return addresses;
}

/// Fails if the task is not linked.
Result<Address> Servers::address(const std::string& role, const std::string& task) const {
  return address_beside_variables(runtime_.services(), role, task);
}

Result<ActorRef> Servers::actor(const std::string& role, const std::string& task) const {
  TROUPE_ASSIGN(const Address found, address(role, task));
  return runtime_.services().find(found);
}

// ---- Mirrors

void Servers::begin_mirrors() {
  needs_mirrors_ = false;
  for (const std::string& owner : owners_of_variables(config_)) {
    const bool may_stray = is_worker(owner) && config_.cluster.tasks.contains("ps");
    needs_mirrors_ |= may_stray;
    if (!mirrored() && !(may_stray && has_server(owner))) continue;
    const auto mirror = mirrors_.find(owner);
    if (mirror == mirrors_.end()) {
      begin_mirror(owner);
    } else if (mirror->second.complete) {
      const bool moves = is_worker(mirror->second.target) && has_server(owner);
      if (moves)
        begin_mirror(owner);
      else if (!mirror->second.awaited)
        await_end(owner);
    }
    const auto now = mirrors_.find(owner);
    needs_mirrors_ |=
        now != mirrors_.end() && is_worker(now->second.target) && config_.cluster.tasks.contains("ps");
  }
}

/// Returns whether a parameter server can have the mirror of an owner now.
bool Servers::has_server(const std::string& owner) const {
  return std::ranges::any_of(candidates(owner), [this](const std::string& task) {
    return !is_worker(task) && runtime_.link_status(task).ok();
  });
}

std::vector<std::string> Servers::strays() const {
  std::vector<std::string> result;
  for (const auto& [owner, mirror] : mirrors_)
    if (is_worker(owner) && mirror.complete && !*mirror.given_up && !is_worker(mirror.target) &&
        runtime_.link_status(mirror.target).ok())
      result.push_back(owner);
  return result;
}

/// Returns whether the process that had the variables is linked.
bool Servers::is_alive(const std::string& owner) const {
  const auto now = address(mirror_source_role, owner);
  const auto before = incarnations_.find(owner);
  return now && (before == incarnations_.end() || before->second == now->incarnation);
}

/// Returns the tasks that can have the mirror of an owner: the parameter servers after it, in turn, and then the workers.
std::vector<std::string> Servers::candidates(const std::string& owner) const {
  std::vector<std::string> result;
  for (const char* job : jobs_with_variables) {
    std::vector<std::string> names = task_names(config_, job);
    if (const auto self = std::ranges::find(names, owner); self != names.end()) {
      std::rotate(names.begin(), self, names.end());
      names.erase(names.begin());
    }
    std::ranges::copy_if(names, std::back_inserter(result),
                         [this](const std::string& name) { return !is_drained(name); });
  }
  return result;
}

void Servers::begin_mirror(const std::string& owner) {
  for (const std::string& target : candidates(owner)) {
    if (!is_alive(owner)) break;
    const auto source = actor(mirror_source_role, owner);
    const auto copies = address(mirror_role, target);
    if (!source || !copies) continue;
    if (const auto old = superseded_.extract(target)) end_mirror(target, old.mapped(), true);
    const uint64_t number = runtime_.services().process().random_id();
    Draft<wire::BeginMirror> draft;
    draft->setMirror(number);
    draft->setAttempt(attempt_);
    draft->setTargetOwnsNothing(std::ranges::count(owners_of_variables(config_), target) == 0);
    write(*copies, draft->initTarget());
    write(runtime_.services().address("worker"), draft->initClient());
    mirrors_[owner] = {number, target};
    return runtime_.services().call(
        *source, draft.finish(), [this, post = post_, owner, number](const Result<AnyMessage>& answer) {
          post([this, owner, number, status = answer.status()] { begun(owner, number, status); });
        });
  }
  needs_mirrors_ = true;
}

void Servers::begun(const std::string& owner, uint64_t number, const Status& status) {
  const auto at = mirrors_.find(owner);
  if (at == mirrors_.end() || at->second.number != number) return;
  if (!status.ok()) {
    end_mirror(owner, number);
    return ended(owner, number, true);
  }
  at->second.complete = true;
  await_end(owner);
}

/// Asks the owner to say when its mirror is lost. Then the mirror is ended at once, because until then steps of all threads may
/// wait for their changes to be acknowledged.
void Servers::await_end(const std::string& owner) {
  const auto source = actor(mirror_source_role, owner);
  needs_mirrors_ |= !source.ok();
  if (!source) return;
  Mirror& mirror = mirrors_.at(owner);
  mirror.awaited = true;
  runtime_.services().call(
      *source, about<wire::AwaitMirrorEnd>(mirror.number),
      [this, post = post_, &services = runtime_.services(), source = *source, owner, number = mirror.number,
       given_up = mirror.given_up](const Result<AnyMessage>& answer) {
        const bool gone = answer.ok() || answer.status().code() == Code::NotFound;
        if (gone) {
          given_up->store(true);
          services.call(source, end_message(number, false), [](const Result<AnyMessage>&) {});
        }
        post([this, owner, number, gone] { ended(owner, number, gone); });
      });
}

/// Called when a mirror is gone or, if it is not, the link to its owner is.
void Servers::ended(const std::string& owner, uint64_t number, bool gone) {
  const auto at = mirrors_.find(owner);
  if (at == mirrors_.end() || at->second.number != number) return;
  needs_mirrors_ = true;
  at->second.awaited = false;
  if (gone) mirrors_.erase(at);
}

void Servers::end_mirror(const std::string& owner, uint64_t number, bool adopted) const {
  if (const auto source = actor(mirror_source_role, owner))
    runtime_.services().call(*source, end_message(number, adopted), [](const Result<AnyMessage>&) {});
}

// ---- Drained servers

void Servers::set_drained(const std::string& task, bool drained) {
  needs_mirrors_ = true;
  if (!drained) {
    drained_.erase(task);
    return;
  }
  drained_.insert(task);
  end_mirrors_on({task});
}

Status Servers::copy(const std::string& owner) {
  if (!mirrors_.contains(owner)) begin_mirror(owner);
  if (mirrors_.contains(owner)) return {};
  return failed_precondition("no other task is linked that may own the variables of " + owner);
}

bool Servers::is_copying(const std::string& owner) const {
  const auto mirror = mirrors_.find(owner);
  return mirror != mirrors_.end() && !mirror->second.complete;
}

bool Servers::is_copied(const std::string& owner) const {
  const auto mirror = mirrors_.find(owner);
  return mirror != mirrors_.end() && mirror->second.complete && !*mirror->second.given_up;
}

// ---- Lost servers

std::vector<std::string> Servers::lost() const {
  std::vector<std::string> result;
  for (const std::string& owner : owners_of_variables(config_))
    if (!is_alive(owner)) result.push_back(owner);
  return result;
}

Result<std::string> Servers::adopt_mirrors(const std::vector<std::string>& owners) {
  std::vector<AddressedRequest> adoptions, ends;
  for (const std::string& owner : owners) {
    if (!is_copied(owner)) return unavailable("the variables of " + owner + " have no complete mirror");
    const Mirror& mirror = mirrors_.at(owner);
    TROUPE_ASSIGN(auto copies, actor(mirror_role, mirror.target));
    adoptions.push_back({std::move(copies), about<wire::AdoptMirror>(mirror.number)});
    // One that is alive may get variables again.
    if (const auto source = actor(mirror_source_role, owner); source && is_alive(owner))
      ends.push_back({*source, end_message(mirror.number, true)});
    else
      superseded_[owner] = mirror.number;
  }
  for (const auto& answer : runtime_.services().call_all(std::move(adoptions)))
    if (!answer) return unavailable("a mirror cannot be adopted: " + answer.status().message());
  (void)runtime_.services().call_all(std::move(ends));
  std::string text;
  for (const std::string& owner : owners) {
    const std::string target = mirrors_.extract(owner).mapped().target;
    std::ranges::replace(config_.cluster.owners, owner, target);
    incarnations_.erase(owner);
    text.append(text.empty() ? "the variables of " : ", those of ")
        .append(owner)
        .append(" are on ")
        .append(target);
  }
  end_mirrors_on(owners);
  needs_mirrors_ = true;
  return text;
}

void Servers::end_mirrors_on(const std::vector<std::string>& targets) {
  std::erase_if(mirrors_, [&](const auto& entry) {
    const auto& [owner, mirror] = entry;
    const bool ends = std::ranges::count(targets, mirror.target) != 0;
    if (ends) end_mirror(owner, mirror.number);
    return ends;
  });
}

}  // namespace troupe::train
