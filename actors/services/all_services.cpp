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

std::span<const ServiceDef> all_services() {
  static constexpr ServiceDef services[] = {
      {AccumulatorService::name, AccumulatorService::make},
      {AllreduceService::name, AllreduceService::make},
      {BarrierService::name, BarrierService::make},
      {BatchService::name, BatchService::make},
      {ClockService::name, ClockService::make},
      {FilesService::name, FilesService::make},
      {MirrorService::name, MirrorService::make},
      {MutexService::name, MutexService::make},
      {QueueService::name, QueueService::make},
      {ReaderService::name, ReaderService::make},
      {ReplicasService::name, ReplicasService::make},
      {SaverService::name, SaverService::make},
      {SessionTensorsService::name, SessionTensorsService::make},
      {SparseMapService::name, SparseMapService::make},
      {StagingService::name, StagingService::make},
      {TableService::name, TableService::make},
      {TemporaryVariableService::name, TemporaryVariableService::make},
      {VariableService::name, VariableService::make},
  };
  return services;
}

}  // namespace troupe
