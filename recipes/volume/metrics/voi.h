// Variation of information between the components of two masks.
#pragma once

#include "recipes/volume/metrics/mask.h"

namespace lockstep::volume {

// In bits.
struct VariationOfInformation {
  double split = 0;  // H(prediction | truth): components of the truth that the prediction cuts
  double merge = 0;  // H(truth | prediction): components of the truth that it joins
};

// The variation between the labellings by 26-connected components, over the voxels that are
// foreground in truth or prediction. There the background of one mask is one more label of it.
// Voxels that are background in both count nowhere, so empty space does not dilute. Both 0 if
// both masks are empty. Throws Error if the shapes differ.
//
// Meila, "Comparing clusterings - an information based distance" (2007).
VariationOfInformation variation_of_information(const Mask& truth, const Mask& predicted);

// 1 / (1 + alpha * (split + merge)). Against an empty mask it is 1 for one component and less for
// more, as in the competition: the other scores judge a mask that alone is empty.
double voi_score(const VariationOfInformation& voi, double alpha = 0.3);

}  // namespace lockstep::volume
