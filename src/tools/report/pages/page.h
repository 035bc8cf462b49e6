// A report as parts, from which both HTML and Markdown are made.
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
// Lines shown as they are, in a fixed-width font.
struct PageLines {
  std::string text;
};
struct PageNote {
  PageTone tone = PageTone::plain;
  std::string text;
};
// A number that is shown prominently.
struct PageTile {
  std::string name, value, more{};  // more: small text below it
};
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // a cell per column, or fewer
  std::size_t first_numbers = 1;               // columns from here on are right-aligned
  std::string left_out{};                      // a note on rows that are missing
};
struct PageFigure {
  std::string title;  // title of the text, if there is no drawing
  std::string svg;    // from core/media/charts/chart.h
  std::string text;   // the drawing in plain characters; empty if there is none
  std::string caption{};
  bool wide = false;  // takes the whole width
};
struct PagePicture {
  std::string name;      // shown below it
  std::string data_uri;  // empty: only the name is shown
  bool wide = false;     // takes the whole width
};

using PageBlock = std::variant<PageText, PageLines, std::vector<PageNote>, std::vector<PageTile>,
                               PageTable, std::vector<PageFigure>, std::vector<PagePicture>>;

struct PageSection {
  std::string title;
  std::vector<PageBlock> blocks;
  bool folded = false;  // HTML shows only its title until it is opened
};

struct Page {
  std::string title;
  std::string state{};  // a word beside the title
  PageTone tone = PageTone::plain;
  std::string subtitle{};
  std::vector<PageSection> sections;  // sections without blocks are left out
  std::string foot{};
};

// One HTML file in UTF-8, without scripts and external content; all text is escaped. It has a light
// and a dark look, and suits paper and narrow screens too.
std::string html_of(const Page& page);

// CommonMark with tables; drawings are in plain characters, and pictures are named.
std::string markdown_of(const Page& page);

}  // namespace lockstep
