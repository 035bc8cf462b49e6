// Pointers of Git LFS: the small texts that lie in the place of large files which were not fetched.
// Source: git-lfs docs/spec.md, "The Pointer".
#pragma once

#include <filesystem>
#include <string_view>

namespace lockstep {

// Whether a file that begins so is one.
bool begins_as_lfs_pointer(std::string_view begin);

// Throws Error if the open file is one, and says how to fetch the file itself. The position in the
// file stays. path: for the message.
void refuse_lfs_pointer(int fd, const std::filesystem::path& path);

}  // namespace lockstep
