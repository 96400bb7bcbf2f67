"""`zsim plan`: which layouts meet requirements, how wide, how full, and what a step is worth."""
