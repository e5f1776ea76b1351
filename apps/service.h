// What a program needs that adds services of its own (RuntimeOptions::extensions): actors behind ops with state, and the messages
// that reach them. Needs the headers of Cap'n Proto. Installed as <troupe/service.h>; examples/embed/service.cpp shows its use.
#pragma once

#include "actors/engine/role.h"
#include "actors/site/service.h"
#include "actors/site/state_actors.h"
#include "messages/wire/message_reader.h"
