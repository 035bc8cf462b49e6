// The variable to which the static libraries libjpeg and libpng write error messages instead of
// stderr. Nothing here causes such messages. The code of both was not compiled for use in a shared
// library. It could not reach the C library's stderr there, so the build gives it this variable
// (cmake/StaticLibrary.cmake).
#include <cstdio>

extern "C" __attribute__((visibility("hidden"))) FILE* lockstep_stderr;
FILE* lockstep_stderr = stderr;
