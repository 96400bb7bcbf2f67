"""answer: the prediction as an object, as text, as a picture."""
