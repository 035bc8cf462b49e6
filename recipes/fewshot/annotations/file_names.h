// Names of files in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::fewshot {

// Names of the regular files of a folder with one of the endings (".xml", small letters; without
// regard to case), in the order of their bytes. Throws Error where it cannot be listed.
std::vector<std::string> files_ending_in(const std::filesystem::path& folder,
                                         const std::vector<std::string_view>& endings);
bool is_file(const std::filesystem::path& path);    // a regular one, or a link to one
bool is_folder(const std::filesystem::path& path);  // or a link to one

}  // namespace lockstep::fewshot
