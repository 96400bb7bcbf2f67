"""Tables, plots and single-file HTML pages made from predictions and other results."""
