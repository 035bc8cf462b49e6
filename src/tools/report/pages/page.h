// Describes a report as parts, from which both HTML and Markdown are made.
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
// Lines that are shown unchanged, in a fixed-width font.
struct PageLines {
  std::string text;
};
struct PageNote {
  PageTone tone = PageTone::plain;
  std::string text;
};
// A number that is shown prominently.
struct PageTile {
  std::string name, value, more{};  // more: small text below the value
};
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column; cells at the end may be missing
  std::size_t first_numbers = 1;               // index of the first column that is right-aligned
  std::string left_out{};                      // a note about rows that are missing
};
struct PageFigure {
  std::string title;  // title of the drawing in plain characters
  std::string svg;    // a drawing from core/media/charts/chart.h
  std::string text;   // the drawing in plain characters; if empty, Markdown leaves the figure out
  std::string caption{};
  bool wide = false;  // whether it takes the whole width
};
struct PagePicture {
  std::string name;      // shown below the picture
  std::string data_uri;  // the picture; if empty, only the name is shown
  bool wide = false;     // whether it takes the whole width
};

using PageBlock = std::variant<PageText, PageLines, std::vector<PageNote>, std::vector<PageTile>,
                               PageTable, std::vector<PageFigure>, std::vector<PagePicture>>;

struct PageSection {
  std::string title;
  std::vector<PageBlock> blocks;
  bool folded = false;  // whether HTML shows only the title until the section is opened
};

struct Page {
  std::string title;
  std::string state{};  // a word next to the title
  PageTone tone = PageTone::plain;
  std::string subtitle{};
  std::vector<PageSection> sections;  // sections without blocks are left out
  std::string foot{};
};

// Returns one HTML file in UTF-8, without scripts and external content. All text is escaped. The
// page has a light and a dark style, and also suits paper and narrow screens.
std::string html_of(const Page& page);

// Returns CommonMark with tables. Drawings are in plain characters, and only the names of pictures
// are shown.
std::string markdown_of(const Page& page);

}  // namespace lockstep
