#include "tools/cli/monitor/terminal.h"

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

#include <poll.h>
#include <unistd.h>

#include <langinfo.h>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <string_view>

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <term.h>

// curses defines these names as macros, and this project uses them.
#undef lines
#undef columns

namespace lockstep::cli {
namespace {

// within this time, further bytes belong to a key rather than to Escape
constexpr int escape_wait_ms = 50;

// Sets the user's locale. If it uses UTF-8 but is not installed, which is common over ssh, sets
// another UTF-8 locale.
bool use_utf8() {
  const char* const own = std::setlocale(LC_CTYPE, "");
  if (own == nullptr) {
    std::string wanted;
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
      if (const char* value = std::getenv(name); value && *value && wanted.empty()) wanted = value;
    const bool utf8 = wanted.find("UTF-8") != wanted.npos || wanted.find("utf8") != wanted.npos;
    if (!utf8 || std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) return false;
  }
  return std::string_view(nl_langinfo(CODESET)) == "UTF-8";
}

bool colour_wanted_on_stdout() {
  const char* const no = std::getenv("NO_COLOR");
  return no == nullptr || *no == '\0';
}

// Why ncurses cannot draw on this terminal. "" if it can.
std::string why_not(const char* term) {
  if (term == nullptr || *term == '\0') return "TERM is not set";
  int found = 0;
  if (setupterm(term, STDOUT_FILENO, &found) != OK)
    return found < 0 ? "no terminal descriptions are installed"
                     : cat("the terminal \"", printable(term), "\" is not known here");
  std::string why;
  if (cursor_address == nullptr || clear_screen == nullptr)
    why = cat("the terminal \"", printable(term), "\" cannot move its cursor");
  del_curterm(cur_term);
  return why;
}

// Appends a character in a form that the terminal can show. The form takes exactly the number of
// cells that cells_of returns.
void append_shown(std::wstring& text, char32_t character, bool utf8) {
  const int cells = cells_of(character);
  if (cells == 0) return;
  const auto wide = static_cast<wchar_t>(character);
  const int shown = character < 0x80 ? 1 : utf8 ? wcwidth(wide) : -1;
  const bool fits = shown >= 1 && shown <= cells;
  text += fits ? wide : L'?';
  text.append(static_cast<std::size_t>(cells - (fits ? shown : 1)), L' ');
}

std::wstring shown(std::string_view text, bool utf8) {
  std::wstring wide;
  while (!text.empty()) {
    const CodePoint point = next_code_point(text);
    text.remove_prefix(point.length);
    append_shown(wide, point.value, utf8);
  }
  return wide;
}

KeyPress special_key(wint_t code) {
  switch (code) {
    case KEY_UP:
      return {Key::up};
    case KEY_DOWN:
      return {Key::down};
    case KEY_PPAGE:
      return {Key::page_up};
    case KEY_NPAGE:
      return {Key::page_down};
    case KEY_HOME:
      return {Key::home};
    case KEY_END:
      return {Key::end};
    case KEY_ENTER:
      return {Key::enter};
    case KEY_BACKSPACE:
    case KEY_DC:
      return {Key::backspace};
    case KEY_RESIZE:
      return {Key::resize};
    default:
      return {Key::character, 0};  // the key has no meaning here
  }
}

KeyPress plain_key(wint_t character) {
  if (character == '\n' || character == '\r') return {Key::enter};
  if (character == 27) return {Key::escape};
  if (character == 8 || character == 127) return {Key::backspace};
  if (character < 0x20) return {Key::character, 0};
  return {Key::character, static_cast<char32_t>(character)};
}

}  // namespace

struct Terminal::State {
  SCREEN* screen = nullptr;
  bool utf8 = false, colours = false;

  attr_t attributes(Style style) const;
  short pair(Style style) const;
};

attr_t Terminal::State::attributes(Style style) const {
  switch (style) {
    case Style::bold:
      return A_BOLD;
    case Style::dim:
      return A_DIM;
    case Style::warning:
    case Style::bad:
      return A_BOLD;
    case Style::head:
      return A_UNDERLINE;
    case Style::selected:
      return A_REVERSE;
    case Style::plain:
    case Style::good:
      return A_NORMAL;
  }
  return A_NORMAL;
}

short Terminal::State::pair(Style style) const {
  if (!colours) return 0;
  if (style == Style::good) return 1;
  if (style == Style::warning) return 2;
  return style == Style::bad ? 3 : 0;
}

std::unique_ptr<Terminal> Terminal::open(std::string& why) {
  const char* const term = std::getenv("TERM");
  why = why_not(term);
  if (!why.empty()) return nullptr;
  auto state = std::make_unique<State>();
  state->utf8 = use_utf8();
  // initscr() would end the program on failure.
  state->screen = newterm(term, stdout, stdin);
  if (state->screen == nullptr) {
    why = cat("ncurses cannot use the terminal \"", printable(term), "\"");
    return nullptr;
  }
  return std::unique_ptr<Terminal>(new Terminal(std::move(state)));
}

Terminal::Terminal(std::unique_ptr<State> state) : state_(std::move(state)) {
  set_term(state_->screen);
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(escape_wait_ms);
  curs_set(0);
  if (colour_wanted_on_stdout() && has_colors() && start_color() == OK) {
    const short background = use_default_colors() == OK ? -1 : COLOR_BLACK;
    init_pair(1, COLOR_GREEN, background);
    init_pair(2, COLOR_YELLOW, background);
    init_pair(3, COLOR_RED, background);
    state_->colours = true;
  }
}

Terminal::~Terminal() {
  endwin();
  delscreen(state_->screen);
}

bool Terminal::utf8() const { return state_->utf8; }
int Terminal::width() const { return getmaxx(stdscr); }
int Terminal::height() const { return getmaxy(stdscr); }

void Terminal::draw(const std::vector<Line>& lines) {
  erase();
  const int most_cells = width(), rows = height();
  for (int row = 0; row < rows && row < static_cast<int>(lines.size()); ++row) {
    int cell = 0;
    for (const Span& span : lines[static_cast<std::size_t>(row)]) {
      const std::string text = cut_cells(printable(span.text), most_cells - cell);
      attr_set(state_->attributes(span.style), state_->pair(span.style), nullptr);
      mvaddwstr(row, cell, shown(text, state_->utf8).c_str());
      cell += cells_of(text);
    }
  }
  attr_set(A_NORMAL, 0, nullptr);
  refresh();
}

KeyPress Terminal::key(double timeout_s) {
  for (const bool waited : {false, true}) {
    wint_t code = 0;
    const int kind = wget_wch(stdscr, &code);
    if (kind == KEY_CODE_YES) return special_key(code);
    if (kind == OK) return plain_key(code);
    if (waited) break;
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const int ready = poll(&input, 1, static_cast<int>(timeout_s * 1000));
    if (ready > 0 && (input.revents & (POLLHUP | POLLERR | POLLNVAL))) return {Key::gone};
    if (ready <= 0 && errno != EINTR) break;
  }
  return {};
}

}  // namespace lockstep::cli
