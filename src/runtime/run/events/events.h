// events.jsonl, the log of a run's events. Rank 0 appends to it, from the thread that trains and
// from the one that saves checkpoints (Recorder). All other code only reads it.
#pragma once

#include "core/base/files/fd.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

// Appends one object per line with a single write. So even after a kill, only the last line may be
// incomplete. Readers ignore such a line, and the next writer cuts it off. If LOCKSTEP_EVENTS_FD is
// set, each line is also copied to that descriptor, for the launcher's progress display. If the
// disk is full, the event is lost and failed() counts it; nothing is thrown.
class EventWriter {
 public:
  // creates the file if needed; throws Error
  explicit EventWriter(const std::filesystem::path& path);
  EventWriter();  // writes only to that descriptor, for events without a run
  // Adds "time" (unix seconds) if it is missing. Not thread-safe: the caller must lock, as Recorder
  // does.
  void write(const nlohmann::json& event);
  int failed() const { return failed_; }
  // Makes the events written so far durable; a failure is ignored. Any thread may call it.
  void sync();

 private:
  UniqueFd file_;
  int echo_fd_ = -1;
  int failed_ = 0;
};

// Reads all events in file order. Lines that are not JSON objects are skipped and counted.
std::vector<nlohmann::json> read_events(const std::filesystem::path& path,
                                        int* bad_lines = nullptr);

// Removes the events that a resume invalidated. These are events of steps > S before a
// {"kind":"resume","step":S}. "step" counts finished optimizer steps, so the next step is S + 1.
std::vector<nlohmann::json> effective_events(std::vector<nlohmann::json> events);

}  // namespace lockstep
