// Printable text for rows, qualifiers and values, which are any bytes.
#pragma once

#include <string>
#include <string_view>

namespace rowbloom {

// The bytes as HBase's shell shows them: printable ASCII as it is, everything
// else, and the backslash, as \xHH with upper case digits. Reversible, free of
// line breaks. Thread-safe; may throw std::bad_alloc.
std::string ToPrintable(std::string_view bytes);

// Inverse of ToPrintable, for what people type: \xHH, with digits of any case,
// is the byte; all other text stands for itself, a lone backslash too.
// Thread-safe; may throw std::bad_alloc.
std::string FromPrintable(std::string_view text);

}  // namespace rowbloom
