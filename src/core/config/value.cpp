// An option's value as text and as JSON, checked against its type and range.
#include "core/config/value.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/parse.h"

namespace lockstep::detail {
namespace {

using nlohmann::json;

std::string bound_text(const OptionInfo& option, double bound) {
  return option.type == OptionType::duration ? format_duration({bound}) : format_real(bound);
}

const char* noun(OptionType type) {
  switch (type) {
    case OptionType::boolean:
      return "true or false";
    case OptionType::integer:
      return "a whole number";
    case OptionType::real:
      return "a number";
    case OptionType::text:
      return "a text";
    case OptionType::choice:
      return "one of";
    case OptionType::duration:
      return "a time such as 90s or 8h30m";
    case OptionType::list:
      return "a list of texts without empty ones";
  }
  return "";
}

[[noreturn]] void fail(const OptionInfo& option, std::string_view value, std::string hint = {}) {
  if (hint.empty()) hint = cat(option.key, ": ", option.spec.meaning);
  throw Error(cat(option.key, " must be ", requirement(option), ", but is ", value), hint);
}

std::string in_quotes(std::string_view text) { return cat("\"", text, "\""); }

std::string describe(const json& value) {
  if (value.is_object()) return "a table";
  if (value.is_string()) return cat("the text ", in_quotes(value.get<std::string>()));
  if (value.is_number_float()) return format_real(value.get<double>());
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool has_type(OptionType type, const json& value) {
  switch (type) {
    case OptionType::boolean:
      return value.is_boolean();
    case OptionType::integer:
      return value.is_number_integer();
    case OptionType::real:
    case OptionType::duration:
      return value.is_number() && std::isfinite(value.get<double>());
    case OptionType::text:
    case OptionType::choice:
      return value.is_string();
    case OptionType::list:
      return value.is_array() && std::all_of(value.begin(), value.end(), [](const json& item) {
               return item.is_string() && !item.get_ref<const std::string&>().empty();
             });
  }
  return false;
}

bool in_range(const OptionInfo& option, const json& value) {
  // nlohmann::json stores numbers that are too large for int64 as unsigned.
  if (option.type == OptionType::integer && value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    return false;
  if (!value.is_number()) return true;
  const double number = value.get<double>();
  return number >= lowest(option) && number <= option.spec.max;
}

void check_choice(const OptionInfo& option, const std::string& word) {
  const std::vector<std::string>& choices = option.spec.choices;
  if (std::find(choices.begin(), choices.end(), word) != choices.end()) return;
  const std::string near = nearest(word, choices);
  fail(option, in_quotes(word), near.empty() ? "" : cat("did you mean ", near, "?"));
}

// The value that a text has for an option of another type than text. Null if the text does not fit
// the type.
json from_text(OptionType type, std::string_view text) {
  const auto value = [](const auto& parsed) { return parsed ? json(*parsed) : json(); };
  switch (type) {
    case OptionType::boolean:
      return value(parse_boolean(text));
    case OptionType::integer:
      return value(parse_integer(text));
    case OptionType::real:
      return value(parse_real(text));
    case OptionType::list:
      return value(parse_list(text));
    case OptionType::text:
    case OptionType::choice:
      return std::string(text);
    case OptionType::duration:
      try {
        return parse_duration(text).seconds;
      } catch (const Error&) {
        return {};
      }
  }
  return {};
}

std::string hint_for(const OptionInfo& option, std::string_view text) {
  if (option.type != OptionType::integer) return {};
  const auto real = parse_real(text);
  if (!real || *real != std::floor(*real) || std::abs(*real) >= 1e15) return {};
  return cat("write it out: ", option.key, "=", format_real(*real));
}

}  // namespace

double lowest(const OptionInfo& option) {
  return option.type == OptionType::duration ? std::max(0.0, option.spec.min) : option.spec.min;
}

json bound(const OptionInfo& option, double number) {
  if (!std::isfinite(number)) return {};
  if (option.type == OptionType::integer && std::abs(number) < 0x1p63)
    return static_cast<std::int64_t>(number);
  return number;
}

std::string range_text(const OptionInfo& option) {
  if (!option.spec.choices.empty()) return join(option.spec.choices, ", ");
  const double min = lowest(option), max = option.spec.max;
  if (std::isfinite(min) && std::isfinite(max))
    return cat(bound_text(option, min), " to ", bound_text(option, max));
  if (std::isfinite(min)) return cat("at least ", bound_text(option, min));
  if (std::isfinite(max)) return cat("at most ", bound_text(option, max));
  return {};
}

std::string requirement(const OptionInfo& option) {
  std::string text = noun(option.type);
  if (!option.spec.word.empty()) text = cat(option.spec.word, " or ", text);
  const std::string range = range_text(option);
  const bool closed = std::isfinite(lowest(option)) && std::isfinite(option.spec.max);
  if (option.type == OptionType::choice) return cat(text, " ", range);
  if (!range.empty()) text += cat(closed ? " from " : " of ", range);
  if (option.type == OptionType::duration || option.spec.unit.empty()) return text;
  return cat(text, range.empty() ? " of " : " ", option.spec.unit);
}

std::string summary(const OptionInfo& option) {
  std::string range = range_text(option);
  if (!option.spec.choices.empty()) range = cat("one of ", range);
  if (!option.spec.unit.empty() && option.type != OptionType::duration)
    range += cat(range.empty() ? "" : " ", option.spec.unit);
  return range.empty() ? option.spec.meaning : cat(option.spec.meaning, " [", range, "]");
}

json parse_value(const OptionInfo& option, std::string_view text) {
  if (!option.spec.word.empty() && text == option.spec.word)
    return static_cast<std::int64_t>(option.spec.min);
  const json value = from_text(option.type, text);
  if (value.is_null()) fail(option, in_quotes(text), hint_for(option, text));
  if (value.is_number() && !in_range(option, value)) fail(option, text);
  return check_value(option, value);
}

json check_value(const OptionInfo& option, const json& value) {
  const bool readable = option.type == OptionType::duration || option.type == OptionType::list ||
                        !option.spec.word.empty();
  if (readable && value.is_string()) return parse_value(option, value.get<std::string>());
  if (!has_type(option.type, value) || !in_range(option, value)) fail(option, describe(value));
  if (option.type == OptionType::choice) check_choice(option, value.get<std::string>());
  // Converts a whole number to a real one.
  if (option.type == OptionType::real || option.type == OptionType::duration)
    return value.get<double>();
  return value;
}

std::string value_text(OptionType type, const json& value) {
  switch (type) {
    case OptionType::boolean:
      return value.get<bool>() ? "true" : "false";
    case OptionType::integer:
      return std::to_string(value.get<std::int64_t>());
    case OptionType::real:
      return format_real(value.get<double>());
    case OptionType::duration:
      return format_duration({value.get<double>()});
    case OptionType::list:
      return format_list(value.get<std::vector<std::string>>());
    case OptionType::text:
    case OptionType::choice:
      return value.get<std::string>();
  }
  return {};
}

}  // namespace lockstep::detail
