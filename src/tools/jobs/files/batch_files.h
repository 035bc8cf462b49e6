// Opens files of a batch that a ledger names, without leaving the batch's folder. A stranger's
// batch may name other people's files, or hold links to them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/files/fd.h"
#include "tools/jobs/files/batch_folder.h"

namespace lockstep {

// Opens a regular file for reading; `below` is relative to the batch's folder. The only links
// followed are those from a share to the folders of its batch (batch_shares.h). Nothing if the file
// is missing. Throws Error if it is anything else, lies elsewhere, or may not be read.
std::optional<UniqueFd> open_in_batch(const BatchFolder& batch, const std::filesystem::path& below);

// The output of the K-th attempt of a job; nothing if it printed nothing. Throws Error as above.
std::optional<UniqueFd> open_log(const BatchFolder& batch, const std::string& job, int number);

// The last lines of that output, within its last `bytes`. "" if there are none, or if they cannot
// be read.
std::string log_end(const BatchFolder& batch, const std::string& job, int number, int lines,
                    std::size_t bytes);

}  // namespace lockstep
