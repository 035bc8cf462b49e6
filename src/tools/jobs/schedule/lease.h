// Leases devices to the batches and trainings of one user. Locked files show who uses which device.
//
// A device has four parts. Each part is a file, UUID.0 to UUID.3. The process that uses a part
// locks its file (flock). A lock ends when the last process that holds the open file ends, even by
// a crash. So nothing needs cleaning up after a crash. A batch locks parts exclusively. A training
// locks all four parts in shared mode, so several trainings may use one device.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/files/fd.h"

namespace lockstep {

class DeviceLeases {
 public:
  // Creates the folder. Throws Error if the folder is not writable.
  explicit DeviceLeases(std::filesystem::path folder);
  // Returns a folder below XDG_STATE_HOME, or else below ~/.local/state, if it is writable. If
  // neither is writable, returns a folder in the system's temporary folder.
  static std::filesystem::path usual_folder();

  // Takes parts for one job that gets the share `share` of the device, with 0 < share <= 1. Returns
  // nothing if too few parts are free. holder: a text for people, which is written into the files.
  std::optional<std::vector<UniqueFd>> take(const std::string& uuid, double share,
                                            const std::string& holder);
  // Takes all parts of the device in shared mode, so other trainings may take them too. Returns
  // nothing if a batch holds a part.
  std::optional<std::vector<UniqueFd>> take_for_training(const std::string& uuid,
                                                         const std::string& holder);
  // Returns the `holder` texts of all users that hold parts of the device now, without repetitions.
  std::vector<std::string> holders(const std::string& uuid) const;

 private:
  std::filesystem::path file(const std::string& uuid, int part) const;
  UniqueFd lock(const std::string& uuid, int part, int kind, const std::string& holder);

  std::filesystem::path folder_;
};

}  // namespace lockstep
