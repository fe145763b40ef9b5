// The function that a build of RocksDB with rowbloom in it calls: a library of
// the object registry that it was called for makes what OPTIONS files name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rocksdb/convenience.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/object_registry.h"
#include "tests/support/status_matchers.h"

extern "C" int RegisterRowbloomPlugin(rocksdb::ObjectLibrary& library,
                                      const std::string& arg);

namespace rowbloom {
namespace {

using rocksdb::ObjectRegistry;
using test::IsOk;

constexpr char kPolicy[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:fixed:8";
constexpr char kExtractor[] = "rowbloom.row:fixed:8";
constexpr char kProperties[] = "rowbloom.filter";

class Registrar : public testing::Test {
 protected:
  Registrar() {
    config_.registry = registry_;
    config_.ignore_unsupported_options = false;
  }

  const std::shared_ptr<ObjectRegistry> registry_ =
      ObjectRegistry::NewInstance();
  rocksdb::ConfigOptions config_;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::shared_ptr<const rocksdb::SliceTransform> extractor_;
  std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> properties_;
};

TEST_F(Registrar, MakesWhatOptionsName) {
  EXPECT_EQ(registry_->RegisterPlugin("rowbloom", RegisterRowbloomPlugin), 3);
  ASSERT_THAT(
      rocksdb::FilterPolicy::CreateFromString(config_, kPolicy, &policy_),
      IsOk());
  EXPECT_EQ(policy_->GetId(), kPolicy);
  ASSERT_THAT(rocksdb::SliceTransform::CreateFromString(config_, kExtractor,
                                                        &extractor_),
              IsOk());
  EXPECT_EQ(extractor_->GetId(), kExtractor);
  ASSERT_THAT(rocksdb::TablePropertiesCollectorFactory::CreateFromString(
                  config_, kProperties, &properties_),
              IsOk());
  EXPECT_NE(properties_, nullptr);
}

// Nobody else registers in this program.
TEST_F(Registrar, IsNeeded) {
  EXPECT_FALSE(
      rocksdb::FilterPolicy::CreateFromString(config_, kPolicy, &policy_).ok());
  EXPECT_FALSE(rocksdb::SliceTransform::CreateFromString(config_, kExtractor,
                                                         &extractor_)
                   .ok());
}

}  // namespace
}  // namespace rowbloom
