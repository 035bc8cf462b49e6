// events.jsonl, the log of a run's events. Rank 0 appends to it, from the training thread and from
// the thread that saves checkpoints (Recorder). All other code only reads the log.
#pragma once

#include "core/base/files/fd.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace lockstep {

// Appends one object per line with a single write. So if the process is killed, only the last line
// may be incomplete. Readers ignore an incomplete line, and the next writer removes it. If
// LOCKSTEP_EVENTS_FD is set, each line is also written to that descriptor, for the launcher's
// progress display. If the disk is full, the event is lost and failed() counts it; nothing is
// thrown.
class EventWriter {
 public:
  // creates the file if it is missing; throws Error if it cannot be opened
  explicit EventWriter(const std::filesystem::path& path);
  EventWriter();  // writes only to LOCKSTEP_EVENTS_FD, for events without a run
  // Appends an event. Adds the member "time" (unix seconds) if it is missing. Not thread-safe: the
  // caller must lock, as Recorder does.
  void write(const nlohmann::json& event);
  int failed() const { return failed_; }
  // Makes the events that were written so far durable. A failure is ignored. Any thread may call
  // it.
  void sync();

 private:
  UniqueFd file_;
  int echo_fd_ = -1;
  int failed_ = 0;
};

// Reads all events in file order. Lines that are not JSON objects are skipped and counted.
std::vector<nlohmann::json> read_events(const std::filesystem::path& path,
                                        int* bad_lines = nullptr);

// Removes the events of steps that a resume repeats. These are events of steps > S that stand
// before a {"kind":"resume","step":S}. S is the number of finished optimizer steps, so the next
// step is S + 1.
std::vector<nlohmann::json> effective_events(std::vector<nlohmann::json> events);

}  // namespace lockstep
