// Files of other programs that hold weights, or seem to, in a form that is not read: told by what
// they begin with or consist of, so that a message can say what a file is.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "run/zip_directory.h"

namespace lockstep {

// A file that neither torch.save nor safetensors wrote, by its first bytes. Throws Error, whatever
// it is.
[[noreturn]] void refuse_foreign_file(std::string_view begin);

// An archive that torch.save did not write, by its members (TorchScript, torch.export, NumPy).
// Throws Error that says which it is; returns if it is none of them.
void refuse_foreign_archive(const std::map<std::string, ZipMember>& members);

}  // namespace lockstep
