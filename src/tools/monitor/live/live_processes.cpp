#include "tools/monitor/live/live_processes.h"

#include <algorithm>
#include <array>
#include <compare>
#include <functional>
#include <string_view>
#include <tuple>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "tools/monitor/live/live_devices.h"
#include "tools/monitor/own_runs.h"
#include "tools/monitor/reading_text.h"

namespace lockstep {
namespace {

constexpr const char* nobody = "(not a process of this PID namespace, or ended)";

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// The command without the folder of its program. Python environments have long folder names, which
// would hide the part that distinguishes programs.
std::string_view without_folder(std::string_view command) {
  const std::size_t slash = command.substr(0, command.find(' ')).rfind('/');
  return slash == std::string_view::npos ? command : command.substr(slash + 1);
}

// For example, "first-try 1200/20000 1.02M tok/s eta 2h41m  COMMAND". If space is short, the
// command is cut first, then the name. The numbers stay.
std::string what(const ProcessRow& row, int width, const char* mark) {
  if (!row.who) return nobody;
  constexpr std::size_t most_bytes = 4000;  // more than a line shows; some commands have 2 MB
  const std::string command = clean_cells(without_folder(row.who->command).substr(0, most_bytes));
  if (!row.who->run) return command;
  const std::string name = clean_cells(row.who->run->name);
  const std::string rest = clean_cells(run_text(*row.who->run)).substr(name.size());
  constexpr int least_name = 6, least_command = 10;
  const std::string run =
      cut_cells(name, std::max(least_name, width - cells_of(rest)), mark) + rest;
  return width - cells_of(run) - 2 < least_command ? run : run + "  " + command;
}

struct ProcessColumn {
  ProcessSort sort;
  const char* head;
  int width;
  int weight;  // columns with the lowest weight are left out first; the command takes the rest
  bool left;
  std::string (*text)(const ProcessRow&);
};

constexpr std::array process_columns{
    ProcessColumn{ProcessSort::gpu, "GPU", 4, 6, false,
                  [](const ProcessRow& row) { return cat(row.index); }},
    ProcessColumn{ProcessSort::pid, "PID", 7, 9, false,
                  [](const ProcessRow& row) { return cat(row.process.pid); }},
    ProcessColumn{ProcessSort::user, "user", 8, 4, true,
                  [](const ProcessRow& row) { return row.who ? row.who->user : "?"; }},
    ProcessColumn{ProcessSort::sm, "SM%", 4, 8, false,
                  [](const ProcessRow& row) {
                    return row.process.sm_percent ? fixed(*row.process.sm_percent, 0) : "-";
                  }},
    ProcessColumn{ProcessSort::memory, "memory", 8, 7, false,
                  [](const ProcessRow& row) {
                    return row.process.memory_bytes
                               ? format_bytes(static_cast<double>(*row.process.memory_bytes))
                               : "-";
                  }},
    ProcessColumn{ProcessSort::age, "age", 4, 3, false,
                  [](const ProcessRow& row) { return row.who ? age_text(row.who->age_s) : "?"; }},
};

struct ProcessWidths {
  std::array<int, process_columns.size()> of{};  // 0 = left out
  int command = 0;
};

ProcessWidths choose_process_columns(int width) {
  constexpr int least_command = 12;
  ProcessWidths widths{.command = width};
  for (int weight = 9; weight > 0; --weight)
    for (std::size_t i = 0; i < process_columns.size(); ++i)
      if (process_columns[i].weight == weight &&
          widths.command - process_columns[i].width - 1 >= least_command) {
        widths.of[i] = process_columns[i].width;
        widths.command -= process_columns[i].width + 1;
      }
  return widths;
}

// Compares two rows. Both must have the value: known() must be true for them.
std::partial_ordering order(const ProcessRow& a, const ProcessRow& b, ProcessSort by) {
  switch (by) {
    case ProcessSort::gpu:
      return a.index <=> b.index;
    case ProcessSort::pid:
      return a.process.pid <=> b.process.pid;
    case ProcessSort::user:
      return a.who->user <=> b.who->user;
    case ProcessSort::command:
      return without_folder(a.who->command) <=> without_folder(b.who->command);
    case ProcessSort::age:
      return b.who->age_s <=> a.who->age_s;
    case ProcessSort::sm:
      return *b.process.sm_percent <=> *a.process.sm_percent;
    case ProcessSort::memory:
      return *b.process.memory_bytes <=> *a.process.memory_bytes;
  }
  return std::partial_ordering::equivalent;
}

bool known(const ProcessRow& row, ProcessSort by) {
  switch (by) {
    case ProcessSort::gpu:
    case ProcessSort::pid:
      return true;
    case ProcessSort::sm:
      return row.process.sm_percent.has_value();
    case ProcessSort::memory:
      return row.process.memory_bytes.has_value();
    case ProcessSort::user:
    case ProcessSort::age:
    case ProcessSort::command:
      return row.who.has_value();
  }
  return true;
}

}  // namespace

std::vector<ProcessRow> process_rows(const std::vector<GpuInfo>& gpus, const MonitorSample& sample,
                                     const ProcessNames& names) {
  std::vector<ProcessRow> rows;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const GpuProcess& process : sample.gpus[i].processes) {
      const auto name = names.find(process.pid);
      rows.push_back({.gpu = i,
                      .index = gpus[i].index,
                      .process = process,
                      .who = name == names.end() ? std::nullopt : name->second});
    }
  return rows;
}

