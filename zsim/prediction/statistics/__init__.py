"""statistics: from a few runs to quantiles and their error."""
