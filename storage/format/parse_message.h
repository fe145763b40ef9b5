// Messages of Protocol Buffers, from bytes that may be hostile.
#pragma once

#include <string_view>

namespace rowbloom {

// Parses a message. False: the bytes are not a message. ParseFromArray would
// also print missing fields to standard error.
template <typename Message>
bool ParseMessage(std::string_view bytes, Message* message) {
  return message->ParsePartialFromArray(bytes.data(),
                                        static_cast<int>(bytes.size())) &&
         message->IsInitialized();
}

}  // namespace rowbloom
