// Keys of many tenants in one database: TENANT OBJECT FIELD, where tenant and
// object have eight bytes each. The row may be the object, or the tenant; the
// program tells what each choice costs and gives.
#include <iostream>
#include <string>

#include "tests/examples/layout_comparison.h"

using rocksdb::Status;
using rowbloom::KeyLayout;

namespace {

constexpr int kTenants = 200;
constexpr int kObjects = 100;  // of a tenant; they have even numbers
constexpr int kFiles = 8;

std::string Id(char kind, int number) {
  return kind + std::to_string(1'000'000 + number);
}

std::string Tenant(int tenant) { return Id('t', tenant); }

std::string Object(int tenant, int object) {
  return Tenant(tenant) + Id('o', object);
}

// A tenant writes now and then: its objects are in two of the files.
Files Write() {
  Files files(kFiles);
  for (int tenant = 0; tenant < kTenants; ++tenant) {
    const int first = tenant % kFiles;
    const int second = (first + 1 + tenant / kFiles % (kFiles - 1)) % kFiles;
    for (int object = 0; object < kObjects; ++object) {
      for (const char* field : {"mail", "name", "phone", "since"}) {
        files[object % 2 == 0 ? first : second].push_back(
            Object(tenant, 2 * object) + field);
      }
    }
  }
  return files;
}

Status Run() {
  Reads absent_object = {"get, absent object", {}};
  Reads absent_field = {"get, absent field", {}};
  Reads present = {"get, present field", {}};
  Reads object_scan = {"scan of an object", {}, true};
  Reads tenant_scan = {"scan of a tenant", {}, true};
  // The first and last tenants mark the ends of the files.
  for (int tenant = kFiles; tenant < kTenants - kFiles; ++tenant) {
    for (int object = 0; object < kObjects; ++object) {
      const std::string row = Object(tenant, 2 * object);
      absent_object.keys.push_back(Object(tenant, 2 * object + 1) + "mail");
      absent_field.keys.push_back(row + "notes");
      present.keys.push_back(row + "mail");
      object_scan.keys.push_back(row);
    }
    tenant_scan.keys.push_back(Tenant(tenant));
  }
  using Filter = Contender::Filter;
  return CompareLayouts(
      "tenants", Write(),
      {{"no filter"},
       {"stock Bloom, object",
        Filter::kStockBloom,
        {.key_layout = KeyLayout::FixedRow(16)}},
       {"rowbloom, row is the object",
        Filter::kRowbloom,
        {.key_layout = KeyLayout::FixedRow(16)}},
       {"stock Bloom, tenant",
        Filter::kStockBloom,
        {.key_layout = KeyLayout::FixedRow(8)}},
       {"rowbloom, row is the tenant",
        Filter::kRowbloom,
        {.key_layout = KeyLayout::FixedRow(8)}}},
      {absent_object, absent_field, present, object_scan, tenant_scan});
}

}  // namespace

int main() {
  const Status s = Run();
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
