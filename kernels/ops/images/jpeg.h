// What decoding and encoding of JPEG files share. Used by one thread.
#pragma once

#include <cstddef>
#include <cstdio>
// libjpeg's header needs those above.
#include <jpeglib.h>

#include <csetjmp>

#include "messages/values/status.h"

namespace troupe {

/// Where libjpeg goes after an error, with what it says. It jumps over its own frames only: what a guarded function does between
/// calls of libjpeg has nothing to destroy.
struct JpegErrors {
  jpeg_error_mgr manager;  ///< first, so that libjpeg's pointer to it is one to this
  jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = "";

  JpegErrors();
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  template <class Work>
  __attribute__((noinline)) bool guarded(const Work& work) {
    if (setjmp(jump) != 0) return false;
    work();
    return true;
  }
  Status status() const;
};

}  // namespace troupe
