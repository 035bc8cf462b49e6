// Writes reports as HTML.
#include <string_view>

#include "core/base/text/text.h"
#include "core/media/charts/svg.h"
#include "tools/report/pages/page.h"
#include "tools/report/pages/page_style.h"

namespace lockstep {
namespace {

// For text, and for attributes in double quotes.
std::string html_text(std::string_view text) { return xml_text(text); }

const char* tone_class(PageTone tone) {
  switch (tone) {
    case PageTone::plain:
      return "";
    case PageTone::good:
      return "good";
    case PageTone::warning:
      return "warning";
    case PageTone::bad:
      return "bad";
  }
  return "";
}

std::string with_replaced(std::string text, std::string_view part, std::string_view by) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
  return text;
}

class HtmlWriter {
 public:
  std::string page(const Page& page) {
    out_ =
        cat("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
            "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
            "name=\"color-scheme\" content=\"light dark\">\n<title>",
            html_text(page.title), "</title>\n<style>", page_style,
            "</style>\n</head>\n<body>\n<main>\n<h1>", html_text(page.title), "</h1>\n");
    if (!page.state.empty())
      out_ += cat("<span class=\"state ", tone_class(page.tone), "\">", html_text(page.state),
                  "</span>\n");
    if (!page.subtitle.empty())
      out_ += cat("<p class=\"subtitle\">", html_text(page.subtitle), "</p>\n");
    contents(page);
    for (std::size_t i = 0; i < page.sections.size(); ++i) section(page.sections[i], i);
    if (!page.foot.empty()) out_ += cat("<footer>", html_text(page.foot), "</footer>\n");
    return std::move(out_) + "</main>\n</body>\n</html>\n";
  }

 private:
  void contents(const Page& page) {
    std::string links;
    for (std::size_t i = 0; i < page.sections.size(); ++i)
      if (!page.sections[i].blocks.empty() && !page.sections[i].title.empty())
        links += cat("<a href=\"#s", i, "\">", html_text(page.sections[i].title), "</a>\n");
    if (!links.empty()) out_ += cat("<nav>", links, "</nav>\n");
  }

  void section(const PageSection& section, std::size_t number) {
    if (section.blocks.empty()) return;
    const std::string head =
        section.title.empty() ? "" : cat("<h2>", html_text(section.title), "</h2>");
    if (section.folded)
      out_ += cat("<details id=\"s", number, "\"><summary>", head, "</summary>\n");
    else
      out_ += cat("<section id=\"s", number, "\">", head, "\n");
    for (const PageBlock& block : section.blocks)
      std::visit([&](const auto& one) { write(one); }, block);
    out_ += section.folded ? "</details>\n" : "</section>\n";
  }

  void write(const PageText& text) { out_ += cat("<p>", html_text(text.text), "</p>\n"); }
  void write(const PageLines& lines) {
    out_ += cat("<div class=\"card\"><pre>", html_text(lines.text), "</pre></div>\n");
  }
  void write(const std::vector<PageNote>& notes) {
    out_ += "<ul class=\"notes\">\n";
    for (const PageNote& note : notes)
      out_ += cat("<li class=\"", tone_class(note.tone), "\">", html_text(note.text), "</li>\n");
    out_ += "</ul>\n";
  }
  void write(const std::vector<PageTile>& tiles) {
    out_ += "<div class=\"tiles\">\n";
    for (const PageTile& tile : tiles) {
      out_ += cat("<div class=\"tile\"><div class=\"name\">", html_text(tile.name),
                  "</div><div class=\"value\">", html_text(tile.value), "</div>");
      if (!tile.more.empty()) out_ += cat("<div class=\"more\">", html_text(tile.more), "</div>");
      out_ += "</div>\n";
    }
    out_ += "</div>\n";
  }
  void write(const PageTable& table) {
    out_ += "<div class=\"card\"><table>\n";
    if (!table.columns.empty()) row(table, table.columns, "th");
    for (const std::vector<std::string>& cells : table.rows) row(table, cells, "td");
    out_ += "</table></div>\n";
    if (!table.left_out.empty())
      out_ += cat("<p class=\"left-out\">", html_text(table.left_out), "</p>\n");
  }
  void row(const PageTable& table, const std::vector<std::string>& cells, const char* element) {
    out_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out_ += cat("<", element, i >= table.first_numbers ? " class=\"number\">" : ">",
                  html_text(cells[i]), "</", element, ">");
    out_ += "</tr>\n";
  }
  void write(const std::vector<PageFigure>& figures) {
    out_ += "<div class=\"figures\">\n";
    for (const PageFigure& figure : figures) {
      out_ +=
          cat("<figure class=\"figure", figure.wide ? " wide" : "", "\">\n", drawing(figure.svg));
      if (!figure.caption.empty())
        out_ += cat("<figcaption>", html_text(figure.caption), "</figcaption>\n");
      out_ += "</figure>\n";
    }
    out_ += "</div>\n";
  }
  void write(const std::vector<PagePicture>& pictures) {
    out_ += "<div class=\"pictures\">\n";
    for (const PagePicture& picture : pictures) {
      out_ += picture.wide ? "<figure class=\"wide\">" : "<figure>";
      if (!picture.data_uri.empty())
        out_ += cat("<img alt=\"", html_text(picture.name), "\" src=\"",
                    html_text(picture.data_uri), "\">");
      out_ += cat("<figcaption>", html_text(picture.name), "</figcaption></figure>\n");
    }
    out_ += "</div>\n";
  }

  // Names of clip areas must be unique in the page, so each drawing gets its own. Quotes in texts
  // are escaped, so texts are not changed by mistake.
  std::string drawing(const std::string& svg) {
    const std::string name = cat("d", ++drawings_, "-clip");
    std::string text = with_replaced(svg, " xmlns=\"http://www.w3.org/2000/svg\"", "");
    text = with_replaced(std::move(text), "id=\"clip", cat("id=\"", name));
    return with_replaced(std::move(text), "\"url(#clip", cat("\"url(#", name));
  }

  std::string out_;
  int drawings_ = 0;
};

}  // namespace

std::string html_of(const Page& page) { return HtmlWriter().page(page); }

}  // namespace lockstep
