#include "storage/store/writer.h"

#include <algorithm>
#include <string>

#include "rowbloom/cell.h"
#include "storage/store/cell_value.h"
#include "storage/store/metadata.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;

// The end, exclusive, of the keys that start with `row_bytes`.
std::string RowEnd(std::string_view row_bytes) {
  std::string end = PrefixEnd(row_bytes);
  if (!end.empty()) return end;
  // Only the last row of a layout of fixed width is all ff: its keys are the
  // last ones, and a qualifier has a longest length.
  end = row_bytes;
  end.append(kMaxQualifierBytes + 1, '\xff');
  return end;
}

Status CheckTimestamp(uint64_t timestamp_ms) {
  if (timestamp_ms <= kMaxTimestampMs) return Status::OK();
  return Status::InvalidArgument("timestamp " + std::to_string(timestamp_ms) +
                                 ": expected at most " +
                                 std::to_string(kMaxTimestampMs));
}

// A timestamp that was given for a family that takes none.
Status TimestampRefused(const std::string& family, const std::string& why) {
  return Status::InvalidArgument("family \"" + family + "\" " + why);
}

}  // namespace

Status CheckPut(FamilyMap::const_iterator family, std::string_view qualifier,
                std::string_view value, std::optional<uint64_t> timestamp_ms) {
  Status s = CheckQualifier(qualifier);
  if (s.ok()) s = CheckSize("a value", value, kMaxValueBytes);
  if (!s.ok() || !timestamp_ms) return s;
  if (family->second.options.timestamps == Timestamps::kStore) {
    return TimestampRefused(family->first,
                            "has timestamps=store: a put takes no timestamp");
  }
  return CheckTimestamp(*timestamp_ms);
}

Status Writer::Add(const ChangeView& change, Draft* draft) {
  if (draft->row_bytes.empty() || change.row != draft->row) {
    Status s = opened_.EncodeRow(change.row, &draft->row_bytes);
    if (!s.ok()) return s;
    draft->row = change.row;
    draft->stripe = &locks_.StripeOf(change.row);
  }
  const std::optional<uint64_t> given_ms =
      change.timestamp_ms ? change.timestamp_ms : draft->default_timestamp_ms;
  Status s;
  if (change.type == ChangeType::kPut) {
    s = AddPut(change, given_ms, draft);
  } else if (change.type == ChangeType::kDeleteRow) {
    for (auto family = draft->families->begin();
         s.ok() && family != draft->families->end(); ++family) {
      s = AddDelete(change, family, given_ms, draft);
    }
  } else {
    FamilyMap::const_iterator family;
    s = opened_.FindFamily(*draft->families, change.family, &family);
    if (s.ok()) s = AddDelete(change, family, given_ms, draft);
  }
  if (s.ok() && draft->batch.GetDataSize() > kMaxBatchBytes) {
    return Status::InvalidArgument("a batch of more than " +
                                   std::to_string(kMaxBatchBytes) +
                                   " bytes: write fewer changes at once");
  }
  return s;
}

Status Writer::AddPut(const ChangeView& change,
                      std::optional<uint64_t> given_ms, Draft* draft) {
  FamilyMap::const_iterator found;
  Status s = opened_.FindFamily(*draft->families, change.family, &found);
  if (s.ok()) s = CheckPut(found, change.qualifier, change.value, given_ms);
  if (!s.ok()) return s;
  const Family& family = found->second;
  const uint64_t timestamp_ms =
      given_ms ? *given_ms : std::max(PutTime(draft), change.not_before_ms);
  const Slice key_parts[] = {draft->row_bytes, Slice(change.qualifier)};
  const SliceParts key(key_parts, 2);
  if (family.format == CellFormat::kLatest) {
    const auto head = EncodeCellHead(timestamp_ms);
    const Slice value_parts[] = {Slice(head.data(), head.size()),
                                 Slice(change.value)};
    return draft->batch.Put(family.handle(), key, SliceParts(value_parts, 2));
  }
  const std::string head = EncodePutHead(timestamp_ms, change.value.size());
  const Slice value_parts[] = {head, Slice(change.value)};
  return draft->batch.Merge(family.handle(), key, SliceParts(value_parts, 2));
}

