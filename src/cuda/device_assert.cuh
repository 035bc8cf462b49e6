// Assertions of kernels about data, which stay in release builds as ATen's do.
#pragma once

#include <cassert>

namespace lockstep {

// __assert_fail is what assert calls where NDEBUG is not defined. It prints the condition to
// standard error when the host next waits for the device, whose every later call fails with
// cudaErrorAssert. The kernel is named; a path of the build machine is not.
#define LOCKSTEP_DEVICE_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : __assert_fail(#condition, "lockstep", __LINE__, __func__))

}  // namespace lockstep
