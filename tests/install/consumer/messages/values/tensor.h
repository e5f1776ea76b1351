// The program's own header, which only looks like one of Troupe's.
#pragma once

inline constexpr int own_messages = 1;
