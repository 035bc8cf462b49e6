// The variable that the archives of libjpeg and libpng write complaints to, in place of stderr;
// nothing here causes any. Their code was not compiled for shared libraries, where it cannot reach
// the C library's stderr. So the build gives them this variable instead
// (cmake/StaticLibrary.cmake).
#include <cstdio>

extern "C" __attribute__((visibility("hidden"))) FILE* lockstep_stderr;
FILE* lockstep_stderr = stderr;
