// GPUs whose readings a test sets.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/monitor/gpu/gpu_reader.h"

namespace lockstep {

struct FakeReader final : GpuReader {
  std::vector<GpuInfo> present;
  std::vector<GpuSample> samples;  // by position
  std::string absent;
  std::function<void()> on_read = [] {};

  const std::vector<GpuInfo>& gpus() const override { return present; }
  std::string why_absent() const override { return absent; }
  GpuSample read(std::size_t position) override {
    on_read();
    return samples.at(position);
  }
};

inline Reading measured(double value, double at_s = 0, double period_s = 0) {
  return {.state = ReadingState::measured,
          .value = value,
          .period_s = period_s,
          .at_s = at_s,
          .source = "test"};
}

inline Reading unsupported() {
  return {.state = ReadingState::unsupported, .source = "test", .why = "this GPU does not tell"};
}

}  // namespace lockstep
