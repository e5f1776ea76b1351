// What the C programs share: a check that ends the program with what does not hold.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <troupe/c/status.h>

#define EXPECT(holds)                                                                         \
  do {                                                                                        \
    if (!(holds)) {                                                                           \
      printf("%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #holds, troupe_error_message()); \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)
#define OK(call) EXPECT((call) == TROUPE_OK)
/// The call fails with this code, and the message contains this text.
#define FAILS(call, code, text) EXPECT((call) == (code) && strstr(troupe_error_message(), (text)))
