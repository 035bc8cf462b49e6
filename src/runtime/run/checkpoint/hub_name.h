// Hints for users who type the name of a model or data set on the Hugging Face hub where a path is
// needed.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// A hint for a path that does not exist. It says how to download a model of that name and pass it
// to the option `key`. Empty if the path cannot be a name on the hub, which is "model" or
// "owner/model".
std::string hub_hint(const std::string& key, const std::filesystem::path& missing);
// The same for a data set. A path with a file extension is not a name on the hub, so the hint is
// empty.
std::string hub_data_hint(const std::filesystem::path& missing);

}  // namespace lockstep
