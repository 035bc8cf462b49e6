# What `cmake --install` puts where: the tools, liblockstep.so, the headers as <lockstep/ROOM/X.h>,
# and a CMake package for models outside this repository.
include(CMakePackageConfigHelpers)

add_custom_target(programs)
foreach(target lockstep-tool lockstep-worker lockstep-cuda)
  if(TARGET ${target})
    add_dependencies(programs ${target})
  endif()
endforeach()

set(package_dir lib/cmake/lockstep)
foreach(target lockstep-tool lockstep-worker)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION bin)
  endif()
endforeach()
# LibTorch where it was found, unless the installation brings its own (InstallTorch.cmake).
set(torch_paths)
foreach(path ${LOCKSTEP_TORCH_LIBRARY_PATHS})
  file(RELATIVE_PATH path ${LOCKSTEP_TORCH}/.. ${path})
  list(APPEND torch_paths ${path})
endforeach()
list(TRANSFORM torch_paths PREPEND "/lockstep/libtorch/")
if(TARGET lockstep-worker)
  list(TRANSFORM torch_paths PREPEND "$ORIGIN/../lib" OUTPUT_VARIABLE copied)
  set_target_properties(lockstep-worker PROPERTIES
    INSTALL_RPATH "$ORIGIN/../lib;${copied};${LOCKSTEP_TORCH_LIBRARY_PATHS}")
endif()
foreach(target lockstep lockstep-cuda)
  if(TARGET ${target})
    list(TRANSFORM torch_paths PREPEND "$ORIGIN" OUTPUT_VARIABLE copied)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;${copied};${LOCKSTEP_TORCH_LIBRARY_PATHS}")
    install(TARGETS ${target} LIBRARY DESTINATION lib)
  endif()
endforeach()
install(CODE "set(LOCKSTEP_TORCH \"${LOCKSTEP_TORCH}\")
set(LOCKSTEP_TORCH_LIBRARY_PATHS \"${LOCKSTEP_TORCH_LIBRARY_PATHS}\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallTorch.cmake)
# Shared libraries that no system package brings.
if(LOCKSTEP_DEPS AND TARGET lockstep-tool)
  install(DIRECTORY ${LOCKSTEP_DEPS}/lib/ DESTINATION lib/lockstep FILES_MATCHING PATTERN "*.so*")
  set_target_properties(lockstep-tool PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/lockstep")
endif()

# It is inside the tool.
install(FILES ${DYGRAPHS_LICENCE} DESTINATION share/doc/lockstep RENAME dygraphs-licence.txt)

# `lockstep help` names their pages.
install(DIRECTORY docs/guide docs/reference DESTINATION share/doc/lockstep/docs)

install(CODE "set(LOCKSTEP_HEADERS_FROM \"${PROJECT_SOURCE_DIR}/src\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)

# Part of what the headers declare: a plugin is compiled with the version that Lockstep was, whatever its system has.
find_path(LOCKSTEP_JSON nlohmann/json.hpp REQUIRED)
mark_as_advanced(LOCKSTEP_JSON)
install(DIRECTORY ${LOCKSTEP_JSON}/nlohmann DESTINATION include/lockstep-dependencies)

get_property(lockstep_kernel_compiler GLOBAL PROPERTY LOCKSTEP_KERNEL_COMPILER)
get_property(lockstep_kernel_architectures GLOBAL PROPERTY LOCKSTEP_KERNEL_ARCHITECTURES)
configure_file(cmake/lockstep-config.cmake.in package/lockstep-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/lockstep-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/lockstep-config.cmake
  ${PROJECT_BINARY_DIR}/package/lockstep-config-version.cmake
  cmake/lockstep-targets.cmake cmake/TorchTarget.cmake cmake/TorchCuda.cmake
  cmake/CudaCompiler.cmake cmake/PluginKernels.cmake
  DESTINATION ${package_dir})
