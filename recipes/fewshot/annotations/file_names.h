// Names of files in a folder.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::fewshot {

// Names of the regular files in a folder that have one of the endings (".xml", lower case; compared
// ignoring case), in the order of their bytes. Names that begin with "._" are left out, since macOS
// writes such files beside others. Throws Error if the folder cannot be listed.
std::vector<std::string> files_ending_in(const std::filesystem::path& folder,
                                         const std::vector<std::string_view>& endings);
// The same including folders below it, as paths relative to it. Links to folders are not followed.
std::vector<std::string> files_below_ending_in(const std::filesystem::path& folder,
                                               const std::vector<std::string_view>& endings);
// Whether the folder has a file with that ending; false if it is no folder.
bool has_file_ending_in(const std::filesystem::path& folder, std::string_view ending);
bool has_file_below_ending_in(const std::filesystem::path& folder, std::string_view ending);
std::string in_small_letters(std::string text);     // lower case, of ASCII only
bool is_file(const std::filesystem::path& path);    // a regular one, or a link to one
bool is_folder(const std::filesystem::path& path);  // or a link to one

}  // namespace lockstep::fewshot
