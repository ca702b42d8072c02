"""The measure `uds`: the estimator of Nguyen, Mandros and Vreeken (2016)."""
