#include "actors/step/session_wire.h"

#include <algorithm>

#include "actors/net/devices_wire.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_signatures = 1 << 16;

}  // namespace

void write(const SessionOptions& options, wire::OpenSession::Builder builder) {
  auto tasks = builder.initTasks(static_cast<uint32_t>(options.tasks.size()));
  for (uint32_t i = 0; i < tasks.size(); ++i) tasks.set(i, as_text(options.tasks[i]));
  builder.setPatience(static_cast<uint64_t>(std::max<int64_t>(options.start_timeout.count(), 0)));
  builder.setOwnState(!options.share_state.value_or(true));
  builder.setSeeded(options.seed.has_value());
  builder.setSeed(options.seed.value_or(0));
  builder.setSoftPlacement(options.placement == Placement::Soft);
  builder.setKeepGraph(!options.simplify);
  builder.setDeviceChoice(static_cast<uint8_t>(options.device_choice));
  builder.setLossyTransfers(options.lossy_transfers);
  builder.setCheckFinite(options.check_finite);
  builder.setSignatures(static_cast<uint32_t>(std::min<size_t>(options.signatures, UINT32_MAX)));
}

Result<SessionOptions> read(wire::OpenSession::Reader reader) {
  SessionOptions options;
  for (const auto task : reader.getTasks()) {
    options.tasks.emplace_back(view(task));
    TROUPE_RETURN_IF_FAILED(DeviceName::parse(options.tasks.back()).status());
  }
  options.start_timeout =
      std::chrono::nanoseconds(static_cast<int64_t>(std::min(reader.getPatience(), max_patience)));
  options.share_state = !reader.getOwnState();
  if (reader.getSeeded()) options.seed = reader.getSeed();
  options.placement = reader.getSoftPlacement() ? Placement::Soft : Placement::Strict;
  options.simplify = !reader.getKeepGraph();
  if (reader.getDeviceChoice() > static_cast<uint8_t>(DeviceChoice::Learned))
    return invalid_argument("there is no choice of devices with number " +
                            std::to_string(reader.getDeviceChoice()) + "; the last one is 2");
  options.device_choice = static_cast<DeviceChoice>(reader.getDeviceChoice());
  options.lossy_transfers = reader.getLossyTransfers();
  options.check_finite = reader.getCheckFinite();
  options.signatures = reader.getSignatures();
  if (options.signatures >= 1 && options.signatures <= max_signatures) return options;
  return invalid_argument("a session keeps from 1 to " + std::to_string(max_signatures) +
                          " signatures, not " + std::to_string(options.signatures));
}

void write(const std::vector<WorkerDevices>& workers, capnp::List<wire::Worker>::Builder builder) {
  for (uint32_t i = 0; i < workers.size(); ++i) {
    write(workers[i].worker, builder[i].initWorker());
    write(workers[i].devices, builder[i].initDevices(static_cast<uint32_t>(workers[i].devices.size())));
  }
}

Result<std::vector<WorkerDevices>> read(capnp::List<wire::Worker>::Reader reader) {
  std::vector<WorkerDevices> workers;
  for (const auto worker : reader) {
    TROUPE_ASSIGN(auto devices, read(worker.getDevices()));
    workers.push_back({read(worker.getWorker()), std::move(devices)});
  }
  return workers;
}

}  // namespace troupe
