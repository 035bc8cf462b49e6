// The fake NVML within the test's own process: a machine, its library and its clock.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep::testing {

class NvmlInProcess {
 public:
  NvmlInProcess() { at(0); }
  ~NvmlInProcess() {
    for (const char* name : {"LOCKSTEP_NVML", "FAKE_NVML", "FAKE_NVML_CLOCK"}) unsetenv(name);
  }
  NvmlInProcess(const NvmlInProcess&) = delete;
  NvmlInProcess& operator=(const NvmlInProcess&) = delete;

  // For what is opened from now on. driver: one of nvml_functions.txt, or the newest.
  void use(const nlohmann::json& machine, int driver = newest_driver) const {
    write_file_atomic(folder_.path() / "machine.json", machine.dump());
    const std::string library =
        driver == newest_driver ? "libfake-nvml.so" : cat("libfake-nvml-", driver, ".so");
    setenv("LOCKSTEP_NVML", cat(LOCKSTEP_BUILD_DIR "/tests/", library).c_str(), 1);
    setenv("FAKE_NVML", (folder_.path() / "machine.json").c_str(), 1);
    setenv("FAKE_NVML_CLOCK", (folder_.path() / "clock").c_str(), 1);
  }
  void at(double seconds) const { write_file_atomic(folder_.path() / "clock", cat(seconds)); }

  static constexpr int newest_driver = 580;

 private:
  TemporaryDirectory folder_;
};

}  // namespace lockstep::testing
