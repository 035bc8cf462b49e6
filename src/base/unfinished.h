// Names of what a process has not finished. A name says whose it is, so that what killed processes
// left is told from what another one is at work on.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/beneath.h"

namespace lockstep {

// Of this process: "PID-BOOT-START", with eight digits of a hash of the machine's boot and of the
// process's PID namespace (containers number their processes anew), and the clock ticks from boot
// to the start of the process.
const std::string& owner_name();

// ".NAME.OWNER.SERIAL.tmp", another one at each call. A long NAME is cut.
std::string unfinished_name(std::string_view name);

// Of a name that holds an owner_name() after `prefix`: whether that process has certainly ended. A
// process of another machine, boot or PID namespace, which may share the folder, counts as ended
// after ten minutes without a change.
bool has_ended(std::string_view name, std::string_view prefix, const struct stat& found);

// A new folder of this process in `root`, which makes those go whose process has ended; "" where
// none can be made (errno).
std::filesystem::path make_temporary_folder(const std::filesystem::path& root);

// Removes files and folders of files of such names whose process has ended and of which nobody
// holds the flock. In each folder once a process. What cannot be removed stays.
void remove_abandoned(const Beneath& folder, const std::filesystem::path& below = ".");

}  // namespace lockstep
