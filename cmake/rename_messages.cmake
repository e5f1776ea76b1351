# Copies the code that protoc has generated for apps/interop/graph_def.proto, from ${IN} to ${OUT}, with other names for the file and
# its package in protobuf's tables. The names have the same lengths, which the tables contain. The C++ types keep their names.
cmake_policy(VERSION 3.25)
file(READ ${IN} text)
string(REPLACE "\"\n  \"" "" text "${text}")  # protoc breaks long literals anywhere
string(REPLACE "apps/interop/graph_def.proto" "load/interop/graph_def.proto" text "${text}")
string(REPLACE "troupe.interop" "troupe.loading" text "${text}")
file(WRITE ${OUT} "${text}")
