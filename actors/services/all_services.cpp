#include "actors/services/all_services.h"

#include "actors/services/accumulator/accumulator_service.h"
#include "actors/services/allreduce/allreduce_service.h"
#include "actors/services/barrier/barrier_service.h"
#include "actors/services/batch/batch_service.h"
#include "actors/services/clock/clock_service.h"
#include "actors/services/files/files_service.h"
#include "actors/services/mirror/mirror_service.h"
#include "actors/services/mutex/mutex_service.h"
#include "actors/services/queue/queue_service.h"
#include "actors/services/reader/reader_service.h"
#include "actors/services/replicas/replicas_service.h"
#include "actors/services/saver/saver_service.h"
#include "actors/services/session_tensors/session_tensors_service.h"
#include "actors/services/sparse_map/sparse_map_service.h"
#include "actors/services/staging/staging_service.h"
#include "actors/services/table/table_service.h"
#include "actors/services/temporary_variable/temporary_variable_service.h"
#include "actors/services/variable/variable_service.h"

namespace troupe {
namespace {

template <class S>
constexpr ServiceDef service() {
  return {S::name, [](DeviceSite& site) -> std::unique_ptr<Service> { return std::make_unique<S>(site); }};
}

}  // namespace

std::span<const ServiceDef> all_services() {
  static constexpr ServiceDef services[] = {
      service<AccumulatorService>(),
      service<AllreduceService>(),
      service<BarrierService>(),
      service<BatchService>(),
      service<ClockService>(),
      service<FilesService>(),
      service<MirrorService>(),
      service<MutexService>(),
      service<QueueService>(),
      service<ReaderService>(),
      service<ReplicasService>(),
      service<SaverService>(),
      service<SessionTensorsService>(),
      service<SparseMapService>(),
      service<StagingService>(),
      service<TableService>(),
      service<TemporaryVariableService>(),
      service<VariableService>(),
  };
  return services;
}

}  // namespace troupe
