#include "devices/cuda/memory_driver.h"

#include <cuda_runtime.h>

#include <string>
#include <type_traits>

namespace troupe {

Status MemoryDriver::load() {
  const auto find = [](const char* name, auto& function) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(entry);
    if (error == cudaSuccess && found == cudaDriverEntryPointSuccess) return Status();
    return unavailable(std::string("the driver of the GPU is too old: it has no function ") + name);
  };
  TROUPE_RETURN_IF_FAILED(find("cuMemAddressReserve", reserve));
  TROUPE_RETURN_IF_FAILED(find("cuMemAddressFree", free));
  TROUPE_RETURN_IF_FAILED(find("cuMemCreate", create));
  TROUPE_RETURN_IF_FAILED(find("cuMemRelease", release));
  TROUPE_RETURN_IF_FAILED(find("cuMemMap", map));
  TROUPE_RETURN_IF_FAILED(find("cuMemUnmap", unmap));
  TROUPE_RETURN_IF_FAILED(find("cuMemSetAccess", set_access));
  TROUPE_RETURN_IF_FAILED(find("cuMemExportToShareableHandle", export_handle));
  return find("cuMemImportFromShareableHandle", import_handle);
}

CUmemAccessDesc access_of(int gpu) {
  CUmemAccessDesc access{};
  access.location = {CU_MEM_LOCATION_TYPE_DEVICE, {gpu}};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return access;
}

}  // namespace troupe
