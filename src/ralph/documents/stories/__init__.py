"""A PRD: stories with boxes, which people and agents edit and Ralph ticks."""
