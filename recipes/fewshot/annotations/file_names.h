// Names of files in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::fewshot {

// Names of the regular files of a folder with one of the endings (".xml", small letters; without
// regard to case), in the order of their bytes. Those that begin with "._" are left out: macOS
// writes them beside others. Throws Error if it cannot be listed.
std::vector<std::string> files_ending_in(const std::filesystem::path& folder,
                                         const std::vector<std::string_view>& endings);
// The same with the folders below, as paths relative to it; links to folders are not followed.
std::vector<std::string> files_below_ending_in(const std::filesystem::path& folder,
                                               const std::vector<std::string_view>& endings);
// Whether the folder has a file with that ending; false if it is no folder.
bool has_file_ending_in(const std::filesystem::path& folder, std::string_view ending);
bool has_file_below_ending_in(const std::filesystem::path& folder, std::string_view ending);
std::string in_small_letters(std::string text);     // ASCII's
bool is_file(const std::filesystem::path& path);    // a regular one, or a link to one
bool is_folder(const std::filesystem::path& path);  // or a link to one

}  // namespace lockstep::fewshot
