#include "tools/jobs/job_results.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <utility>

#include "core/base/files/fd.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

class ResultsReader {
 public:
  // Reads a line without its newline.
  void line(const std::string& line) {
    if (line.find("\"result") == line.npos) return;  // most lines are about phases
    const nlohmann::json event = parse_python_json(line);
    if (!event.is_object())
      return leave_out(cat("a line is no JSON object (one has to be on one line): ", shown(line)));
    const auto all = event.find("results");
    if (all != event.end() && all->is_object())
      for (const auto& [name, value] : all->items()) add(name, value);
    else if (all != event.end())
      leave_out(cat("\"results\" must be an object of names and values: ", shown(line)));
    const auto name = event.find("result"), value = event.find("value");
    if (name == event.end()) return;
    if (name->is_string() && value != event.end())
      add(name->get<std::string>(), *value);
    else
      leave_out(cat("\"result\" must be a name, with \"value\" beside it: ", shown(line)));
  }
  void leave_out(const std::string& why) {
    if (left_out_++ == 0) why_ = why;
  }
  JobResults finish() {
    JobResults results{.values = std::move(values_), .left_out = why_};
    if (left_out_ > 1) results.left_out += cat("; and ", left_out_ - 1, " more");
    return results;
  }

 private:
  static std::string shown(const std::string& name) {
    return printable(name.substr(0, longest_result_name));
  }

  void add(const std::string& name, const nlohmann::json& value) {
    if (name.empty() || name.size() > longest_result_name || printable(name) != name)
      return leave_out(cat("the name \"", shown(name), "\" is not one line of 1 to ",
                           longest_result_name, " bytes"));
    if (value.is_boolean()) return set(name, value.get<bool>() ? 1.0 : 0.0);
    if (value.is_number() && std::isfinite(value.get<double>()))
      return set(name, value.get<double>());
    if (!value.is_string()) return leave_out(cat(name, " is neither a number nor a text"));
    if (value.get_ref<const std::string&>().size() > longest_result_text)
      return leave_out(cat(name, " is a text of more than ", longest_result_text, " bytes"));
    set(name, value.get<std::string>());
  }

  void set(const std::string& name, std::variant<double, std::string> value) {
    const auto known = std::find_if(values_.begin(), values_.end(),
                                    [&](const JobResult& one) { return one.name == name; });
    if (known != values_.end())
      known->value = std::move(value);
    else if (values_.size() < most_results)
      values_.push_back({name, std::move(value)});
    else
      leave_out(cat(name, " is beyond the ", most_results, " that are kept"));
  }

  std::vector<JobResult> values_;
  std::string why_;
  std::int64_t left_out_ = 0;
};

}  // namespace

JobResults read_job_results(const std::filesystem::path& events) {
  // The job may have created a pipe here, and reading it would never end.
  const UniqueFd file(::open(events.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  if (!file) return {};
  ResultsReader reader;
  std::string rest;
  std::uint64_t bytes = 0;
  char block[1 << 16];
  ssize_t got = 0;
  while (bytes < most_event_bytes && (got = ::read(file.get(), block, sizeof block)) > 0) {
    bytes += static_cast<std::uint64_t>(got);
    rest.append(block, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1)
      reader.line(rest.substr(begin, end - begin));
    rest.erase(0, begin);
  }
  if (got < 0) reader.leave_out(cat("the file cannot be read: ", errno_text(errno)));
  if (got > 0 && ::read(file.get(), block, 1) > 0)
    reader.leave_out(cat("what is beyond the first ", most_event_bytes >> 20, " MiB of the file"));
  else
    reader.line(rest);  // the last line has no newline
  return reader.finish();
}

}  // namespace lockstep
