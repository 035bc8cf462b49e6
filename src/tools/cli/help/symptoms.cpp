#include "tools/cli/help/symptoms.h"

#include <filesystem>

#include "core/base/process/program.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"

namespace lockstep::cli {
namespace {

// The folder of the guides. An installed program has it in share/doc. Without an installation, it
// is the repository's folder.
std::string docs_folder() {
  const std::filesystem::path installed =
      (program_folder() / "../share/doc/lockstep/docs").lexically_normal();
  std::error_code none;
  return std::filesystem::exists(installed, none) ? installed.string() : "docs";
}

// The file of a link in the guide, such as "page.md#part" or "../reference/page.md".
std::string page_at(std::string_view address) {
  const std::filesystem::path page = std::string(address.substr(0, address.find('#')));
  return (std::filesystem::path(docs_folder()) / "guide" / page).lexically_normal().string();
}

void add_line(Symptom& symptom, std::string_view line) {
  constexpr std::string_view also = "Also: ", part = "- **";
  if (line.starts_with(also)) {
    symptom.also = without_marks(line.substr(also.size()));
  } else if (line.starts_with(part)) {
    const std::size_t end = line.find(".** ");
    if (end == line.npos) return;
    symptom.parts.emplace_back(line.substr(part.size(), end - part.size()), line.substr(end + 4));
  } else if (line.starts_with("  ") && !symptom.parts.empty()) {
    symptom.parts.back().second += cat(" ", trim(std::string(line)));
  }
}

}  // namespace

std::string without_marks(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t middle = text.find("](");
    const std::size_t end = text.front() == '[' ? text.find(')') : text.npos;
    if (end != text.npos && middle < end) {
      plain +=
          cat(text.substr(1, middle - 1), ": ", page_at(text.substr(middle + 2, end - middle - 2)));
      text.remove_prefix(end + 1);
    } else if (text.starts_with("**")) {
      text.remove_prefix(2);
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

std::vector<Symptom> symptoms_in(std::string_view page) {
  constexpr std::string_view heading = "## ";
  std::vector<Symptom> all;
  for (const std::string& line : split(std::string(page), '\n')) {
    if (line.starts_with(heading))
      all.push_back({.title = line.substr(heading.size()), .also = {}, .parts = {}});
    else if (!all.empty())
      add_line(all.back(), line);
  }
  for (Symptom& symptom : all)
    // a link may continue on the next line
    for (auto& [name, what] : symptom.parts) what = without_marks(what);
  return all;
}

std::string symptom_text(const Symptom& symptom, int width) {
  std::string text = symptom.title + "\n" + hang_cells("  Also: ", symptom.also, width);
  for (const auto& [name, what] : symptom.parts)
    text += hang_cells(cat("  ", name, ": "), what, width);
  return text;
}

}  // namespace lockstep::cli
