# lockstep_static_library(RESULT NAMES…): the first of these libraries that is there, a static archive made fit for a
# shared library. Debian compiles archives for programs alone: within a shared library the one thing that they cannot
# reach is the variable stderr, so a copy of the archive gets our own (src/core/media/pictures/own_stderr.cpp).
function(lockstep_static_library result)
  string(MAKE_C_IDENTIFIER LOCKSTEP_FOUND_${ARGV1} found)
  find_library(${found} NAMES ${ARGN} REQUIRED)
  set(library ${${found}})
  if(library MATCHES "[.]a$" AND CMAKE_OBJCOPY)
    get_filename_component(name ${library} NAME)
    set(copy ${PROJECT_BINARY_DIR}/archives/${name})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/archives)
    execute_process(COMMAND ${CMAKE_OBJCOPY} --redefine-sym stderr=lockstep_stderr ${library} ${copy}
      RESULT_VARIABLE failed)
    if(NOT failed)
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${library})
      set(library ${copy})
    endif()
  endif()
  set(${result} ${library} PARENT_SCOPE)
endfunction()
