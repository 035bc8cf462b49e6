// A plugin without a recipe that says it has kernels; and kernels of another version.
#define VISIBLE extern "C" __attribute__((visibility("default")))

#ifdef LOCKSTEP_OLD_KERNELS
VISIBLE const char* lockstep_kernels_version() { return "0.0.1 torch 1.0"; }
#else
VISIBLE const char* lockstep_plugin_version() { return LOCKSTEP_PLUGIN_VERSION; }
VISIBLE void lockstep_plugin_register() {}
VISIBLE const char* lockstep_plugin_kernels() { return "libfake-cuda.so"; }
#endif
