// The files of the page, inside the program: made by cmake/EmbedPage.cmake when it is built.
#pragma once

#include <span>
#include <string_view>

namespace lockstep {

struct PageFile {
  std::string_view path;  // "/page.js"
  const char* type;       // of its content, as HTTP names it
  std::string_view content;
};

std::span<const PageFile> page_files();

}  // namespace lockstep
