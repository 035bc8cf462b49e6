// Reads a column of a file as classes.
#pragma once

#include <string>
#include <vector>

#include "recipes/gbdt/bars/bars.h"
#include "recipes/gbdt/bars/cell_table.h"

namespace lockstep::gbdt {

struct LabelColumn {
  const CellTable& table;
  std::size_t column = 0;
  const std::vector<std::size_t>& rows;  // indexes of the rows of `table` to read
  std::vector<bool> missing{};           // [rows]: whether the row has no label
};

// Returns the distinct labels, which are the classes. If all are numbers, they are ordered by
// value, and 1 and 1.0 are the same class, "1". Otherwise, they are in byte order. For two_classes,
// the result is "0" and "1" if no other label occurs, even if only one of them does. Throws Error,
// which names file and line, if two_classes has a third label. Also throws Error if there are too
// many classes for the number of rows.
std::vector<std::string> classes_of(const LabelColumn& column, LabelKind kind);

// Whether the cell is one of the classes.
bool is_class(const std::string& cell, const std::vector<std::string>& classes);

// Returns the index of each row's label in `classes`, or NaN for a missing label. Throws Error,
// which names file and line, for a label that is not in `classes`.
std::vector<double> class_labels(const LabelColumn& column,
                                 const std::vector<std::string>& classes);

}  // namespace lockstep::gbdt
