#include "devices/arena.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "devices/memory_budget.h"

namespace troupe {
namespace {

constexpr uint64_t round_up(uint64_t bytes, uint64_t granule) {
  return (bytes + granule - 1) / granule * granule;
}

Status failure(const char* what, uint64_t bytes) {
  return resource_exhausted(std::string(what) + ' ' + std::to_string(bytes) +
                            " bytes: " + std::error_code(errno, std::generic_category()).message());
}

}  // namespace

Arena::Arena(Options options)
    : shared_(std::move(options.shared)),
      cap_((options.cap != 0 ? options.cap : usable_memory()) / granule * granule) {}

Arena::~Arena() { unmap(); }

void Arena::unmap() {
  if (id_ != 0) shared_->remove(std::exchange(id_, 0));
  if (data_) munmap(data_, cap_);
  if (descriptor_ >= 0) close(descriptor_);
  data_ = nullptr;
  descriptor_ = -1;
}

// Reserves one granule more than needed, and unmaps both ends, so that the base is aligned to a huge page.
Status Arena::reserve() {
  if (shared_) {
    descriptor_ = memfd_create("troupe-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(cap_)) != 0 ||
        fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
      return failure("cannot make a shared memory file of", cap_);
  }
  void* const mapped =
      mmap(nullptr, cap_ + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return failure("cannot reserve addresses for the memory cap of", cap_);
  auto* const begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(begin);
  const uint64_t front = round_up(address, granule) - address;
  if (front != 0) munmap(begin, front);
  munmap(begin + front + cap_, granule - front);
  data_ = begin + front;
  if (shared_ &&
      mmap(data_, cap_, PROT_NONE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor_, 0) == MAP_FAILED)
    return failure("cannot map a shared memory file of", cap_);
  if (shared_) id_ = shared_->add(data_, cap_, descriptor_);
  madvise(data_, cap_, MADV_HUGEPAGE);  // if the system has no huge pages, the arena works without them
  return {};
}

Status Arena::commit(uint64_t bytes) {
  if (bytes <= committed_) return {};
  if (bytes > cap_) return resource_exhausted("the memory cap is " + std::to_string(cap_) + " bytes");
  if (!data_) {
    if (Status reserved = reserve(); !reserved.ok()) {
      unmap();
      return reserved;
    }
  }
  const uint64_t more = growth(bytes);
  if (mprotect(data_ + committed_, more, PROT_READ | PROT_WRITE) != 0) return failure("cannot commit", more);
  committed_ += more;
  return {};
}

uint64_t Arena::discard(uint64_t offset, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = round_up(offset, page), end = (offset + bytes) / page * page;
  if (begin >= end) return 0;
  madvise(data_ + begin, end - begin, shared_ ? MADV_REMOVE : MADV_DONTNEED);
  return end - begin;
}

}  // namespace troupe
