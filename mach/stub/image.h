/* Images that somebody else has mapped: shared objects that nothing relocates, as the page of the device `entry` is. */
#pragma once

/* The address of a dynamic symbol; null when the image has none of that name. */
void *image_find(const void *image, const char *symbol);
