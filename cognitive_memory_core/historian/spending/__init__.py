"""What model calls cost, and the bound on a day's calls."""
