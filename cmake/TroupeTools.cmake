# Uses ccache and mold if they are installed.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/compile_cached ${PROJECT_SOURCE_DIR})
endif()

find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  add_link_options(-fuse-ld=mold)
endif()

# troupe_precompile(<target> <header>...): compiles these headers once for the target, together with the usual ones of the standard
# library. Name those that most files of the target include, relative to the source tree: with absolute paths, checkouts would not share
# objects.
set(CMAKE_PCH_PROLOGUE "")  # the headers are not those of the system: their warnings are wanted
function(troupe_precompile target)
  set(headers algorithm functional map memory optional span string string_view utility vector ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${target} PRIVATE ${headers})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
endfunction()

# troupe_embed(OUT HEADER header NAMESPACE namespace TYPE type FUNCTION function FILES file...): makes the source file OUT, whose function
# returns the files as text (embed_files.cmake).
function(troupe_embed out)
  cmake_parse_arguments(arg "" "HEADER;NAMESPACE;TYPE;FUNCTION" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} "-DOUT=${out}" "-DFILES=${arg_FILES}" -DHEADER=${arg_HEADER} -DNAMESPACE=${arg_NAMESPACE}
            -DTYPE=${arg_TYPE} -DFUNCTION=${arg_FUNCTION} -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${arg_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake VERBATIM)
endfunction()
