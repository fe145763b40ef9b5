#include "lib/bytes/text.h"

#include <charconv>

namespace rowbloom {

std::string NumberText(double number) {
  char text[32];  // "-2.2250738585072014e-308" has 24
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

}  // namespace rowbloom
