"""Published dependence measures for comparison, one file each."""
