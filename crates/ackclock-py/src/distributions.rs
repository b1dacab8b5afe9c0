//! Distributions for the statistics in Python. SciPy has them too, but it takes longer to load than a comparison takes
//! whose runs are kept. A number that does not exist, such as a quantile at a probability of 2, is NaN.

use ackclock_trace::Column;
use pyo3::prelude::*;
use statrs::distribution::{Beta, ChiSquared, ContinuousCDF, Gamma, StudentsT};

/// The number that Student's variable is below with a probability.
#[pyfunction]
pub fn student_quantile(degrees: f64, probability: f64) -> f64 {
    quantile(StudentsT::new(0.0, 1.0, degrees).ok().as_ref(), probability)
}

/// The probability that Student's variable is below a number.
#[pyfunction]
pub fn student_below(degrees: f64, number: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::NAN, |student| student.cdf(number))
}

/// The probability that a chi-squared variable is above a number.
#[pyfunction]
pub fn chi_squared_above(degrees: f64, number: f64) -> f64 {
    ChiSquared::new(degrees).map_or(f64::NAN, |squares| squares.sf(number))
}

/// The numbers that a gamma variable with scale 1 is below with these probabilities.
#[pyfunction]
pub fn gamma_quantiles(py: Python<'_>, shape: f64, probabilities: Vec<f64>) -> PyResult<Bound<'_, PyAny>> {
    let gamma = Gamma::new(shape, 1.0).ok();
    let quantiles = probabilities.into_iter().map(|probability| quantile(gamma.as_ref(), probability));
    crate::column::as_python(py, Column::Real(quantiles.collect()))
}

/// The number that a beta variable is below with a probability.
#[pyfunction]
pub fn beta_quantile(first: f64, second: f64, probability: f64) -> f64 {
    quantile(Beta::new(first, second).ok().as_ref(), probability)
}

/// The probability that a normal variable is below each of many numbers, the bytes of doubles.
#[pyfunction]
pub fn normal_below<'py>(py: Python<'py>, numbers: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let (numbers, _) = numbers.as_chunks::<8>();
    let below = numbers.iter().map(|bytes| libm::erfc(-f64::from_ne_bytes(*bytes) / 2_f64.sqrt()) / 2.0);
    crate::column::as_python(py, Column::Real(below.collect()))
}

fn quantile(distribution: Option<&impl ContinuousCDF<f64, f64>>, probability: f64) -> f64 {
    match distribution {
        Some(distribution) if (0.0..=1.0).contains(&probability) => distribution.inverse_cdf(probability),
        _ => f64::NAN,
    }
}
