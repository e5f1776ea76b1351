// Loads libraries while the program runs, one beside the other: nothing may happen but that they are there.   late LIBRARY...
#include <dlfcn.h>

#include <cstdio>

#include "process.h"

int main(int count, char** arguments) {
  const auto handlers = signal_handlers();
  const long threads_before = threads(), descriptors_before = descriptors();
  for (int i = 1; i < count; ++i)
    if (!dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL)) {
      std::printf("%s\n", dlerror());
      return 1;
    }
  const bool quiet =
      signal_handlers() == handlers && threads() == threads_before && descriptors() == descriptors_before;
  if (!quiet) std::printf("loading the library starts threads, opens files or takes signals\n");
  return quiet ? 0 : 1;
}
