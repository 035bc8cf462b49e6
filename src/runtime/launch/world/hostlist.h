// Reads Slurm's compact lists: hosts ("node[003-007,9],x1") and tasks per node ("2(x3),1").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// Returns the hosts in order. Throws Error if the list is malformed or has more than 65,536 hosts,
// or if the name of a host is too long or empty.
std::vector<std::string> expand_hostlist(std::string_view list);

// Returns {2, 2, 2, 1} for "2(x3),1". Throws Error if the list is malformed or has more than 65,536
// elements.
std::vector<int> expand_tasks_per_node(std::string_view list);

}  // namespace lockstep
