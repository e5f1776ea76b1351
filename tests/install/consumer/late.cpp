// Loads the library while the program runs: nothing may happen but that it is there.   late LIBRARY
#include <dlfcn.h>

#include <cstdio>

#include "process.h"

int main(int, char** arguments) {
  const auto handlers = signal_handlers();
  const long threads_before = threads(), descriptors_before = descriptors();
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  const bool quiet =
      signal_handlers() == handlers && threads() == threads_before && descriptors() == descriptors_before;
  if (!quiet) std::printf("loading the library starts threads, opens files or takes signals\n");
  dlclose(library);
  return quiet ? 0 : 1;
}
