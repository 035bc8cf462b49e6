// Names of models and data sets on the Hugging Face hub, which people type where a path is needed.
#pragma once

#include <filesystem>
#include <string>

namespace lockstep {

// The hint for a path that is not there: how to fetch the model of that name, for the option `key`.
// Empty if it cannot be a name of the hub, which is "model" or "owner/model".
std::string hub_hint(const std::string& key, const std::filesystem::path& missing);
// The same for data that are not there: names with an ending are taken for files.
std::string hub_data_hint(const std::filesystem::path& missing);

}  // namespace lockstep
