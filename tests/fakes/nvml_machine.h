// GPUs of the fake NVML, written down for a tool that a test starts.
#pragma once

#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "checkout_paths.h"
#include "core/base/files/files.h"

namespace lockstep::testing {

class NvmlMachine {
 public:
  NvmlMachine() {
    environment_ = {{"LOCKSTEP_NVML", LOCKSTEP_BUILD_DIR "/tests/libfake-nvml.so"},
                    {"FAKE_NVML", folder_.path() / "gpus.json"}};
  }

 protected:
  void set(const nlohmann::json& gpus) {
    write_file_atomic(folder_.path() / "gpus.json", nlohmann::json{{"gpus", gpus}}.dump());
  }
  // With this process on it; `more` adds members, or takes their place.
  static nlohmann::json gpu(int index, const nlohmann::json& more = nlohmann::json::object()) {
    nlohmann::json facts{
        {"uuid", "GPU-0" + std::to_string(index)},
        {"name", "NVIDIA H200"},
        {"bus", index + 1},
        {"utilization", 50 + index},
        {"memory", 1 << 30},
        {"used", 1 << 20},
        {"gpm", {{"2", 30.0}, {"5", 10.0}, {"10", 20.0}}},
        {"processes", nlohmann::json::array({{{"pid", getpid()}, {"memory", 4096}}})}};
    facts.update(more);
    return facts;
  }

  TemporaryDirectory folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace lockstep::testing
