"""The planner's inverse questions: which layouts meet these wishes, how wide, how full, worth how much."""
