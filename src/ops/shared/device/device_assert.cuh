// Assertions in kernels about data. Like ATen's, they remain in release builds.
#pragma once

#include <cassert>

namespace lockstep {

// Calls __assert_fail, as `assert` does if NDEBUG is not defined. The condition is printed to
// standard error when the host next waits for the device. Every later call to the device fails with
// cudaErrorAssert. The message names the kernel, but no path of the build machine.
#define LOCKSTEP_DEVICE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : __assert_fail(#condition, "lockstep", __LINE__, __func__))

}  // namespace lockstep
