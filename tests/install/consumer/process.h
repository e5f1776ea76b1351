// What a process has that a library must leave as it found it.
#pragma once

#include <csignal>
#include <filesystem>
#include <vector>

using SignalHandler = void (*)(int);

inline std::vector<SignalHandler> signal_handlers() {
  std::vector<SignalHandler> handlers;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action = {};
    sigaction(number, nullptr, &action);
    handlers.push_back(action.sa_handler);
  }
  return handlers;
}

inline long entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}
inline long threads() { return entries("/proc/self/task"); }
inline long descriptors() { return entries("/proc/self/fd"); }
