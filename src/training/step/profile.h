// Records a trace of operators and kernels, which chrome://tracing and Perfetto can show.
#pragma once

#include <filesystem>

namespace lockstep {

// Traces this process from construction to `finish`. The trace has operators on the host and, if
// `gpu` is true, kernels and copies on the GPU. A process may have one Profile at a time.
class Profile {
 public:
  explicit Profile(bool gpu);
  ~Profile();  // writes nothing if `finish` was not called
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  // Writes the trace, and creates the file's folder. The device must be idle. Throws Error if the
  // file cannot be written.
  void finish(const std::filesystem::path& file);

 private:
  bool running_ = false;
};

}  // namespace lockstep
