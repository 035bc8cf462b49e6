// All combinations of parameters: lists of values, what is left out, what is added.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "jobs/place.h"
#include "jobs/placeholders.h"

namespace lockstep {

// Of a batch. The fuzzers set it lower, so that no input takes long.
inline std::int64_t most_jobs = 1'000'000;

// Parameters that go together: a row has a value for each name. Most have one name.
struct MatrixAxis {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

struct Matrix {
  // A combination is left out if every parameter named here has one of the values.
  struct Exclusion {
    Place place;
    std::vector<std::pair<std::string, std::vector<std::string>>> values;
  };
  // As in GitHub Actions: its parameters are added to every combination of the axes whose values
  // it does not contradict; if there is none, it is a combination of its own.
  struct Inclusion {
    Place place;
    JobParameters values;
  };

  Place place;
  std::vector<MatrixAxis> axes;
  std::vector<Exclusion> exclude;
  std::vector<Inclusion> include;

  bool empty() const { return axes.empty() && include.empty(); }
  // All names of parameters: of the axes, then of `include`, each once.
  std::vector<std::string> names() const;
};

// In the order of the axes, the last fastest; then what `include` adds. One combination without
// parameters if the matrix is empty. Throws Error: more than `most_jobs`, said before any is made;
// `exclude` leaves nothing; a name twice, or one that `exclude` takes from nowhere.
std::vector<JobParameters> expand_matrix(const Matrix& matrix);

std::size_t count_combinations(const Matrix& matrix);  // without what `include` adds

// The same one by one, without keeping them, of a matrix without `include`.
void each_combination(const Matrix& matrix, const std::function<void(JobParameters)>& visit);

// Throws Error if the name cannot be that of a parameter: letters, digits, _, - and . inside,
// beginning with a letter; not out, slot, gpu or attempt.
void check_parameter_name(const std::string& name);

// Throws Error, with the reason in words, if there would be more than `most_jobs`.
void check_job_count(double count, const std::string& reason);

}  // namespace lockstep
