// A run's starts and how far each got: stored in exports beside the numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct StartMark {
  std::int64_t step = 0;  // the step it began after: 0, or the checkpoint's
  double time = 0;        // unix seconds
  // Among valid events: the last finished step, and the last event.
  std::int64_t last_step = 0;
  double last_time = 0;
};

// An export has no more of them, since each start of a run takes seconds.
inline constexpr std::size_t most_start_marks = 100'000;

// Collects them from the events that count, in order.
class StartMarks {
 public:
  void event(const nlohmann::json& event);
  void step(double step, double time);  // of a logged step that has no value on its line
  const std::vector<StartMark>& all() const { return all_; }

 private:
  void saw(std::int64_t step, double time);

  std::vector<StartMark> all_;
};

// "[[step, time, last_step, last_time], …]", as MLflow keeps them in a tag, and back. Parsing skips
// invalid entries, and returns nothing for more than most_start_marks.
std::string text_of_marks(const std::vector<StartMark>& marks);
std::vector<StartMark> marks_of_text(const std::string& text);

}  // namespace lockstep
