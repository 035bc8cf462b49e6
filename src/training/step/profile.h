// A trace of what runs when, for chrome://tracing and Perfetto.
#pragma once

#include <filesystem>

namespace lockstep {

// From construction to `finish`: operators of this process on the host and, on GPUs, kernels and
// copies. One at a time in a process.
class Profile {
 public:
  explicit Profile(bool gpu);
  ~Profile();  // without finish: nothing is written
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Writes the trace; the device must be idle. Creates the folder. Throws Error.
  void finish(const std::filesystem::path& file);

 private:
  bool running_ = false;
};

}  // namespace lockstep
