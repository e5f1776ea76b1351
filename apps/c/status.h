// The C interface of Troupe: what all of its functions share. Objects are opaque handles; what a function creates, the caller
// destroys with the function of that name, to which a null pointer is no error. Functions return a code, and a failure leaves
// results as they were and its text in troupe_error_message(). A null pointer where none is allowed is an InvalidArgument. Strings
// are UTF-8 and end with a zero byte unless their length is given; what a function returns in a pointer belongs to the handle it
// was asked of, and lives as long. No C++ exception leaves a function. Unless a header says otherwise, a handle may be used by one
// thread at a time, and several handles by several threads. Public header, C11 and C++.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define TROUPE_C __attribute__((visibility("default")))
#else
#define TROUPE_C
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// What went wrong; the codes of TensorFlow and gRPC.
typedef int32_t troupe_code;
enum {
  TROUPE_OK = 0,
  TROUPE_CANCELLED = 1,
  TROUPE_UNKNOWN = 2,
  TROUPE_INVALID_ARGUMENT = 3,
  TROUPE_DEADLINE_EXCEEDED = 4,
  TROUPE_NOT_FOUND = 5,
  TROUPE_ALREADY_EXISTS = 6,
  TROUPE_PERMISSION_DENIED = 7,
  TROUPE_RESOURCE_EXHAUSTED = 8,
  TROUPE_FAILED_PRECONDITION = 9,
  TROUPE_ABORTED = 10,
  TROUPE_OUT_OF_RANGE = 11,
  TROUPE_UNIMPLEMENTED = 12,
  TROUPE_INTERNAL = 13,
  TROUPE_UNAVAILABLE = 14,
  TROUPE_DATA_LOSS = 15
};

/// Returns the version of the library: "0.1.0".
TROUPE_C const char* troupe_version(void);
/// Returns "InvalidArgument" for TROUPE_INVALID_ARGUMENT, and "Unknown" for what is no code.
TROUPE_C const char* troupe_code_name(troupe_code code);
/// Return the text of the last failure of a function on this thread, with its code and place, and the name of the node that failed
/// (empty: none in particular). They live until the next failure on this thread. Empty if nothing has failed.
TROUPE_C const char* troupe_error_message(void);
TROUPE_C const char* troupe_error_node(void);
/// Releases bytes that a function has stored in a `char**`.
TROUPE_C void troupe_bytes_destroy(char* bytes);

#ifdef __cplusplus
}
#endif
