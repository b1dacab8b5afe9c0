//! Exceptions that are defined in Python, so that they have the names that users import, and can be pickled.

use pyo3::import_exception;

import_exception!(ackclock.errors, ScenarioError);
import_exception!(ackclock.errors, SimulationError);
