// Recognises weight files of other programs that cannot be read, by their first bytes or members,
// so that a message can name their format.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/run/formats/zip_directory.h"

namespace lockstep {

// For a file that neither torch.save nor safetensors wrote: throws Error that names its format by
// its first bytes.
[[noreturn]] void refuse_foreign_file(std::string_view begin);

// For an archive that torch.save did not write: throws Error that names its format by its members
// (TorchScript, torch.export, NumPy). Returns if it is none of them.
void refuse_foreign_archive(const std::map<std::string, ZipMember>& members);

}  // namespace lockstep
