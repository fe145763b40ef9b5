// Numbers in messages.
#pragma once

#include <string>

namespace rowbloom {

// The shortest text that reads back as the same number: "0.01", "1e-15".
std::string NumberText(double number);

}  // namespace rowbloom
