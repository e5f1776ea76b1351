// Lets CAF carry Message<T> from actor to actor of one process: by reference, never serialised by CAF. For
// actors/*.cpp.
#pragma once

#include <caf/allowed_unsafe_message_type.hpp>

#include "messages/message.h"

template <class T>
struct caf::allowed_unsafe_message_type<troupe::Message<T>> : std::true_type {};
