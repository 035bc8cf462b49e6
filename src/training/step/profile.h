// Records a trace of operators and kernels over time, for chrome://tracing and Perfetto.
#pragma once

#include <filesystem>

namespace lockstep {

// Traces from construction to `finish`: operators of this process on the host and, on GPUs, kernels
// and copies. A process may have one at a time.
class Profile {
 public:
  explicit Profile(bool gpu);
  ~Profile();  // without `finish`, nothing is written
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Writes the trace. The device must be idle. Creates the folder. Throws Error.
  void finish(const std::filesystem::path& file);

 private:
  bool running_ = false;
};

}  // namespace lockstep
