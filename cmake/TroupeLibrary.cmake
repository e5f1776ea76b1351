# What is installed: two shared libraries whose symbol tables have the public interface only, the public headers, the program, and the
# package for find_package(troupe CONFIG). troupe::troupe builds, trains and runs graphs; troupe::inference only computes with trained
# models, and needs neither actors nor sockets. Tested by tests/install.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All installed headers. Each header marks its declarations as visible, and includes only headers of this list.
set(TROUPE_PUBLIC_HEADERS
  messages/values/address.h
  messages/values/buffer.h
  messages/values/completion.h
  messages/values/device_name.h
  messages/values/dtype.h
  messages/values/shape.h
  messages/values/status.h
  messages/values/tensor.h
  messages/objects/s3_options.h
  messages/wire/message.h
  graph/ops/attributes.h
  graph/build/control_flow.h
  graph/build/custom_gradient.h
  graph/build/device_function.h
  graph/build/functional.h
  graph/build/functions.h
  graph/build/gradients.h
  graph/build/gradients_beside.h
  graph/build/absent_nodes.h
  graph/build/graph.h
  graph/build/host_function.h
  graph/ops/op_def.h
  graph/ops/op_table.h
  graph/ops/partial_shape.h
  graph/build/input_buckets.h
  graph/build/input_queues.h
  graph/build/queue_runner.h
  graph/build/row_slice.h
  graph/build/scope.h
  graph/build/split.h
  graph/build/variables.h
  kernels/constructors.h
  kernels/runtime/cancellation.h
  actors/engine/actor_ref.h
  actors/engine/requests.h
  actors/cluster.h
  actors/node_services.h
  actors/site/extensions.h
  actors/step/around_waits.h
  actors/step/coordinator.h
  actors/step/executor/device_profile.h
  actors/runtime.h
  actors/step/session.h
  actors/step/session_options.h
  actors/step/step_description.h
  apps/nn/activations.h
  apps/nn/allreduce_means.h
  apps/nn/class_losses.h
  apps/nn/class_sampling.h
  apps/nn/decoding.h
  apps/nn/gradient_combination.h
  apps/nn/gradient_compression.h
  apps/nn/embedding_lookup.h
  apps/nn/gradients.h
  apps/nn/initializers.h
  apps/nn/layers.h
  apps/nn/network.h
  apps/nn/variable_snapshot.h
  apps/nn/lbfgs.h
  apps/nn/loss_scaling.h
  apps/nn/losses.h
  apps/nn/optimizer.h
  apps/nn/owned_variables.h
  apps/nn/partitioned_variable.h
  apps/nn/ragged/ragged.h
  apps/nn/replication_strategy.h
  apps/nn/saver.h
  apps/nn/schedules.h
  apps/nn/weight_averages.h
  apps/cluster_file.h
  apps/event_writer.h
  apps/model_export.h
  apps/row_model.h
  apps/runtime_metrics.h
  apps/samples.h
  apps/trace/trace_json.h
  apps/training.h
  apps/variable_files.h
  apps/troupe.h

  # For programs with ops, kernels and services of their own. actors/engine/role.h and messages/wire/message_reader.h need Cap'n Proto.
  devices/device.h
  devices/function_ref.h
  devices/memory_statistics.h
  devices/pool.h
  devices/spin_lock.h
  graph/build/shape_context.h
  graph/plan/activation.h
  kernels/core/arguments.h
  kernels/core/checked_kernel.h
  kernels/core/dims.h
  kernels/core/kernel.h
  kernels/core/parallel.h
  kernels/core/slot.h
  kernels/core/state.h
  kernels/core/type_dispatch.h
  kernels/core/unlocked_phase.h
  kernels/runtime/step_request.h
  messages/wire/message_reader.h
  actors/engine/role.h
  actors/site/service.h
  actors/site/state_actors.h
  actors/supervision/child_spec.h
  apps/op.h
  apps/service.h

  # The C interface.
  apps/c/checkpoint.h
  apps/c/cluster.h
  apps/c/graph.h
  apps/c/inference.h
  apps/c/model.h
  apps/c/model_export.h
  apps/c/partial_run.h
  apps/c/runtime.h
  apps/c/session.h
  apps/c/status.h
  apps/c/tensor.h
  apps/c/training.h
  apps/c/troupe.h

  # The inference library.
  apps/inference/graph_def.h
  apps/inference/model.h
  apps/inference.h
)

