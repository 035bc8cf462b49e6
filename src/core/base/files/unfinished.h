// Names of temporary files. The name identifies the process that writes the file. So leftovers of
// killed processes can be distinguished from files that are in use.
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

// Returns ".NAME.OWNER.SERIAL.tmp", where OWNER is the owner_name(). The result is different at
// each call. A long NAME is cut.
std::string unfinished_name(std::string_view name);

// Whether the process whose owner_name() follows `prefix` in `name` has ended. A process of another
// machine, boot or PID namespace may use the folder too, and cannot be checked. Its files count as
// left over when they have not changed for ten minutes. found: the status of the file.
bool has_ended(std::string_view name, std::string_view prefix, const struct stat& found);

// Makes a new folder in `root` whose name identifies this process. Removes such folders of
// processes that have ended. Returns an empty path if no folder can be made; errno then has the
// reason.
std::filesystem::path make_temporary_folder(const std::filesystem::path& root);

// Removes files and folders in `below` that have an unfinished_name, if their process has ended and
// nobody holds an flock on them. A folder is removed only if it contains nothing but files. Each
// process does this only once per folder. Files that cannot be removed stay.
void remove_abandoned(const Beneath& folder, const std::filesystem::path& below = ".");

}  // namespace lockstep
