"""Imports that every worker process needs, loaded once before workers are forked."""

import scipy.optimize
import scipy.spatial.distance
import scipy.special
import scipy.stats  # noqa: F401
import sklearn.linear_model  # noqa: F401

import scenarios.running.workers.worker  # noqa: F401
