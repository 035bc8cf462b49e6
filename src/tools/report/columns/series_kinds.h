// Classifies the series of a log by name, and finds the one that counts the training's steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

bool is_of_validation(const std::string& name);
bool is_loss(const std::string& name);  // whether it is a loss; false for the scale of a loss
// Whether it is the validation loss itself. Returns false for a part of that loss, such as
// val/aux_loss.
bool is_validation_loss(const std::string& name);

// Properties that decide whether a series counts the training's steps.
struct SeriesShape {
  std::string name;
  std::size_t points = 0;
  // number of points whose step or epoch is not above that of the point before
  std::size_t backs = 0;
  double first = 0, last = 0;  // first and last row, or first and last time
};

// Returns the index of the series that counts the training's steps. Normally that is the longest
// series, which has the most points. Validation series are ignored, because they may count their
// own batches. Series that are counters, such as epoch, are ignored, because Lightning logs them
// for training and for validation. Series with fewer than a twentieth of the points of the longest
// series are ignored too.
//
// Some training series may be logged for validation too, by epochs instead of steps. MMEngine's
// data_time is an example. So series with at least half as many points and about the same duration
// are compared too. The series that goes back least often is returned. If all series are ignored,
// the longest of all series is returned. Returns nothing for an empty list.
std::optional<std::size_t> main_series(const std::vector<SeriesShape>& all);

}  // namespace lockstep
