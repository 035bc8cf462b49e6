// Devices shared by all batches and trainings of one user: who uses what, in files that are locked.
//
// A device has four parts, each a file UUID.0 to UUID.3 that is locked (flock) by who has it. The
// lock goes with the last process that holds the open file, whatever happens to it: there is
// nothing to clean up after a crash. Batches lock parts for themselves, trainings lock all four
// together with each other.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace lockstep {

class DeviceLeases {
 public:
  // The folder is made. Throws Error.
  explicit DeviceLeases(std::filesystem::path folder);
  // Of this user: below XDG_STATE_HOME, ~/.local/state, or the system's temporary folder, whichever
  // can be written to first.
  static std::filesystem::path usual_folder();

  // Parts for `share` of the device (0 < share <= 1), for one job. `holder` is written into the
  // files, for people. Nothing if others have too many of them.
  std::optional<std::vector<UniqueFd>> take(const std::string& uuid, double share,
                                            const std::string& holder);
  // All of it, together with other trainings. Nothing if a batch has a part.
  std::optional<std::vector<UniqueFd>> take_for_training(const std::string& uuid,
                                                         const std::string& holder);
  // What those wrote who have parts of it now, each once.
  std::vector<std::string> holders(const std::string& uuid) const;

 private:
  std::filesystem::path file(const std::string& uuid, int part) const;
  UniqueFd lock(const std::string& uuid, int part, int kind, const std::string& holder);

  std::filesystem::path folder_;
};

}  // namespace lockstep
