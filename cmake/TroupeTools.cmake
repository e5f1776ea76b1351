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

# troupe_join(<target>): compiles the sources of each folder of the target together, TROUPE_FILES_PER_UNIT at a time, in files that
# include them. The headers and templates that they share take most of the time of compiling, and are then compiled once for all of them.
# Call it after setting the properties of sources: those with flags of their own or with SKIP_UNITY_BUILD_INCLUSION stay alone, as do
# generated ones. Names in the anonymous namespaces of a unit must differ.
# CMake's own UNITY_BUILD includes by absolute paths, with which checkouts would not share objects.
set(TROUPE_FILES_PER_UNIT 8 CACHE STRING "Sources of a folder that are compiled together; 1: each by itself")
function(troupe_join target)
  if(TROUPE_FILES_PER_UNIT LESS 2)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders "")
  foreach(source ${sources})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    troupe_may_join(${source} may_join)
    if(may_join)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
      cmake_path(GET name PARENT_PATH folder)
      list(APPEND folders ${folder})
      list(APPEND members_of_${folder} ${name})
    endif()
  endforeach()

  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    set(number 0)
    while(members_of_${folder})
      math(EXPR number "${number} + 1")
      list(SUBLIST members_of_${folder} 0 ${TROUPE_FILES_PER_UNIT} members)
      list(REMOVE_ITEM members_of_${folder} ${members})
      string(REPLACE / _ name ${folder}_${number}.cpp)
      troupe_add_unit(${target} ${name} ${members})
    endwhile()
  endforeach()
endfunction()

# Sets OUT to whether troupe_join may compile the source together with others.
function(troupe_may_join source out)
  set(${out} OFF PARENT_SCOPE)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${source} is_ours)
  cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} is_generated)
  cmake_path(GET source EXTENSION LAST_ONLY extension)
  if(NOT is_ours OR is_generated OR NOT (extension STREQUAL .cpp OR (extension STREQUAL .cu AND NOT TROUPE_CUDA_FOUND)))
    return()
  endif()
  foreach(property COMPILE_DEFINITIONS COMPILE_OPTIONS SKIP_PRECOMPILE_HEADERS SKIP_UNITY_BUILD_INCLUSION)
    get_source_file_property(value ${source} ${property})
    if(value)
      return()
    endif()
  endforeach()
  set(${out} ON PARENT_SCOPE)
endfunction()

# Adds to the target a file that includes these sources, which are named by their paths in the project.
function(troupe_add_unit target name)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
  set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
  list(TRANSFORM ARGN REPLACE ".+" "#include \"\\0\"\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" content)
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/${target}_units/${name})
  file(CONFIGURE OUTPUT ${unit} CONTENT "${content}" @ONLY)
  # g++ distrusts members whose types are in the anonymous namespace of an included file; only the unit includes these files.
  set_source_files_properties(${unit} PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  target_sources(${target} PRIVATE ${unit})
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
