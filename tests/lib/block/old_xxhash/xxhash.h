// Stands in for the header of xxHash 0.7.4.
#pragma once

#define XXH_VERSION_NUMBER 704
