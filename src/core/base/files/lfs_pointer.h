// Recognizes pointers of Git LFS. A pointer is a small text file in place of a large file that was
// not fetched. Source: git-lfs docs/spec.md, "The Pointer".
#pragma once

#include <filesystem>
#include <string_view>

namespace lockstep {

// Whether a file that begins with these bytes is a pointer.
bool begins_as_lfs_pointer(std::string_view begin);

// Throws Error if the open file is a pointer. The hint tells how to fetch the real file. Does not
// move the position in the file. path: the file's name in the message.
void refuse_lfs_pointer(int fd, const std::filesystem::path& path);

}  // namespace lockstep
