# LOCKSTEP_DEPS: a folder with include/ and lib/ that holds the libraries which otherwise come from
# system packages (scripts/pack-deps.sh makes one), for machines where those cannot be installed.
set(LOCKSTEP_DEPS "$ENV{LOCKSTEP_DEPS}" CACHE PATH "Folder with include/ and lib/ of the dependencies; empty: the system's")
if(LOCKSTEP_DEPS)
  get_filename_component(LOCKSTEP_DEPS ${LOCKSTEP_DEPS} ABSOLUTE)
  if(NOT IS_DIRECTORY ${LOCKSTEP_DEPS}/include)
    message(FATAL_ERROR "LOCKSTEP_DEPS=${LOCKSTEP_DEPS} does not hold include/: make it with scripts/pack-deps.sh")
  endif()
  list(PREPEND CMAKE_PREFIX_PATH ${LOCKSTEP_DEPS})
  include_directories(SYSTEM ${LOCKSTEP_DEPS}/include)
  # Shared libraries among them find each other here.
  link_directories(${LOCKSTEP_DEPS}/lib)
  add_link_options(-Wl,-rpath-link,${LOCKSTEP_DEPS}/lib)
endif()
