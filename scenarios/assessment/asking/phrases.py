"""How the language of queries writes each class of queries; read without the packages that answer them."""

PHRASES = {
    "Count": "count",
    "Sum": "sum of COLUMN",
    "Mean": "mean of COLUMN",
    "Median": "median of COLUMN",
    "Quantile": "quantile LEVEL of COLUMN",
    "Minimum": "minimum of COLUMN",
    "Maximum": "maximum of COLUMN",
    "Variance": "variance of COLUMN",
    "Covariance": "covariance of COLUMN and COLUMN",
    "Correlation": "correlation of COLUMN and COLUMN",
    "Mode": "mode of COLUMN",
    "Histogram": "histogram of COLUMN",
    "ContingencyTable": "table of COLUMN and COLUMN [and COLUMN ...]",
}
"""How the language writes each class of queries; ``of`` may be left out."""
