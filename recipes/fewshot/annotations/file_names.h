// Lists files of a folder by their endings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::fewshot {

// Returns the names of the regular files in a folder that have one of the endings. The names are
// sorted bytewise, in any locale. endings: in lower case and with the dot (".xml"). The case of a
// file's ending is ignored. Names that begin with "._" are left out, because macOS writes such
// files beside others. Throws Error if the folder cannot be listed.
std::vector<std::string> files_ending_in(const std::filesystem::path& folder,
                                         const std::vector<std::string_view>& endings);
// Lists files like files_ending_in, but also those in all folders below `folder`. Returns paths
// relative to `folder`. Links to folders are not followed.
std::vector<std::string> files_below_ending_in(const std::filesystem::path& folder,
                                               const std::vector<std::string_view>& endings);
// has_file_ending_in returns whether files_ending_in would return any file.
// has_file_below_ending_in does the same for files_below_ending_in. Both return false if the folder
// cannot be listed.
bool has_file_ending_in(const std::filesystem::path& folder, std::string_view ending);
bool has_file_below_ending_in(const std::filesystem::path& folder, std::string_view ending);
std::string in_small_letters(std::string text);     // lower case; changes only ASCII
bool is_file(const std::filesystem::path& path);    // a regular file, or a link to one
bool is_folder(const std::filesystem::path& path);  // a folder, or a link to one

}  // namespace lockstep::fewshot
