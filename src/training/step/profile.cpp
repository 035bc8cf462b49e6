// Uses Kineto through torch's own profiler.
#include "training/step/profile.h"

#include "core/base/files/files.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>

namespace lockstep {
namespace {

namespace profiler = torch::autograd::profiler;

}  // namespace

Profile::Profile(bool gpu) {
  const profiler::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  std::set<torch::profiler::impl::ActivityType> activities{
      torch::profiler::impl::ActivityType::CPU};
  if (gpu) activities.insert(torch::profiler::impl::ActivityType::CUDA);
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
  running_ = true;
}

Profile::~Profile() {
  if (running_) profiler::disableProfiler();
}

void Profile::finish(const std::filesystem::path& file) {
  running_ = false;
  const auto result = profiler::disableProfiler();
  make_directories(file.parent_path());
  result->save(file.string());
}

}  // namespace lockstep
