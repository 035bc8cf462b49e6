// Recognizes weight files of other programs that cannot be read, so that a message can name their
// format.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "runtime/run/formats/zip_directory.h"

namespace lockstep {

// For a file that neither torch.save nor safetensors wrote. Throws Error that names its format,
// which is recognized by its first bytes.
[[noreturn]] void refuse_foreign_file(std::string_view begin);

// For an archive. Throws Error that names its format if its members show that it is TorchScript,
// torch.export or NumPy. Returns if it is none of these.
void refuse_foreign_archive(const std::map<std::string, ZipMember>& members);

}  // namespace lockstep
