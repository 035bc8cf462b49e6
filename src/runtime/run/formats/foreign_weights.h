// Recognizes weight files in formats that Lockstep cannot read, so that an error message can name
// the format.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/run/formats/zip_directory.h"

namespace lockstep {

// Call it for a file that is neither a torch.save nor a safetensors file. begin: the first bytes of
// the file. Always throws Error, which names the format if these bytes show it.
[[noreturn]] void refuse_foreign_file(std::string_view begin);

// members: the members of a zip archive. If they show that it is a TorchScript, torch.export or
// NumPy file, throws Error that names the format.
void refuse_foreign_archive(const std::map<std::string, ZipMember>& members);

}  // namespace lockstep
