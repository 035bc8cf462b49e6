// Records a run's starts (the first one and each resume), and how far each of them got. Exports
// store these marks with the numbers.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct StartMark {
  std::int64_t step = 0;  // the step after which it began: 0, or the step of a checkpoint
  double time = 0;        // time of the start, unix seconds
  // The last finished step and the time of the last event, over the events that no later resume
  // discarded.
  std::int64_t last_step = 0;
  double last_time = 0;
};

// No export has more starts than this, because each start of a run takes seconds.
inline constexpr std::size_t most_start_marks = 100'000;

// Collects the marks from the events that no later resume discarded, in order.
class StartMarks {
 public:
  void event(const nlohmann::json& event);
  // does the same for a logged step whose line was read without building a JSON value
  void step(double step, double time);
  const std::vector<StartMark>& all() const { return all_; }

 private:
  void saw(std::int64_t step, double time);

  std::vector<StartMark> all_;
};

// text_of_marks() returns "[[step, time, last_step, last_time], …]", which MLflow keeps in a tag.
// marks_of_text() reads this text. It returns nothing if an entry is invalid, or if there are more
// than most_start_marks.
std::string text_of_marks(const std::vector<StartMark>& marks);
std::vector<StartMark> marks_of_text(const std::string& text);

}  // namespace lockstep
