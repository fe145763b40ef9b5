#include "storage/store/opened_store.h"

#include "rowbloom/printable.h"
#include "storage/format/status_text.h"

namespace rowbloom {

using rocksdb::Status;

Status OpenedStore::EncodeRow(std::string_view row,
                              std::string* row_bytes) const {
  if (Status s = CheckRow(row); !s.ok()) return s;
  row_bytes->clear();
  if (const auto error = key_layout().AppendRow(row, row_bytes)) {
    return Status::InvalidArgument(error->message);
  }
  return Status::OK();
}

Status OpenedStore::FindFamily(const FamilyMap& among, std::string_view name,
                               FamilyMap::const_iterator* family) const {
  *family = among.find(name);
  if (*family != among.end()) return Status::OK();
  if (unfinished.contains(name)) {
    return TryAgain(QuotedFamily(name), " of the store at ", path,
                    " has a record and no column family");
  }
  std::string names;
  for (const auto& [known, of_store] : among) {
    names += (names.empty() ? "" : ", ") + ToPrintable(known);
  }
  return InvalidArgument(QuotedFamily(name), " is not in the store at ", path,
                         "; it has: ", names.empty() ? "none" : names);
}

Status OpenedStore::CheckWritable() const {
  if (options.read_only) {
    return NotSupported(path, " is open for reading only");
  }
  if (IsForked()) {
    return NotSupported(path, " was opened before this process was forked: a ",
                        "child can open a store for reading");
  }
  return listener->error();
}

Status OpenedStore::FindRow(std::string_view key,
                            std::string_view* row_bytes) const {
  const size_t size = key_layout().RowBytes(key);
  if (size == KeyLayout::kNoRow) {
    return Corruption(path, ": key \"", ToPrintable(key),
                      "\" has no row of the layout ", key_layout().ToString());
  }
  *row_bytes = key.substr(0, size);
  return Status::OK();
}

Status OpenedStore::DecodeRow(std::string_view row_bytes,
                              std::string* row) const {
  if (!key_layout().DecodeRow(row_bytes, row)) {
    return Corruption(path, ": the row of key \"", ToPrintable(row_bytes),
                      "\" cannot be decoded");
  }
  return Status::OK();
}

Status CheckRow(std::string_view row) {
  if (!row.empty() && row.size() <= kMaxRowBytes) return Status::OK();
  return InvalidArgument("a row of ", row.size(), " bytes: expected 1 to ",
                         kMaxRowBytes);
}

Status CheckSize(const char* what, std::string_view bytes, size_t max_bytes) {
  if (bytes.size() <= max_bytes) return Status::OK();
  return InvalidArgument(what, " of ", bytes.size(),
                         " bytes: expected at most ", max_bytes);
}

}  // namespace rowbloom
