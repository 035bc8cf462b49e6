# wheel-parts: what a wheel holds for one version of torch (scripts/wheel.sh), linked from the same objects as the other
# programs, but against the C and C++ libraries of an older system. It runs with these and with every newer one.
#   wheel/torch-2.11/liblockstep.so, liblockstep-worker.so; wheel/lockstep-worker, which loads them
if(NOT LOCKSTEP_SYSROOT OR LOCKSTEP_TOOL_ONLY)
  return()
endif()
set(old_libraries ${LOCKSTEP_SYSROOT}/usr/lib/x86_64-linux-gnu)
set(old_base_libraries ${LOCKSTEP_SYSROOT}/lib/x86_64-linux-gnu)
set(parts ${PROJECT_BINARY_DIR}/wheel)
string(REGEX MATCH "^[0-9]+[.][0-9]+" torch_minor ${LOCKSTEP_TORCH_VERSION})

# -lstdc++ means the old library, and what is newer than that comes from the compiler's archive and stays hidden.
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a OUTPUT_VARIABLE archive OUTPUT_STRIP_TRAILING_WHITESPACE)
file(CONFIGURE OUTPUT ${parts}/link/libstdc++.so CONTENT "INPUT(${old_libraries}/libstdc++.so.6 ${archive})\n" @ONLY)

function(lockstep_wheel_part name output folder)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} EXCLUDE_FROM_ALL ON LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${folder} RUNTIME_OUTPUT_DIRECTORY ${folder} BUILD_WITH_INSTALL_RPATH ON)
  target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/tools/cli/portable/old_c_library.cpp)
  target_link_options(${name} PRIVATE --sysroot=${LOCKSTEP_SYSROOT} -L${parts}/link -B${old_libraries} -L${old_libraries}
    -L${old_base_libraries} -Wl,--exclude-libs,libstdc++.a)
  target_link_libraries(${name} PRIVATE Threads::Threads pthread ${CMAKE_DL_LIBS})
endfunction()

get_property(core_modules GLOBAL PROPERTY LOCKSTEP_CORE_MODULES)
get_property(torch_modules GLOBAL PROPERTY LOCKSTEP_TORCH_MODULES)
get_target_property(libraries lockstep LINK_LIBRARIES)
add_library(wheel-library SHARED)
foreach(module ${core_modules} ${torch_modules})
  target_sources(wheel-library PRIVATE $<TARGET_OBJECTS:${module}>)
endforeach()
target_link_libraries(wheel-library PRIVATE ${libraries})
target_link_options(wheel-library PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/exports.map)
lockstep_wheel_part(wheel-library lockstep ${parts}/torch-${torch_minor})

# The worker's own objects and its recipes'.
get_target_property(libraries lockstep-worker LINK_LIBRARIES)
list(REMOVE_ITEM libraries lockstep)
add_library(wheel-worker MODULE $<TARGET_OBJECTS:lockstep-worker> ${PROJECT_SOURCE_DIR}/src/tools/cli/portable/module_stderr.cpp)
target_link_libraries(wheel-worker PRIVATE ${libraries} wheel-library)
target_link_options(wheel-worker PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/src/exports.map -Wl,--defsym=stderr=module_stderr)
lockstep_wheel_part(wheel-worker lockstep-worker ${parts}/torch-${torch_minor})
set_target_properties(wheel-worker PROPERTIES INSTALL_RPATH "$ORIGIN")

# conda keeps the C++ library that its torch needs in the environment's lib/. RPATH, unlike RUNPATH, is for all libraries.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/worker/loader/*.cpp)
add_executable(wheel-loader ${sources})
target_link_libraries(wheel-loader PRIVATE lockstep-flags lockstep-core)
target_link_options(wheel-loader PRIVATE -Wl,--disable-new-dtags)
lockstep_wheel_part(wheel-loader lockstep-worker ${parts})
set_target_properties(wheel-loader PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")

add_custom_target(wheel-parts DEPENDS wheel-library wheel-worker wheel-loader)