Status Writer::AddDelete(const ChangeView& change,
                         FamilyMap::const_iterator found,
                         std::optional<uint64_t> given_ms, Draft* draft) {
  const auto& [name, family] = *found;
  const bool whole_family = change.type == ChangeType::kDeleteFamily ||
                            change.type == ChangeType::kDeleteRow;
  Status s = CheckQualifier(change.qualifier);
  if (s.ok() && given_ms) s = CheckTimestamp(*given_ms);
  if (!s.ok()) return s;
  if (change.type == ChangeType::kDeleteVersion && !given_ms) {
    return Status::InvalidArgument(
        "a delete of a version needs the version's timestamp");
  }
  const Slice key_parts[] = {draft->row_bytes, Slice(change.qualifier)};
  if (family.format == CellFormat::kLatest) {
    if (given_ms) {
      return TimestampRefused(name,
                              "keeps the latest version only, by the store's "
                              "timestamps: a delete takes no timestamp");
    }
    if (whole_family) {
      return draft->batch.DeleteRange(family.handle(), draft->row_bytes,
                                      RowEnd(draft->row_bytes));
    }
    return draft->batch.Delete(family.handle(), SliceParts(key_parts, 2));
  }
  EntryType type = EntryType::kDeleteColumn;
  if (change.type == ChangeType::kDeleteVersion) {
    type = EntryType::kDeleteVersion;
  } else if (whole_family) {
    type = EntryType::kDeleteFamily;
  }
  const std::string marker =
      EncodeEntry({type, given_ms ? *given_ms : DeleteTime(draft), {}});
  const Slice value_parts[] = {marker};
  return draft->batch.Merge(family.handle(),
                            SliceParts(key_parts, whole_family ? 1 : 2),
                            SliceParts(value_parts, 1));
}

uint64_t Writer::PutTime(Draft* draft) const {
  RowLocks::Stripe& stripe = *draft->stripe;
  uint64_t timestamp_ms = std::max(draft->now_ms, stripe.last_put_ms);
  if (stripe.has_delete && timestamp_ms <= stripe.last_delete_ms) {
    timestamp_ms = std::min(stripe.last_delete_ms + 1, kMaxTimestampMs);
  }
  stripe.last_put_ms = timestamp_ms;
  if (timestamp_ms > draft->now_ms) opened_.shared->clock.Note(timestamp_ms);
  draft->last_ms = std::max(draft->last_ms, timestamp_ms);
  return timestamp_ms;
}

uint64_t Writer::DeleteTime(Draft* draft) const {
  RowLocks::Stripe& stripe = *draft->stripe;
  const uint64_t timestamp_ms = std::max(draft->now_ms, stripe.last_put_ms);
  stripe.last_delete_ms = std::max(stripe.last_delete_ms, timestamp_ms);
  stripe.has_delete = true;
  if (timestamp_ms > draft->now_ms) opened_.shared->clock.Note(timestamp_ms);
  // A store that is opened after this one puts later than it deleted.
  draft->last_ms =
      std::max(draft->last_ms, std::min(timestamp_ms + 1, kMaxTimestampMs));
  return timestamp_ms;
}

Status Writer::Commit(Durability durability, Draft* draft) {
  // kSkipWal as well: what is flushed survives.
  Status s = CoverTimestamp(draft->last_ms);
  if (!s.ok()) return s;
  rocksdb::WriteOptions options;
  options.sync = durability == Durability::kSync;
  options.disableWAL = durability == Durability::kSkipWal;
  return opened_.database->Write(options, &draft->batch);
}

Status Writer::CoverTimestamp(uint64_t timestamp_ms) {
  LeasedClock& clock = opened_.shared->clock;
  if (!clock.BoundToKeep(timestamp_ms)) return Status::OK();
  const std::lock_guard lock(bound_mutex_);
  const auto bound_ms = clock.BoundToKeep(timestamp_ms);
  if (!bound_ms) return Status::OK();  // another writer did
  rocksdb::WriteBatch batch;
  Status s = PutClockRecord(*bound_ms, &batch);
  if (s.ok()) s = opened_.database->Write(rocksdb::WriteOptions(), &batch);
  if (s.ok()) clock.Kept(*bound_ms);
  return s;
}

}  // namespace rowbloom
