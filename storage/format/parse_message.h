// Messages of Protocol Buffers, from bytes that may be hostile.
#pragma once

#include <string_view>

namespace rowbloom {

// Parses a message; false: the bytes are none. ParseFromArray would tell
// standard error, too, which fields are missing.
template <typename Message>
bool ParseMessage(std::string_view bytes, Message* message) {
  return message->ParsePartialFromArray(bytes.data(),
                                        static_cast<int>(bytes.size())) &&
         message->IsInitialized();
}

}  // namespace rowbloom
