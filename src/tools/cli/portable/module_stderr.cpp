// The variable `stderr` of liblockstep-worker.so in a wheel (cmake/Wheel.cmake). libtiff and
// libjpeg are compiled for programs, so their code can reach only a variable of the same library.
#include <dlfcn.h>

#include <cstdio>

extern "C" __attribute__((visibility("hidden"))) FILE* module_stderr;
FILE* module_stderr = *static_cast<FILE**>(dlsym(RTLD_DEFAULT, "stderr"));
