// What lies in a batch's folder under names that a ledger gives, opened without ever leaving the
// folder: a stranger's batch may name files of others, or hold links to them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/fd.h"
#include "jobs/batch_folder.h"

namespace lockstep {

// A regular file, to read; `below` is relative to the batch's folder. No link is followed but those
// of a share to the folders of its batch (batch_shares.h). Nothing where there is none. Throws
// Error where it is anything else, lies elsewhere, or may not be read.
std::optional<UniqueFd> open_in_batch(const BatchFolder& batch, const std::filesystem::path& below);

// What the K-th attempt of a job printed; nothing where it printed nothing. Throws Error as above.
std::optional<UniqueFd> open_log(const BatchFolder& batch, const std::string& job, int number);

// The last lines of that, of its last `bytes`; "" where there are none, or they cannot be read.
std::string log_end(const BatchFolder& batch, const std::string& job, int number, int lines,
                    std::size_t bytes);

}  // namespace lockstep
