"""One iteration, as five steps. The files sort into the order in which they run."""
