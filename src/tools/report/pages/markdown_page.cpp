// Writes reports as Markdown.
#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/report/pages/page.h"

namespace lockstep {
namespace {

// The text on one line, escaped so that Markdown and its HTML show it literally. A newline becomes
// a space, as both formats treat it.
std::string markdown_text(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string escaped;
  for (const char c : clean_cells(text)) {
    if (std::string_view("\\`*_[]<>|#&~").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// The text between fences that are longer than any fence in it.
std::string fenced(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != text.npos) fence += '`';
  return cat(fence, "\n", printable(text, "\n\t"), text.ends_with('\n') ? "" : "\n", fence, "\n\n");
}

const char* tone_word(PageTone tone) {
  switch (tone) {
    case PageTone::plain:
    case PageTone::good:
      return "";
    case PageTone::warning:
      return "**warning:** ";
    case PageTone::bad:
      return "**failure:** ";
  }
  return "";
}

class MarkdownWriter {
 public:
  std::string page(const Page& page) {
    out_ = cat("# ", markdown_text(page.title), "\n\n");
    if (!page.state.empty()) out_ += cat("**", markdown_text(page.state), "**\n\n");
    if (!page.subtitle.empty()) out_ += cat(markdown_text(page.subtitle), "\n\n");
    for (const PageSection& section : page.sections) {
      if (section.blocks.empty()) continue;
      if (!section.title.empty()) out_ += cat("## ", markdown_text(section.title), "\n\n");
      for (const PageBlock& block : section.blocks)
        std::visit([&](const auto& one) { write(one); }, block);
    }
    if (!page.foot.empty()) out_ += cat("---\n\n", markdown_text(page.foot), "\n");
    return std::move(out_);
  }

 private:
  void write(const PageText& text) { out_ += cat(markdown_text(text.text), "\n\n"); }
  void write(const PageLines& lines) { out_ += fenced(lines.text); }
  void write(const std::vector<PageNote>& notes) {
    for (const PageNote& note : notes)
      out_ += cat("- ", tone_word(note.tone), markdown_text(note.text), "\n");
    out_ += "\n";
  }
  void write(const std::vector<PageTile>& tiles) {
    PageTable table{.columns = {"", "", ""}, .rows = {}, .first_numbers = 3};
    for (const PageTile& tile : tiles) table.rows.push_back({tile.name, tile.value, tile.more});
    write(table);
  }
  void write(const PageTable& table) {
    std::size_t columns = table.columns.size();
    for (const auto& cells : table.rows) columns = std::max(columns, cells.size());
    row(table.columns, columns);
    out_ += "|";
    for (std::size_t i = 0; i < columns; ++i) out_ += i >= table.first_numbers ? "---:|" : "---|";
    out_ += "\n";
    for (const auto& cells : table.rows) row(cells, columns);
    out_ += "\n";
    if (!table.left_out.empty()) out_ += cat(markdown_text(table.left_out), "\n\n");
  }
  void row(const std::vector<std::string>& cells, std::size_t columns) {
    out_ += "|";
    for (std::size_t i = 0; i < columns; ++i)
      out_ += cat(" ", i < cells.size() ? markdown_text(cells[i]) : "", " |");
    out_ += "\n";
  }
  void write(const std::vector<PageFigure>& figures) {
    for (const PageFigure& figure : figures) {
      if (figure.text.empty()) continue;
      if (!figure.title.empty()) out_ += cat("**", markdown_text(figure.title), "**\n\n");
      out_ += fenced(figure.text);
      if (!figure.caption.empty()) out_ += cat(markdown_text(figure.caption), "\n\n");
    }
  }
  void write(const std::vector<PagePicture>& pictures) {
    for (const PagePicture& picture : pictures)
      out_ += cat("- ", markdown_text(picture.name), "\n");
    out_ += "\n";
  }

  std::string out_;
};

}  // namespace

std::string markdown_of(const Page& page) { return MarkdownWriter().page(page); }

}  // namespace lockstep