bool matches(const ProcessRow& row, const std::string& filter) {
  const std::string wanted = lower(filter);
  if (cat(row.process.pid).find(wanted) != std::string::npos) return true;
  if (!row.who) return wanted.empty();
  const auto holds = [&](const std::string& text) {
    return lower(text).find(wanted) != std::string::npos;
  };
  return holds(row.who->user) || holds(row.who->command) ||
         (row.who->run && holds(row.who->run->name));
}

void sort_rows(std::vector<ProcessRow>& rows, ProcessSort by, bool reversed) {
  std::sort(rows.begin(), rows.end(), [&](const ProcessRow& a, const ProcessRow& b) {
    const bool a_known = known(a, by), b_known = known(b, by);
    if (a_known != b_known) return a_known;
    if (a_known) {
      const std::partial_ordering found = order(a, b, by);
      if (found < 0) return !reversed;
      if (found > 0) return reversed;
    }
    return std::tie(a.gpu, a.process.pid) < std::tie(b.gpu, b.process.pid);
  });
}

std::string process_page(const std::vector<GpuInfo>& gpus, const MonitorSample& sample, int pid,
                         const std::optional<ProcessInfo>& who) {
  std::string text;
  if (who) {
    text += cat("user     ", who->user, "\nage      ", age_text(who->age_s), "\n");
    if (who->run) {
      const OwnRun& run = *who->run;
      text += cat("run      ", run_text(run), "\n         ", run.path, "\n");
    }
  } else {
    text += "not a process of this PID namespace, or ended\n";
  }
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const GpuProcess& process : sample.gpus[i].processes) {
      if (process.pid != pid) continue;
      const auto& memory = process.memory_bytes;
      text += cat("GPU ", gpus[i].index, "    memory ",
                  memory ? format_bytes(static_cast<double>(*memory)) : "-", ", SM ",
                  process.sm_percent ? fixed(*process.sm_percent, 0) + " %" : "-",
                  process.graphics ? ", graphics" : "", "; the whole GPU ",
                  activity_text(sample.gpus[i]), "\n");
    }
  if (who) text += "\n" + who->command + "\n";
  return text;
}

Line process_head(ProcessSort by, bool reversed, const std::string& note, int width) {
  const ProcessWidths widths = choose_process_columns(width);
  const auto head = [&](const std::string& text, ProcessSort sort) {
    if (sort != by) return text;
    const bool falling =
        sort == ProcessSort::sm || sort == ProcessSort::memory || sort == ProcessSort::age;
    return text + (falling != reversed ? "v" : "^");
  };
  std::string text;
  for (std::size_t i = 0; i < process_columns.size(); ++i) {
    if (widths.of[i] == 0) continue;
    const std::string word = head(process_columns[i].head, process_columns[i].sort);
    text += (process_columns[i].left ? fill_cells(word, widths.of[i])
                                     : fill_cells_left(word, widths.of[i])) +
            " ";
  }
  const std::string command = head("run or command", ProcessSort::command);
  const int room = widths.command - cells_of(note);
  text += room > cells_of(command) ? fill_cells(command, room) + note
                                   : fill_cells(command, widths.command);
  return {{cut_cells(text, width), Style::head}};
}

Line process_line(const ProcessRow& row, bool selected, int width, bool utf8) {
  const ProcessWidths widths = choose_process_columns(width);
  const char* const mark = utf8 ? "…" : "~";
  std::string text;
  for (std::size_t i = 0; i < process_columns.size(); ++i) {
    if (widths.of[i] == 0) continue;
    const std::string cell = clean_cells(process_columns[i].text(row));
    text += (process_columns[i].left ? fill_cells(cell, widths.of[i], mark)
                                     : fill_cells_left(cell, widths.of[i], mark)) +
            " ";
  }
  text += fill_cells(what(row, widths.command, mark), widths.command, mark);
  const Style style = selected ? Style::selected : row.who ? Style::plain : Style::dim;
  return {{cut_cells(text, width), style}};
}

}  // namespace lockstep
