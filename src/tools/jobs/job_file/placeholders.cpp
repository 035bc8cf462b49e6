#include "tools/jobs/job_file/placeholders.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/jobs/job_file/fill_attempt.h"

namespace lockstep {
namespace {

constexpr std::array<std::string_view, 4> parts{"/.", "//", "/", "."};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes the suffix that selects a part of a value, such as "/." in "file/.". Returns the suffix.
std::string take_part(std::string_view& inner) {
  for (const std::string_view part : parts)
    if (inner.ends_with(part)) {
      inner.remove_suffix(part.size());
      return std::string(part);
    }
  return {};
}

// Whether this text in braces is a placeholder: "", "#", "%", "12" or "name", each with an optional
// suffix.
bool looks_like_placeholder(std::string_view inner) {
  if (inner == "#" || inner == "%") return true;
  take_part(inner);
  if (inner.empty() || std::all_of(inner.begin(), inner.end(), is_digit)) return true;
  return is_letter(inner[0]) && std::all_of(inner.begin(), inner.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '.';
         });
}

// A part of a value, as in GNU parallel. "." removes the extension, "/" removes the folder, and
// "//" is the folder.
std::string part_of(std::string_view value, std::string_view part) {
  const std::size_t slash = value.rfind('/');
  if (part == "//") return std::string(slash == value.npos ? "." : value.substr(0, slash));
  if (part == "/" || part == "/.") value.remove_prefix(slash == value.npos ? 0 : slash + 1);
  const std::size_t dot = value.rfind('.');
  const bool in_name = dot != value.npos && value.find('/', dot) == value.npos;
  if ((part == "." || part == "/.") && in_name) value = value.substr(0, dot);
  return std::string(value);
}

[[noreturn]] void fail_unknown(std::string_view inner, const PlaceholderScope& scope) {
  std::vector<std::string> known = scope.names;
  if (scope.attempt) known.insert(known.end(), attempt_names.begin(), attempt_names.end());
  std::string near = nearest(inner, known);
  if (inner == "%" && scope.attempt) near = "slot";
  const std::string braces = cat("write {{", inner, "}} if the braces are meant");
  throw Error(cat("the placeholder {", inner, "} has no value"),
              near.empty() ? braces : cat("did you mean {", near, "}? ", braces));
}

}  // namespace

TextTemplate::TextTemplate(std::string_view text, const PlaceholderScope& scope)
    : names_(scope.names), shell_(scope.shell) {
  int doubled = 0;          // number of {{ that may be closed with }}
  std::size_t closing = 0;  // position of the next }
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (closing <= at) closing = std::min(text.find('}', at), text.size());
    const bool closes = rest[0] == '{' && closing < text.size();
    const std::size_t end = closes ? closing - at : rest.npos;
    const bool of_shell = scope.shell && at > 0 && text[at - 1] == '$';
    if (rest.starts_with("{{") || (doubled > 0 && rest.starts_with("}}"))) {
      doubled += rest[0] == '{' ? 1 : -1;
      add_literal(rest.substr(0, 1));
      at += 2;
    } else if (end != rest.npos && !of_shell && looks_like_placeholder(rest.substr(1, end - 1))) {
      add_placeholder(rest.substr(1, end - 1), scope);
      at += end + 1;
    } else {
      add_literal(rest.substr(0, 1));
      ++at;
    }
  }
}

void TextTemplate::add_literal(std::string_view text) {
  if (pieces_.empty() || pieces_.back().kind != Kind::literal)
    pieces_.push_back({Kind::literal, ""});
  pieces_.back().text += text;
}

void TextTemplate::add_placeholder(std::string_view inner, const PlaceholderScope& scope) {
  if (inner == "#") return pieces_.push_back({Kind::number, "#"});
  if (is_attempt_name(inner)) {
    if (!scope.attempt)
      throw Error(cat("{", inner, "} cannot stand here: it is known only when the job starts"));
    return pieces_.push_back({Kind::attempt, std::string(inner)});
  }
  std::string_view name = inner;
  const std::string part = take_part(name);
  if (name.empty()) {
    if (names_.empty()) fail_unknown(inner, scope);
    return pieces_.push_back({Kind::all, std::string(inner), 0, part});
  }
  const auto found = std::find(names_.begin(), names_.end(), name);
  auto index = static_cast<std::size_t>(found - names_.begin());
  if (const auto place = whole_number<std::size_t>(name, 1); index == names_.size() && place)
    index = *place - 1;
  if (index >= names_.size()) fail_unknown(inner, scope);
  pieces_.push_back({Kind::parameter, std::string(inner), index, part});
}

const std::string& TextTemplate::value(const Piece& piece, const JobParameters& parameters) const {
  const std::string& wanted = names_[piece.index];
  if (piece.index < parameters.size() && parameters[piece.index].first == wanted)
    return parameters[piece.index].second;
  for (const auto& [name, value] : parameters)
    if (name == wanted) return value;
  std::vector<std::string> words;
  for (const auto& [name, value] : parameters) words.push_back(cat(name, "=", value));
  throw Error(
      cat("the placeholder {", piece.text, "} has no value in the job with ", join(words, ", ")),
      cat("give ", wanted, " to every job"));
}

void TextTemplate::append(std::string& text, const std::string& value, const Piece& piece) const {
  if (!piece.part.empty()) {
    const std::string part = part_of(value, piece.part);
    text += shell_ ? quote_for_shell(part) : part;
  } else if (shell_) {
    text += quote_for_shell(value);
  } else {
    text += value;
  }
}

std::string TextTemplate::fill(const JobParameters& parameters, std::int64_t number) const {
  std::string filled, literal;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Kind::attempt) {
      append_escaped(filled, literal);
      literal.clear();
      filled += '{';
      filled += piece.text;
      filled += '}';
    } else if (piece.kind == Kind::literal) {
      literal += piece.text;
    } else if (piece.kind == Kind::number) {
      literal += std::to_string(number);
    } else if (piece.kind == Kind::parameter) {
      append(literal, value(piece, parameters), piece);
    } else {
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (i > 0) literal += ' ';
        append(literal, parameters[i].second, piece);
      }
    }
  }
  const bool ends_here = filled.empty() && literal.find('{') == literal.npos;
  if (ends_here) return literal;
  append_escaped(filled, literal);
  return filled;
}

bool TextTemplate::uses_parameters() const {
  return std::any_of(pieces_.begin(), pieces_.end(), [](const Piece& piece) {
    return piece.kind != Kind::literal && piece.kind != Kind::attempt;
  });
}

bool TextTemplate::uses(std::string_view attempt_name) const {
  return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
    return piece.kind == Kind::attempt && piece.text == attempt_name;
  });
}

bool TextTemplate::is_all() const {
  return pieces_.size() == 1 && pieces_[0].kind == Kind::all && pieces_[0].part.empty();
}

std::string quote_for_shell(std::string_view text) {
  const bool is_plain = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("@%+=:,./-").find(c) != std::string_view::npos;
  });
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

}  // namespace lockstep