# In the source tree, headers include each other by paths from its root; public headers, by paths from include/. So a program
# that uses the library needs no other include directory, and may have folders called messages/ or graph/ of its own.
set(staged ${PROJECT_BINARY_DIR}/include)
set(stage ${PROJECT_SOURCE_DIR}/cmake/stage_headers.cmake)
list(TRANSFORM TROUPE_PUBLIC_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE sources)
add_custom_command(OUTPUT ${staged}.stamp
  COMMAND ${CMAKE_COMMAND} "-Dheaders=${TROUPE_PUBLIC_HEADERS}" -Dsource=${PROJECT_SOURCE_DIR} -Dstaged=${staged} -P ${stage}
  COMMAND ${CMAKE_COMMAND} -E touch ${staged}.stamp
  DEPENDS ${sources} ${stage} COMMENT "Copying the public headers" VERBATIM)
add_custom_target(public_headers ALL DEPENDS ${staged}.stamp)

set(exports ${PROJECT_BINARY_DIR}/exports.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/exports.map.in ${exports} @ONLY)

# troupe_shared_library(NAME FOLDER...): makes libNAME.so of the same objects as the program, those of folders that are static libraries. Its
# target is troupe::EXPORT for those who find the package, and for projects that have this one as a subdirectory.
function(troupe_shared_library target name export)
  add_library(${target} SHARED)
  foreach(folder ${ARGN})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:troupe_${folder}>)
    target_link_libraries(${target} PRIVATE troupe_${folder})
  endforeach()
  target_link_options(${target} PRIVATE LINKER:--as-needed,--no-undefined,--version-script=${exports})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} EXPORT_NAME ${export} LINKER_LANGUAGE CXX LINK_DEPENDS ${exports}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${target} INTERFACE cxx_std_20)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${staged}>)
  add_dependencies(${target} public_headers)
  add_library(troupe::${export} ALIAS ${target})
endfunction()
troupe_shared_library(troupe_library troupe troupe
  messages graph devices kernels checkpoint_files actors nn data interop inference inference_c training c)
troupe_shared_library(troupe_inference_library troupe_inference inference
  messages graph devices kernels checkpoint_files interop inference inference_c)
target_sources(troupe_inference_library PRIVATE $<TARGET_OBJECTS:troupe_inference_graph_def>)

option(TROUPE_INSTALL "Install Troupe with this project" ${PROJECT_IS_TOP_LEVEL})
if(NOT TROUPE_INSTALL)
  return()
endif()

# The components are those of the packages (cmake/TroupePackages.cmake).
install(DIRECTORY ${staged}/troupe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(TARGETS troupe COMPONENT tools)
install(DIRECTORY ${PROJECT_BINARY_DIR}/apps/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools OPTIONAL)
install(FILES contrib/systemd/troupe-node@.service contrib/systemd/troupe-serve@.service
  DESTINATION lib/systemd/system COMPONENT tools)
install(FILES contrib/systemd/troupe.sysusers DESTINATION lib/sysusers.d COMPONENT tools RENAME troupe.conf)
install(TARGETS troupe_library troupe_inference_library EXPORT troupe
  LIBRARY COMPONENT lib NAMELINK_COMPONENT dev INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(EXPORT troupe FILE troupeConfig.cmake NAMESPACE troupe:: DESTINATION ${package} COMPONENT dev)
write_basic_package_version_file(troupeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/troupeConfigVersion.cmake DESTINATION ${package} COMPONENT dev)

# The packages of pkg-config, which stay valid when the installation is moved.
function(troupe_pkgconfig name library description)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH prefix /${folder} /)
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/pkgconfig.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder} COMPONENT dev)
endfunction()
troupe_pkgconfig(troupe troupe "Builds, trains and runs dataflow graphs on one machine or many")
troupe_pkgconfig(troupe-inference troupe_inference "Computes with trained models of Troupe and TensorFlow")
include(TroupePackages)
