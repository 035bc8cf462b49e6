// Names of files that a process has not finished. The name identifies the process. So leftovers of
// killed processes can be told from files that are in use.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/files/beneath.h"

namespace lockstep {

// "PID-BOOT-START" of this process. BOOT is eight digits of a hash of the machine's boot and the
// PID namespace, because each container has its own process ids. START is the start time of the
// process, in clock ticks since boot.
const std::string& owner_name();

// ".NAME.OWNER.SERIAL.tmp", different at each call. A long NAME is cut.
std::string unfinished_name(std::string_view name);

// Whether the process whose owner_name() follows `prefix` in the name has certainly ended. A
// process of another machine, boot or PID namespace may share the folder. It counts as ended after
// ten minutes without a change.
bool has_ended(std::string_view name, std::string_view prefix, const struct stat& found);

// Makes a new folder of this process in `root`, and removes folders whose process has ended.
// Returns an empty path if none can be made (errno).
std::filesystem::path make_temporary_folder(const std::filesystem::path& root);

// Removes files with such names, and folders that contain only files. Their process must have
// ended, and nobody may hold an flock on them. Each process does this only once per folder. Files
// that cannot be removed stay.
void remove_abandoned(const Beneath& folder, const std::filesystem::path& below = ".");

}  // namespace lockstep
