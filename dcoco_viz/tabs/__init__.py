"""The page's tabs, one file each: build() makes what is seen, wire() connects it."""
