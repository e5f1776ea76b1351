// MemoryDriver: the functions of the driver that reserve addresses, map memory, and share it between processes. The library of the
// driver is loaded by CUDA's runtime. Only devices/cuda includes this header. Any thread.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "messages/values/status.h"

namespace troupe {

struct MemoryDriver {
  decltype(&cuMemAddressReserve) reserve = nullptr;
  decltype(&cuMemAddressFree) free = nullptr;
  decltype(&cuMemCreate) create = nullptr;
  decltype(&cuMemRelease) release = nullptr;
  decltype(&cuMemMap) map = nullptr;
  decltype(&cuMemUnmap) unmap = nullptr;
  decltype(&cuMemSetAccess) set_access = nullptr;
  decltype(&cuMemExportToShareableHandle) export_handle = nullptr;
  decltype(&cuMemImportFromShareableHandle) import_handle = nullptr;

  /// The unit of memory that the driver maps, in bytes.
  static constexpr uint64_t granule = uint64_t{2} << 20;

  /// Finds the functions. Fails with Unavailable if the driver is too old.
  Status load();
};

/// Lets a GPU read and write memory that is mapped.
CUmemAccessDesc access_of(int gpu);

}  // namespace troupe
