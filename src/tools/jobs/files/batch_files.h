// Opens files of a batch without leaving the batch's folder. This matters because a batch from
// somebody else may name files outside its folder, or contain links to them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/files/fd.h"
#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// Opens a regular file for reading. `below` is its path relative to the batch's folder. Links are
// not followed, except those from a share to the folders of its batch (batch_shares.h). Returns
// nothing if the file is missing. Throws Error if the file is not a regular file, lies outside the
// folder, or may not be read.
std::optional<UniqueFd> open_in_batch(const BatchFolder& batch, const std::filesystem::path& below);

// Opens the output of the attempt `number` of a job. Returns nothing if the attempt printed
// nothing. Throws Error as open_in_batch() does.
std::optional<UniqueFd> open_log(const BatchFolder& batch, const std::string& job, int number);

// Returns the last lines of that output, from its last `bytes` bytes. Returns "" if the attempt
// printed nothing, or if the output cannot be read.
std::string log_end(const BatchFolder& batch, const std::string& job, int number, int lines,
                    std::size_t bytes);

}  // namespace lockstep
