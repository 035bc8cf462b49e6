// A report as parts, of which HTML and Markdown are made alike.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep {

enum class PageTone { plain, good, warning, bad };

struct PageText {
  std::string text;  // one paragraph
};
// Lines as they are, in a font of equal widths.
struct PageLines {
  std::string text;
};
struct PageNote {
  PageTone tone = PageTone::plain;
  std::string text;
};
// A number that is to be seen first.
struct PageTile {
  std::string name, value, more{};  // more: in small, below
};
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column, or fewer
  std::size_t first_numbers = 1;               // columns from here on stand to the right
  std::string left_out{};                      // what is not among the rows
};
struct PageFigure {
  std::string title;  // of the text, where there is no drawing
  std::string svg;    // of media/chart.h
  std::string text;   // the same in characters; empty: it has none
  std::string caption{};
  bool wide = false;  // takes the whole width
};
struct PagePicture {
  std::string name;      // below it
  std::string data_uri;  // empty: only its name is told
  bool wide = false;     // takes the whole width
};

using PageBlock = std::variant<PageText, PageLines, std::vector<PageNote>, std::vector<PageTile>,
                               PageTable, std::vector<PageFigure>, std::vector<PagePicture>>;

struct PageSection {
  std::string title;
  std::vector<PageBlock> blocks;
  bool folded = false;  // HTML shows its title until it is opened
};

struct Page {
  std::string title;
  std::string state{};  // a word beside the title
  PageTone tone = PageTone::plain;
  std::string subtitle{};
  std::vector<PageSection> sections;  // those without blocks are left out
  std::string foot{};
};

// One file without a script and without anything from elsewhere, in UTF-8: any text in it is shown
// as it is. It has a light and a dark look, and is laid out for paper and narrow screens too.
std::string html_of(const Page& page);

// CommonMark with tables, drawings as characters; pictures by their names.
std::string markdown_of(const Page& page);

}  // namespace lockstep
