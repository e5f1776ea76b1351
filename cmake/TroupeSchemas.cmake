# troupe_schemas(<target> <file.capnp>...): compiles these schemas into the target; messages/schemas/x.capnp is
# included as "messages/schemas/x.capnp.h". If a changed schema gives the same C++, nothing is rebuilt.
# Debian's ${CAPNP_PROGRAM} is a path that does not exist.
find_program(CAPNP_PROGRAM capnp REQUIRED)
find_program(CAPNPC_CXX_PROGRAM capnpc-c++ REQUIRED)
set(TROUPE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

function(troupe_schemas target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(fresh ${PROJECT_BINARY_DIR}/generated.new)
  set(published ${TROUPE_GENERATED_DIR})
  file(MAKE_DIRECTORY ${fresh})
  foreach(schema IN LISTS ARGN)
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${schema})
    set(output ${folder}/${schema})
    cmake_path(GET output PARENT_PATH room)
    file(MAKE_DIRECTORY ${published}/${room})
    list(APPEND sources ${source})
    list(APPEND headers ${published}/${output}.h)
    list(APPEND implementations ${published}/${output}.c++)
    list(APPEND publish
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${fresh}/${output}.h ${published}/${output}.h
      COMMAND ${CMAKE_COMMAND} -E copy_if_different ${fresh}/${output}.c++ ${published}/${output}.c++)
  endforeach()
  if(NOT sources)
    add_custom_target(schemas)
    return()
  endif()
  add_custom_command(
    OUTPUT ${headers} ${implementations}
    COMMAND ${CAPNP_PROGRAM} compile -o ${CAPNPC_CXX_PROGRAM}:${fresh}
            --src-prefix=${PROJECT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR} ${sources}
    ${publish}
    DEPENDS ${sources}
    COMMENT "Compiling the schemas of ${folder}/"
    VERBATIM)
  add_custom_target(schemas DEPENDS ${headers} ${implementations})
  set_source_files_properties(${implementations} PROPERTIES COMPILE_OPTIONS -w SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE ${headers} ${implementations})
  target_include_directories(${target} SYSTEM PUBLIC ${TROUPE_GENERATED_DIR})
endfunction()
