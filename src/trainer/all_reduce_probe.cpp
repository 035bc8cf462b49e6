#include "trainer/all_reduce_probe.h"

#include "base/clock.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace lockstep {

std::vector<double> probe_all_reduce(ProcessGroup& group, Backend& backend, std::int64_t bytes,
                                     int repeats) {
  constexpr int warm_up = 2;  // buffers and connections of this size
  if (group.size() == 1) return {};
  const at::NoGradGuard no_grad;
  const std::int64_t count = std::max<std::int64_t>(1, bytes / 4);
  const at::Tensor buffer =
      at::zeros({count}, at::TensorOptions().dtype(at::kFloat).device(backend.device()));
  std::vector<double> seconds;
  for (int i = 0; i < warm_up + repeats; ++i) {
    group.barrier();
    backend.synchronize();
    const double begin_s = system_clock().now_s();
    group.all_reduce(buffer)->wait();
    backend.synchronize();
    if (i >= warm_up) seconds.push_back(system_clock().now_s() - begin_s);
  }
  return seconds;
}

}  // namespace lockstep
