// Classifies the series of a log by name, and finds the one that counts the training's steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

bool is_of_validation(const std::string& name);
bool is_loss(const std::string& name);  // the scale of a loss is none
// The validation loss itself, not a part of it such as val/aux_loss.
bool is_validation_loss(const std::string& name);

// Properties that decide whether a series counts the training's steps.
struct SeriesShape {
  std::string name;
  std::size_t points = 0;
  std::size_t backs = 0;       // points whose place does not exceed the previous one
  double first = 0, last = 0;  // its rows, or its times
};

// Returns the index of the series that counts the training's steps, normally the one with the most
// points. Ignores validation series (which may count their own batches), counters (which Lightning
// logs with either), and series with at most a twentieth of the longest one's points. Other series
// may be logged for validation too, by epochs instead of steps, as MMEngine's data_time is. So
// among those with at least half as many points and about the same duration, it takes the one that
// goes back least. If no series is left, it takes the one with the most points of all. Nothing for
// an empty list.
std::optional<std::size_t> main_series(const std::vector<SeriesShape>& all);

}  // namespace lockstep
