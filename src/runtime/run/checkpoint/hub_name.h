// Hints for users who type the name of a model or data set on the Hugging Face hub where a path is
// needed.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// A hint for a path that does not exist: how to download the model of that name, for the option
// `key`. Empty if it cannot be a name on the hub, which is "model" or "owner/model".
std::string hub_hint(const std::string& key, const std::filesystem::path& missing);
// The same for data. A name with a file extension is treated as a file, for which the hint is
// empty.
std::string hub_data_hint(const std::filesystem::path& missing);

}  // namespace lockstep
