// Devices shared by all batches and trainings of one user: locked files show who uses which device.
//
// A device has four parts, each a file UUID.0 to UUID.3 that its user locks (flock). The lock ends
// with the last process that holds the open file, whatever happens to that process. So nothing
// needs cleaning up after a crash. Batches lock parts exclusively; trainings lock all four parts,
// shared with other trainings.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

class DeviceLeases {
 public:
  // Creates the folder. Throws Error.
  explicit DeviceLeases(std::filesystem::path folder);
  // The first writable folder of these: below XDG_STATE_HOME, below ~/.local/state, in the system's
  // temporary folder.
  static std::filesystem::path usual_folder();

  // Takes parts for `share` of the device (0 < share <= 1), for one job. holder: a text for people
  // that is written into the files. Nothing if others hold too many parts.
  std::optional<std::vector<UniqueFd>> take(const std::string& uuid, double share,
                                            const std::string& holder);
  // Takes the whole device, shared with other trainings. Nothing if a batch holds a part.
  std::optional<std::vector<UniqueFd>> take_for_training(const std::string& uuid,
                                                         const std::string& holder);
  // The `holder` texts of all that hold parts of it now, each once.
  std::vector<std::string> holders(const std::string& uuid) const;

 private:
  std::filesystem::path file(const std::string& uuid, int part) const;
  UniqueFd lock(const std::string& uuid, int part, int kind, const std::string& holder);

  std::filesystem::path folder_;
};

}  // namespace lockstep
