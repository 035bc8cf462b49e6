#include "tools/jobs/job_file/job_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/config/toml_tree.h"
#include "tools/jobs/job_file/job_keys.h"
#include "tools/jobs/job_group.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using detail::TomlNode;

constexpr const char* group_key = "jobs";
constexpr std::uint64_t most_file_bytes = 64 << 20;  // the parser needs many times this memory

// Checks the length of lists before parsing. The parser needs minutes and gigabytes for a list with
// more values than a batch may have jobs.
const fs::path& check_values(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return path;
  const std::string text = read_file(path, most_file_bytes);
  const auto commas = std::count(text.begin(), text.end(), ',');
  if (commas > most_jobs)
    throw Error(cat(path.string(), " has more than ", most_jobs, " values"),
                "write them into a file: x = {lines = \"values.txt\"}, or a CSV file");
  return path;
}

// The folder to which relative paths refer. For a pipe, it is the current folder.
fs::path folder_of(const fs::path& file) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error).lexically_normal();
  if (error || !fs::is_regular_file(path, error)) return fs::current_path();
  return path.parent_path();
}

bool is_of_matrix(const std::string& key) {
  return key == "matrix" || key == "include" || key == "exclude";
}

// Throws Error for an empty matrix, which is a mistake at the top level. In a group, an empty
// matrix means none.
void check_matrix(const TomlNode& table, const std::string& file, bool may_be_empty) {
  const TomlNode* const matrix = table.find("matrix");
  if (may_be_empty || !matrix || matrix->kind != TomlNode::Kind::table || !matrix->members.empty())
    return;
  throw Error(cat(file, ", line ", matrix->line, ": the matrix is empty"),
              "give it a parameter with values, such as lr = [0.1, 0.01]");
}

void check_command(const JobKeyTarget& target) {
  const Job& job = target.group.job;
  at_place(target.group.place, [&] {
    if (job.command.empty())
      throw Error("the jobs have no command",
                  "write command = [\"python3\", \"train.py\", \"{lr}\"]");
    if (job.shell && !target.command_is_text)
      throw Error("with shell = true the command must be one text, but is a list",
                  "write command = \"sort {file} | head\", or take shell away");
    if (!job.shell && target.command_is_text)
      throw Error("without a shell the command must be a list of words, but is a text",
                  "write command = [\"python3\", \"train.py\"], or set shell = true");
  });
}

class Reader {
 public:
  explicit Reader(const fs::path& path)
      : file_(path.string()),
        folder_(folder_of(path)),
        top_(detail::read_toml_tree(check_values(path), most_file_bytes)) {}

  struct Groups {
    std::vector<JobGroup> groups;
    BatchLimits limits;
  };
  Groups read() const {
    JobKeyTarget shared = empty_target();
    check_matrix(top_, file_, false);
    for (const auto& [key, node] : top_.members)
      if (key != group_key) read_job_key(key, node, shared);
    Groups read{.groups = {}, .limits = shared.limits};
    const TomlNode* const tables = top_.find(group_key);
    if (!tables) {
      read.groups.push_back(checked(std::move(shared)));
      return read;
    }
    if (tables->kind != TomlNode::Kind::list || tables->items.empty() ||
        tables->items[0].kind != TomlNode::Kind::table)
      throw Error(cat(file_, ", line ", tables->line, ": jobs must be tables"),
                  "write [[jobs]] above the keys of each group of jobs");
    for (const TomlNode& table : tables->items)
      read.groups.push_back(checked(target(table, shared)));
    return read;
  }

 private:
  JobKeyTarget empty_target() const {
    JobKeyTarget target{.group = {}, .limits = {}, .folder = folder_};
    target.group.place = target.group.matrix.place = {file_, 0};
    target.group.base = folder_.string();
    return target;
  }

  // The group's own keys override those at the top level. Its own matrix replaces the one there.
  JobKeyTarget target(const TomlNode& table, const JobKeyTarget& shared) const {
    JobKeyTarget target = shared;
    target.group.place = {file_, table.line};
    check_matrix(table, file_, !shared.group.matrix.empty());
    if (std::any_of(table.members.begin(), table.members.end(),
                    [](const auto& member) { return is_of_matrix(member.first); }))
      target.group.matrix = {.place = target.group.place, .axes = {}, .exclude = {}, .include = {}};
    for (const auto& [key, node] : table.members) {
      refuse_top_key(key, node);
      read_job_key(key, node, target);
    }
    return target;
  }

  void refuse_top_key(const std::string& key, const TomlNode& node) const {
    for (const JobKey& known : job_keys())
      if (known.key == key && known.top_only)
        throw Error(cat(file_, ", line ", node.line, ": ", key,
                        " is of the whole batch, not of one group of jobs"),
                    "write it above the first [[jobs]]");
  }

  static JobGroup checked(JobKeyTarget target) {
    check_command(target);
    return std::move(target.group);
  }

  std::string file_;
  fs::path folder_;
  TomlNode top_;
};

}  // namespace

JobList read_job_file(const fs::path& path) {
  const Reader::Groups read = Reader(path).read();
  return expand_jobs(read.groups, read.limits);
}

JobSource job_file_source(const fs::path& path) {
  Reader::Groups read = Reader(path).read();
  return {std::move(read.groups), read.limits};
}

}  // namespace lockstep
