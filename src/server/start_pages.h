#pragma once

namespace stator::server {

// Gives back the pages of the program's code and of all constants.  A start reads many that nothing reads afterwards.
// The others are in the system's cache of the file, and come back with the next access.  Pages that were written stay.
void release_start_pages();

}  // namespace stator::server
