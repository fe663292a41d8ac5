"""The durable queue of jobs: one JSON file per job, in three folders."""
