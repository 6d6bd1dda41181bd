"""The only place that wires floors together: collect → evaluate → report → log."""
