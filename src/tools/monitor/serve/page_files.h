// The files of the page. cmake/EmbedPage.cmake embeds them in the program during the build.
#pragma once

#include <span>
#include <string_view>

namespace lockstep {

struct PageFile {
  std::string_view path;  // "/page.js"
  const char* type;       // its HTTP content type
  std::string_view content;
};

std::span<const PageFile> page_files();

}  // namespace lockstep
