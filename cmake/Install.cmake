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
if(TARGET lockstep-worker)
  set_target_properties(lockstep-worker PROPERTIES INSTALL_RPATH "$ORIGIN/../lib;${LOCKSTEP_TORCH_LIBRARY_PATHS}")
endif()
foreach(target lockstep lockstep-cuda)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;${LOCKSTEP_TORCH_LIBRARY_PATHS}")
    install(TARGETS ${target} LIBRARY DESTINATION lib)
  endif()
endforeach()

# It is inside the tool.
install(FILES ${DYGRAPHS_LICENCE} DESTINATION share/doc/lockstep RENAME dygraphs-licence.txt)

install(CODE "set(LOCKSTEP_HEADERS_FROM \"${PROJECT_SOURCE_DIR}/src\")")
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake)

configure_file(cmake/lockstep-config.cmake.in package/lockstep-config.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/lockstep-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY ExactVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/lockstep-config.cmake
  ${PROJECT_BINARY_DIR}/package/lockstep-config-version.cmake
  cmake/lockstep-targets.cmake cmake/TorchTarget.cmake
  DESTINATION ${package_dir})
